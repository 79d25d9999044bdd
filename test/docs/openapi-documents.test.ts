import { contract, getRouteMetadata, listRoutes } from '@mandate/contract';
import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocumentReaders } from '../../server/docs/serve-openapi-documents.ts';

// The server replaces the origin in generated documents; the result must equal a document generated for this origin.
test.each([
  ['openapi', (issuer: string) => createOpenApiDocument(issuer)],
  ['openapi-3.0', (issuer: string) => createOpenApi30Document(issuer)],
  ['openapi-v2', (issuer: string) => createOpenApiDocument(issuer, 'v2')],
] as const)('%s.json contains the URL of the server that serves it', async (name, generate) => {
  const issuer = 'https://shop.example/mandate';
  expect(JSON.parse(await openApiDocumentReaders[name](issuer))).toEqual(JSON.parse(JSON.stringify(generate(issuer))));
});

const operations = z.record(z.record(z.object({ requestBody: z.object({ description: z.string().optional() }).optional() })));

test('every operation with a body states its limit', () => {
  const paths = operations.parse(createOpenApiDocument('https://shop.example').paths);
  const bodies = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => (requestBody ? [[`${method} ${path}`, requestBody.description]] : [])),
  );
  expect(bodies.length).toBeGreaterThan(20);
  const stated = expect.stringMatching(/^At most \d+ bytes\.$|^The file size .* A row can have at most \d+ bytes/);
  for (const [operation, description] of bodies) expect([operation, description]).toEqual([operation, stated]);
});

/** Scopes that no API key can have: `POST /api-keys` rejects them. */
const neverForKeys = ['api_keys.manage', 'users.administer'];

describe('security', () => {
  const required = z.record(z.record(z.object({ operationId: z.string(), security: z.array(z.record(z.array(z.string()))) })));
  const listed = new Map(
    Object.values(required.parse(createOpenApiDocument('https://shop.example').paths))
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId, security }) => [operationId, security]),
  );

  test('API keys are among the security schemes of every document', () => {
    const documents = [
      createOpenApiDocument('https://shop.example'),
      createOpenApiDocument('https://shop.example', 'v2'),
      createOpenApi30Document('https://shop.example'),
    ];
    for (const { components } of documents)
      expect(components).toMatchObject({ securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } });
  });

  test.each(listRoutes(contract).map((route) => [getRouteMetadata(route).operationId, getRouteMetadata(route).access] as const))(
    '%s lists API keys if a key can have one of its scopes',
    (operationId, access) => {
      const keyScopes = access === 'public' ? [] : access === 'token' ? ['any'] : access.filter((scope) => !neverForKeys.includes(scope));
      expect(listed.get(operationId)?.some((one) => 'apiKey' in one)).toBe(keyScopes.length > 0);
    },
  );
});

test('only the 3.1 document of version 1 describes webhooks, because events are written in its form', () => {
  expect(createOpenApiDocument('https://shop.example')).toHaveProperty('webhooks');
  expect(createOpenApiDocument('https://shop.example', 'v2')).not.toHaveProperty('webhooks');
  expect(createOpenApi30Document('https://shop.example')).not.toHaveProperty('webhooks');
  expect(createOpenApi30Document('https://shop.example')).not.toHaveProperty('components.parameters');
});
