import type { RequestHandler } from 'express';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { LogoContent } from './logo-columns.ts';

/** Reads the logo with this hash, or returns undefined if no logo has this hash. */
type ReadLogo = (em: EntityManager, hash: string) => Promise<LogoContent | undefined>;

/**
 * Serves logos. The `readers` are called in turn until one of them finds the logo. Caches can store a logo indefinitely, because its path
 * contains a hash of the image. `sandbox` and `nosniff` keep browsers from treating an uploaded file as a page or a script.
 */
export const serveLogo =
  (em: EntityManager, ...readers: readonly ReadLogo[]): RequestHandler<Record<string, string>> =>
  async ({ params }, res, next) => {
    const logo = await findLogo(em, readers, params[0] ?? '');
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

async function findLogo(em: EntityManager, readers: readonly ReadLogo[], hash: string): Promise<LogoContent | undefined> {
  for (const read of readers) {
    const logo = await read(em, hash);
    if (logo) return logo;
  }
  return undefined;
}
