import type { RequestHandler } from 'express';
import { apiVersions, currentApiVersion } from '@mandate/contract';
import { locationsIn } from '../request/base-path.ts';

const known = new Set<string>(apiVersions.map(({ name }) => name));

/**
 * `/api/orders` is `/api/v1/orders` for as long as v1 is the current version; every answer of a version says which one it is of.
 * Mounted at `/api`, which alone is the list of versions.
 */
export const currentVersion: RequestHandler = (req, res, next) => {
  if (req.originalUrl.split('?', 1)[0] === req.baseUrl) return next();
  const [, named] = /^\/(v\d+)(?=[/?]|$)/.exec(req.url) ?? [];
  if (named === undefined) req.url = `/${currentApiVersion}${req.url}`;
  const version = named ?? currentApiVersion;
  if (known.has(version)) res.setHeader('Mandate-Version', version);
  if (version !== currentApiVersion) locationsIn(res, version);
  return next();
};
