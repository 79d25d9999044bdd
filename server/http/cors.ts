import type { RequestHandler } from 'express';

const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const allowedHeaders = 'Authorization, DPoP, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, Prefer';
const exposedHeaders =
  'X-Request-Id, ETag, Location, Link, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, Idempotent-Replayed, Mandate-Version, WWW-Authenticate';

/**
 * Any page may call the API: what it may do is decided by the token it sends, never by where it comes from. No cookies are
 * accepted here, so none are allowed. Failures carry the headers too, or a page could not read why it was refused.
 */
export const cors: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*').setHeader('Access-Control-Expose-Headers', exposedHeaders);
  if (req.method === 'OPTIONS' && req.get('access-control-request-method') !== undefined) {
    res.set({
      'Access-Control-Allow-Methods': allowedMethods,
      'Access-Control-Allow-Headers': allowedHeaders,
      'Access-Control-Max-Age': '7200',
    });
    return void res.status(204).end();
  }
  return next();
};
