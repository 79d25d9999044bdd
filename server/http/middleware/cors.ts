import type { RequestHandler } from 'express';

const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const allowedHeaders = 'Authorization, DPoP, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, Prefer';
const exposedHeaders =
  'X-Request-Id, ETag, Location, Link, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, Idempotent-Replayed, Mandate-Dry-Run, Mandate-Version, WWW-Authenticate';

/** Headers of the Model Context Protocol (streamable HTTP); its clients send them to the metadata documents as well. */
const mcpRequestHeaders = 'MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID';
const mcpResponseHeaders = 'MCP-Protocol-Version, Mcp-Session-Id';

/**
 * Any page may call the API: what it may do is decided by the token it sends, never by where it comes from. No cookies are
 * accepted here, so none are allowed. Failures carry the headers too, or a page could not read why it was refused.
 */
const corsWith =
  (allowed: string, exposed: string): RequestHandler =>
  (req, res, next) => {
    res.setHeader('Access-Control-Allow-Origin', '*').setHeader('Access-Control-Expose-Headers', exposed);
    if (req.method === 'OPTIONS' && req.get('access-control-request-method') !== undefined) {
      res.set({
        'Access-Control-Allow-Methods': allowedMethods,
        'Access-Control-Allow-Headers': allowed,
        'Access-Control-Max-Age': '7200',
      });
      return void res.status(204).end();
    }
    return next();
  };

export const cors = corsWith(allowedHeaders, exposedHeaders);

/** For the MCP endpoint, and for what its clients request before they have a token. */
export const mcpCors = corsWith(`${allowedHeaders}, ${mcpRequestHeaders}`, `${exposedHeaders}, ${mcpResponseHeaders}`);
