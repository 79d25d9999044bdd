import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import express, { type Router } from 'express';
import { isJsonObject, type JsonObject } from '@mandate/contract/json';
import { cors } from '../http/middleware/cors.ts';
import { serveStaticDocument } from '../http/response/static-document.ts';

/** Server URL in the generated documents. */
const placeholderUrl = 'https://mandate.example';

/** Returns a generated OpenAPI document with the URL of this server. */
export function readOpenApiDocument(name: 'openapi' | 'openapi-3.0' | 'openapi-v2', issuer: string): JsonObject {
  const text = readFileSync(fileURLToPath(import.meta.resolve(`@mandate/contract/${name}.json`)), 'utf8');
  const document: unknown = JSON.parse(text.replaceAll(placeholderUrl, issuer));
  if (!isJsonObject(document)) throw new Error(`${name}.json is no document`);
  return document;
}

/** Serves the OpenAPI documents, for example to client generators. */
export function serveOpenApiDocuments(issuer: string, withPreview: boolean): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(['/openapi.json', '/openapi-3.0.json', '/openapi-v2.json'], cors);
  for (const name of ['openapi', 'openapi-3.0', ...(withPreview ? (['openapi-v2'] as const) : [])] as const) {
    const read = (): Buffer => Buffer.from(JSON.stringify(readOpenApiDocument(name, issuer)));
    router.get(`/${name}.json`, serveStaticDocument('json', read, 'public, max-age=300'));
  }
  return router;
}
