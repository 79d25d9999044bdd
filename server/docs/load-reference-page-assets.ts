import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import { assetPathWithContentHash } from '../http/response/hashed-asset-path.ts';
import { sharedPageStylesheet } from '../oauth/pages/assets/build-page-stylesheet.ts';
import { serveStaticDocument } from '../http/response/serve-static-document.ts';

const { resolve } = createRequire(import.meta.url);

/** A static file for pages. */
export type Asset = { readonly path: string; readonly serve: RequestHandler };

/** Creates an asset from a file in this folder. */
export const loadDocsFolderAsset = (name: string): Asset => createAsset(name, readFileSync(new URL(name, import.meta.url)));

/** Creates a stylesheet from the shared rules of all pages and a file in this folder. */
export const loadDocsFolderStylesheet = (name: string): Asset =>
  createAsset(name, Buffer.from(`${sharedPageStylesheet}\n${readFileSync(new URL(name, import.meta.url), 'utf8')}`));

/** Creates an asset from a Swagger UI file. */
export const loadSwaggerUiAsset = (name: string): Asset => createAsset(name, readSwaggerUiFile(name));

export const readSwaggerUiFile = (name: string): Buffer => readFileSync(resolve(`swagger-ui-dist/${name}`));

function createAsset(name: string, content: Buffer): Asset {
  const type = name.slice(name.lastIndexOf('.') + 1);
  return {
    path: assetPathWithContentHash(content, type),
    serve: serveStaticDocument(type, () => content, 'public, max-age=31536000, immutable'),
  };
}
