import type { RequestHandler } from 'express';

const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const allowedHeaders = 'Authorization, DPoP, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, Prefer';
const exposedHeaders =
  'X-Request-Id, ETag, Location, Link, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, Idempotent-Replayed, Mandate-Dry-Run, Mandate-Version, WWW-Authenticate, DPoP-Nonce';

/**
 * Headers of the Model Context Protocol (streamable HTTP). MCP clients also send these headers when they request the metadata documents.
 */
const mcpRequestHeaders = 'MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID';
const mcpResponseHeaders = 'MCP-Protocol-Version, Mcp-Session-Id';

/**
 * Any website can call the API, because access depends on the token and never on the origin. The API uses no cookies, so credentials are
 * not allowed. Error responses also have CORS headers; otherwise scripts could not read the errors.
 */
const createCorsHandler =
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

export const cors = createCorsHandler(allowedHeaders, exposedHeaders);

/** CORS handler for the MCP endpoint and the documents that MCP clients request before they have a token. */
export const mcpCors = createCorsHandler(`${allowedHeaders}, ${mcpRequestHeaders}`, `${exposedHeaders}, ${mcpResponseHeaders}`);
