import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import { staticDocument } from '../http/response/static-document.ts';

const { resolve } = createRequire(import.meta.url);

/** A file that pages load. Its path has its hash, so it can be kept for ever. */
export type Asset = { readonly path: string; readonly serve: RequestHandler };

/** One of ours, which stands beside this file. */
export const ownAsset = (name: string): Asset => asset(name, readFileSync(new URL(name, import.meta.url)));

/** One of the library's. */
export const libraryAsset = (name: string): Asset => asset(name, libraryFile(name));

export const libraryFile = (name: string): Buffer => readFileSync(resolve(`swagger-ui-dist/${name}`));

function asset(name: string, content: Buffer): Asset {
  const type = name.slice(name.lastIndexOf('.') + 1);
  return {
    path: `/assets/${createHash('sha256').update(content).digest('hex').slice(0, 16)}.${type}`,
    serve: staticDocument(type, () => content, 'public, max-age=31536000, immutable'),
  };
}
