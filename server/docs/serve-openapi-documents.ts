import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { isJsonObject, type JsonObject } from '@mandate/contract/json';
import { convertToOpenApi30 } from '@mandate/contract/openapi-3.0';
import express, { type Router } from 'express';
import { cors } from '../http/middleware/cors.ts';
import { serveStaticDocument } from '../http/response/serve-static-document.ts';

/** Placeholder for the server URL in the generated document. */
const placeholderUrl = 'https://mandate.example';

/** Returns the generated OpenAPI 3.1 document for version 1 with this server's URL. */
export function readApiV1OpenApiDocument(issuer: string): JsonObject {
  const text = readFileSync(fileURLToPath(import.meta.resolve('@mandate/contract/openapi.json')), 'utf8');
  const document: unknown = JSON.parse(text.replaceAll(placeholderUrl, issuer));
  if (!isJsonObject(document)) throw new Error('openapi.json is not a JSON object');
  return document;
}

/** Maps each document name to a function that returns the text of the OpenAPI document with this server's URL. */
export const openApiTextFunctionsByDocumentName = {
  openapi: (issuer: string) => JSON.stringify(readApiV1OpenApiDocument(issuer)),
  'openapi-3.0': (issuer: string) => JSON.stringify(convertToOpenApi30(readApiV1OpenApiDocument(issuer))),
  'openapi-v2': generateOpenApiV2Text,
} satisfies Record<string, (issuer: string) => string | Promise<string>>;

/**
 * Generates the version 2 document in a worker thread, because the generation takes about a second and would otherwise block other
 * requests.
 */
async function generateOpenApiV2Text(issuer: string): Promise<string> {
  const thread = new Worker(new URL('generate-api-v2-openapi-worker.ts', import.meta.url), { workerData: issuer, execArgv: [] });
  const message: readonly unknown[] = await once(thread, 'message');
  return String(message[0]);
}

/** Serves the OpenAPI documents, for example to client generators. */
export function serveOpenApiDocuments(issuer: string, withPreview: boolean): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(['/openapi.json', '/openapi-3.0.json', '/openapi-v2.json'], cors);
  for (const name of ['openapi', 'openapi-3.0', ...(withPreview ? (['openapi-v2'] as const) : [])] as const) {
    const read = async (): Promise<Buffer> => Buffer.from(await openApiTextFunctionsByDocumentName[name](issuer));
    router.get(`/${name}.json`, serveStaticDocument('json', read, 'public, max-age=300'));
  }
  return router;
}
