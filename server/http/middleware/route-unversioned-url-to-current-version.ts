import type { RequestHandler } from 'express';
import { apiVersions, currentApiVersion } from '@mandate/contract';
import { rewriteLocationToApiVersion } from '../request/rewrite-location-and-well-known-urls.ts';

const knownVersions = new Set<string>(apiVersions.map(({ name }) => name));

/**
 * Routes `/api/orders` to the current version (`/api/v1/orders`) and adds the `Mandate-Version` header. The middleware is mounted at
 * `/api`; the path `/api` itself returns the list of versions.
 */
export const routeUnversionedUrlToCurrentVersion: RequestHandler = (req, res, next) => {
  if (req.originalUrl.split('?', 1)[0] === req.baseUrl) return next();
  const [, requestedVersion] = /^\/(v\d+)(?=[/?]|$)/.exec(req.url) ?? [];
  if (requestedVersion === undefined) req.url = `/${currentApiVersion}${req.url}`;
  const version = requestedVersion ?? currentApiVersion;
  if (knownVersions.has(version)) res.setHeader('Mandate-Version', version);
  if (version !== currentApiVersion) rewriteLocationToApiVersion(res, version);
  return next();
};
