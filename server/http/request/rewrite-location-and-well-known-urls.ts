import type { RequestHandler, Response } from 'express';

/** Prefixes `Location` headers with the server's base path, if the server is not at the root of its host. */
export const prefixLocationHeaderWithBasePath =
  (base: string): RequestHandler =>
  (_req, res, next) => {
    rewriteLocation(res, (location) => withBasePath(base, location));
    return next();
  };

/** Rewrites `Location` headers to the requested API version, for handlers that two versions share. */
export const rewriteLocationToApiVersion = (res: Response, version: string): void =>
  rewriteLocation(res, (location) => location.replace(/^\/api\/v\d+\//, `/api/${version}/`));

function rewriteLocation(res: Response, rewrite: (location: string) => string): void {
  const setHeader = res.setHeader.bind(res);
  const setRewrittenHeader: typeof setHeader = (name, value) =>
    setHeader(name, name.toLowerCase() === 'location' && typeof value === 'string' ? rewrite(value) : value);
  // A function literal assigned to a property would stay in memory until the next major GC (see `createPipelinedStatementSender`).
  res.setHeader = setRewrittenHeader;
}

const withBasePath = (base: string, location: string): string =>
  location.startsWith('/') && !location.startsWith('//') && !location.startsWith(`${base}/`) ? base + location : location;

const wellKnownDocuments = new Set(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']);

/**
 * Lets the server serve its metadata at both well-known URLs. RFC 8414 section 3.1 inserts the well-known part before the issuer's path,
 * whereas OpenID Connect appends the well-known part to the issuer.
 */
export const rewriteWellKnownPathOfIssuer =
  (base: string): RequestHandler =>
  (req, _res, next) => {
    if (!req.url.endsWith(base)) return next();
    const document = req.url.slice(0, -base.length);
    if (wellKnownDocuments.has(document)) {
      req.url = base + document;
      req.originalUrl = req.url;
    }
    return next();
  };
