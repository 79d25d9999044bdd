import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';
import { sha256 } from '../../crypto/sha256.ts';
import { matchesIfNoneMatch } from './etag.ts';

const compress = promisify(gzip);

/**
 * Serves content that does not change while the process runs: compressed for clients that accept gzip, with one ETag per encoding.
 * Uncompressed responses have a `Vary` header, too, because caches must not send them to every client.
 * @param read called for the first request
 */
export function serveStaticDocument(type: string, read: () => Buffer, cacheControl: string): RequestHandler {
  let prepared: ReturnType<typeof prepare> | undefined;
  return async (req, res) => {
    const { plain: uncompressed, compressed, hash } = await (prepared ??= prepare(read()));
    const gzipped = req.acceptsEncodings('gzip', 'identity') === 'gzip';
    const etag = gzipped ? `"${hash}-gzip"` : `"${hash}"`;
    res.set({ 'Cache-Control': cacheControl, 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding', ETag: etag });
    if (matchesIfNoneMatch(req.get('if-none-match'), etag)) return void res.status(304).end();
    if (gzipped) res.set('Content-Encoding', 'gzip');
    return void res.type(type).send(gzipped ? compressed : uncompressed);
  };
}

const prepare = async (uncompressed: Buffer) => ({
  plain: uncompressed,
  compressed: await compress(uncompressed),
  hash: sha256(uncompressed, 'base64url').slice(0, 22),
});
