import { openApi30Document, openApiDocument } from './openapi-document.ts';

const origin = 'https://mandate.example';
const documents = { '3.1': () => openApiDocument(origin), '3.0': () => openApi30Document(origin), v2: () => openApiDocument(origin, 'v2') };

/** `npm run openapi`: prints the document, in 3.0 or of the next version when asked for. A server puts its own origin in when it serves it. */
const [, , asked = '3.1'] = process.argv;
const documentOf = new Map(Object.entries(documents)).get(asked);
if (!documentOf) throw new Error(`there is no document ${asked}`);
process.stdout.write(`${JSON.stringify(documentOf(), null, 2)}\n`);
