import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';
import { sha256 } from '../../crypto/sha256.ts';
import { matchesIfNoneMatch } from './etag-and-conditional-requests.ts';

const compress = promisify(gzip);

/**
 * Serves content that does not change while the process runs. The content is compressed for clients that accept gzip, and each encoding has
 * its own ETag. Even uncompressed responses have a `Vary` header, so that caches send each client a response in an encoding that the client
 * accepts.
 * @param read called for the first request, and called again if the previous call failed
 */
export function serveStaticDocument(type: string, read: () => Buffer | Promise<Buffer>, cacheControl: string): RequestHandler {
  let prepared: ReturnType<typeof prepare> | undefined;
  return async (req, res) => {
    prepared ??= prepare(read).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    const { plain: uncompressed, compressed, hash } = await prepared;
    const gzipped = req.acceptsEncodings('gzip', 'identity') === 'gzip';
    const etag = gzipped ? `"${hash}-gzip"` : `"${hash}"`;
    res.set({ 'Cache-Control': cacheControl, 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding', ETag: etag });
    if (matchesIfNoneMatch(req.get('if-none-match'), etag)) return void res.status(304).end();
    if (gzipped) res.set('Content-Encoding', 'gzip');
    return void res.type(type).send(gzipped ? compressed : uncompressed);
  };
}

async function prepare(read: () => Buffer | Promise<Buffer>) {
  const uncompressed = await read();
  return {
    plain: uncompressed,
    compressed: await compress(uncompressed),
    hash: sha256(uncompressed, 'base64url').slice(0, 22),
  };
}
