import type { RequestHandler, Response } from 'express';

/** For a server that lives below a path: the addresses it sends callers to name paths of its own, and the path comes before them. */
export const locationsBelow =
  (base: string): RequestHandler =>
  (_req, res, next) => {
    const setHeader = res.setHeader.bind(res);
    res.setHeader = (name, value) =>
      setHeader(name, name.toLowerCase() === 'location' && typeof value === 'string' ? below(base, value) : value);
    return next();
  };

/** The same for a version of the API that shares its handlers with another: what they name is in the version of the request. */
export function locationsIn(res: Response, version: string): void {
  const setHeader = res.setHeader.bind(res);
  res.setHeader = (name, value) =>
    setHeader(
      name,
      name.toLowerCase() === 'location' && typeof value === 'string' ? value.replace(/^\/api\/v\d+\//, `/api/${version}/`) : value,
    );
}

const below = (base: string, address: string): string =>
  address.startsWith('/') && !address.startsWith('//') && !address.startsWith(`${base}/`) ? base + address : address;

const documents = new Set(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']);

/** RFC 8414 section 3.1 puts the well-known part before the path of the issuer, OpenID Connect behind it: both are answered. */
export const wellKnownBefore =
  (base: string): RequestHandler =>
  (req, _res, next) => {
    if (!req.url.endsWith(base)) return next();
    const document = req.url.slice(0, -base.length);
    if (documents.has(document)) {
      req.url = base + document;
      req.originalUrl = req.url;
    }
    return next();
  };
