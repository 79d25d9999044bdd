import { createOpenApi30Document, createOpenApiDocument } from './openapi-document.ts';

const origin = 'https://mandate.example';
const documents = {
  '3.1': () => createOpenApiDocument(origin),
  '3.0': () => createOpenApi30Document(origin),
  v2: () => createOpenApiDocument(origin, 'v2'),
};

/**
 * `npm run openapi`: prints the OpenAPI 3.1 document (default), the 3.0 document or the version 2 document. These documents contain an
 * example origin; a running server replaces the example with its own origin.
 */
const [, , name = '3.1'] = process.argv;
const createDocument = new Map(Object.entries(documents)).get(name);
if (!createDocument) throw new Error(`there is no document ${name}`);
process.stdout.write(`${JSON.stringify(createDocument(), null, 2)}\n`);
