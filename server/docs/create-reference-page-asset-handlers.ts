import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import { createAssetPathWithContentHash } from '../http/response/create-asset-path-with-content-hash.ts';
import { serveStaticDocument } from '../http/response/serve-static-document.ts';

/** A static file that pages load. */
export type Asset = { readonly path: string; readonly serve: RequestHandler };

const immutable = 'public, max-age=31536000, immutable';

/** Creates an asset from a file in this folder. */
export function loadDocsFolderAsset(name: string): Asset {
  const content = readFileSync(new URL(name, import.meta.url));
  const type = name.slice(name.lastIndexOf('.') + 1);
  return { path: createAssetPathWithContentHash(content, type), serve: serveStaticDocument(type, () => content, immutable) };
}

/**
 * Creates assets from the browser build of Scalar. Scalar's modules import each other by relative path, so the folder name contains the
 * content hash, and the file names do not. Most visitors request only a few of the files, so a file is read when it is first requested.
 */
export function loadScalarAssets(): { readonly entry: string; readonly assets: readonly Asset[] } {
  // The published server contains a copy of Scalar's browser build. The Scalar package would also install 100 MB of dependencies that the
  // browser build does not need.
  const copy = new URL('scalar/', import.meta.url);
  const folder = existsSync(copy) ? copy : new URL('browser/', import.meta.resolve('@scalar/api-reference'));
  const hash = createAssetPathWithContentHash(readFileSync(new URL('standalone.esm.js', folder)), 'js').replace(/\.js$/, '');
  const chunks = readdirSync(new URL('chunks', folder)).filter((name) => name.endsWith('.js'));
  const assets = ['standalone.esm.js', ...chunks.map((name) => `chunks/${name}`)].map((name) => ({
    path: `${hash}/${name}`,
    serve: serveStaticDocument('js', () => readFileSync(new URL(name, folder)), immutable),
  }));
  return { entry: `${hash}/standalone.esm.js`, assets };
}
