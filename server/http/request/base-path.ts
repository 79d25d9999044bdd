import type { RequestHandler, Response } from 'express';

/** For a server that lives below a path: the addresses it sends callers to name paths of its own, and the path comes before them. */
export const locationsBelow =
  (base: string): RequestHandler =>
  (_req, res, next) => {
    rewriteLocation(res, (address) => below(base, address));
    return next();
  };

/** The same for a version of the API that shares its handlers with another: what they name is in the version of the request. */
export const locationsIn = (res: Response, version: string): void =>
  rewriteLocation(res, (address) => address.replace(/^\/api\/v\d+\//, `/api/${version}/`));

function rewriteLocation(res: Response, rewritten: (address: string) => string): void {
  const setHeader = res.setHeader.bind(res);
  const rewriting: typeof setHeader = (name, value) =>
    setHeader(name, name.toLowerCase() === 'location' && typeof value === 'string' ? rewritten(value) : value);
  // written apart: a function that is written where it is assigned to a property lives until the next full collection (`takeTogether`)
  res.setHeader = rewriting;
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
