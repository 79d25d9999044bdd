import { openApi30Document, openApiDocument } from '@mandate/contract/openapi';
import { expect, test } from 'vitest';
import { z } from 'zod';
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

const operations = z.record(z.record(z.object({ requestBody: z.object({ description: z.string().optional() }).optional() })));

test('every operation with a body states its limit', () => {
  const paths = operations.parse(openApiDocument('https://shop.example').paths);
  const bodies = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => (requestBody ? [[`${method} ${path}`, requestBody.description]] : [])),
  );
  expect(bodies.length).toBeGreaterThan(20);
  const stated = expect.stringMatching(/^At most \d+ bytes\.$/);
  for (const [operation, description] of bodies) expect([operation, description]).toEqual([operation, stated]);
});
