import { openApi30Document, openApiDocument } from '@mandate/contract/openapi';
import { expect, test } from 'vitest';
import { openApiDocumentOf } from '../../server/docs/openapi-documents.ts';

// The server gives out what was generated with the contract: for its own address that must be what would be generated for it.
test.each([
  ['openapi', (issuer: string) => openApiDocument(issuer)],
  ['openapi-3.0', (issuer: string) => openApi30Document(issuer)],
  ['openapi-v2', (issuer: string) => openApiDocument(issuer, 'v2')],
] as const)('%s.json is the document of whichever server gives it out', (name, generate) => {
  const issuer = 'https://shop.example/mandate';
  expect(openApiDocumentOf(name, issuer)).toEqual(JSON.parse(JSON.stringify(generate(issuer))));
});
