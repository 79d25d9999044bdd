import type { RequestHandler } from 'express';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { readLogoContent } from './read-and-write-branding.ts';

/**
 * Serves the logo. Caches can store the logo indefinitely, because its path contains a hash of the image. `sandbox` and `nosniff` keep
 * browsers from treating an uploaded file as a page or a script.
 */
export const serveLogo =
  (em: EntityManager): RequestHandler<Record<string, string>> =>
  async ({ params }, res, next) => {
    const logo = await readLogoContent(em, params[0] ?? '');
    if (!logo) return next();
    res.set({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': `default-src 'none'; sandbox`,
      // e-mail programs and other sites may show the logo
      'Cross-Origin-Resource-Policy': 'cross-origin',
    });
    res.type(logo.mediaType).send(logo.content);
  };
