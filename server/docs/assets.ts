import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import { hashedAssetPath } from '../http/response/asset-path.ts';
import { baseStylesheet } from '../oauth/pages/assets/stylesheet.ts';
import { serveStaticDocument } from '../http/response/static-document.ts';

const { resolve } = createRequire(import.meta.url);

/** A static file for pages. */
export type Asset = { readonly path: string; readonly serve: RequestHandler };

/** Creates an asset from a file in this folder. */
export const loadLocalAsset = (name: string): Asset => createAsset(name, readFileSync(new URL(name, import.meta.url)));

/** Creates a stylesheet from the shared rules of all pages and a file in this folder. */
export const loadLocalStylesheet = (name: string): Asset =>
  createAsset(name, Buffer.from(`${baseStylesheet}\n${readFileSync(new URL(name, import.meta.url), 'utf8')}`));

/** Creates an asset from a file of Swagger UI. */
export const loadLibraryAsset = (name: string): Asset => createAsset(name, readLibraryFile(name));

export const readLibraryFile = (name: string): Buffer => readFileSync(resolve(`swagger-ui-dist/${name}`));

function createAsset(name: string, content: Buffer): Asset {
  const type = name.slice(name.lastIndexOf('.') + 1);
  return {
    path: hashedAssetPath(content, type),
    serve: serveStaticDocument(type, () => content, 'public, max-age=31536000, immutable'),
  };
}
