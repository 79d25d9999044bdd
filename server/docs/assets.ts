import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

const { resolve } = createRequire(import.meta.url);
const compress = promisify(gzip);

/** A file that pages load. Its path has its hash, so it can be kept for ever. */
export type Asset = { readonly path: string; readonly serve: RequestHandler };

/** One of ours, which stands beside this file. */
export const ownAsset = (name: string): Asset => asset(name, readFileSync(new URL(name, import.meta.url)));

/** One of the library's. */
export const libraryAsset = (name: string): Asset => asset(name, libraryFile(name));

export const libraryFile = (name: string): Buffer => readFileSync(resolve(`swagger-ui-dist/${name}`));

function asset(name: string, content: Buffer): Asset {
  const type = name.slice(name.lastIndexOf('.') + 1);
  // The library is 1.5 MB as it is, and a third of that compressed: it is worth doing, once.
  let compressed: Promise<Buffer> | undefined;
  return {
    path: `/assets/${createHash('sha256').update(content).digest('hex').slice(0, 16)}.${type}`,
    serve: async (req, res) => {
      res.set({
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
        Vary: 'Accept-Encoding',
      });
      res.type(type);
      if (!req.acceptsEncodings('gzip')) return void res.send(content);
      compressed ??= compress(content);
      return void res.set('Content-Encoding', 'gzip').send(await compressed);
    },
  };
}
