import { contract, getRouteMetadata, listRoutes } from '@mandate/contract';
import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openApiTextFunctionsByDocumentName } from '../../server/docs/serve-openapi-documents.ts';
import { createReferencePageOpenApiDocument } from '../../server/docs/create-reference-page-openapi-document.ts';

// In generated documents, the server replaces only the origin. The result must equal a document that was generated for this origin.
test.each([
  ['openapi', (issuer: string) => createOpenApiDocument(issuer)],
  ['openapi-3.0', (issuer: string) => createOpenApi30Document(issuer)],
  ['openapi-v2', (issuer: string) => createOpenApiDocument(issuer, 'v2')],
] as const)('%s.json contains the URL of the server that serves it', async (name, generate) => {
  const issuer = 'https://shop.example/mandate';
  expect(JSON.parse(await openApiTextFunctionsByDocumentName[name](issuer))).toEqual(JSON.parse(JSON.stringify(generate(issuer))));
});

const operations = z.record(z.record(z.object({ requestBody: z.object({ description: z.string().optional() }).optional() })));

test('every operation with a body states its limit', () => {
  const paths = operations.parse(createOpenApiDocument('https://shop.example').paths);
  const bodies = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => (requestBody ? [[`${method} ${path}`, requestBody.description]] : [])),
  );
  expect(bodies.length).toBeGreaterThan(20);
  const stated = expect.stringMatching(/^At most \d+ bytes\.$|^The file size .* A row can be at most \d+ bytes long/);
  for (const [operation, description] of bodies) expect([operation, description]).toEqual([operation, stated]);
});

/** Scopes that no API key can have: `POST /api-keys` rejects them. */
const neverForKeys = ['api_keys.manage', 'users.administer', 'approvals.decide'];

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

  test('the API reference page offers no API keys, because they are secrets that do not belong in a web page', () => {
    const document = JSON.stringify(createReferencePageOpenApiDocument('https://shop.example'));
    expect(document).toContain('"security"');
    expect(document).not.toContain('"apiKey"');
  });

  test.each(listRoutes(contract).map((route) => [getRouteMetadata(route).operationId, getRouteMetadata(route).access] as const))(
    '%s lists API keys if a key can have one of its scopes',
    (operationId, access) => {
      const keyScopes = access === 'public' ? [] : access === 'token' ? ['any'] : access.filter((scope) => !neverForKeys.includes(scope));
      expect(listed.get(operationId)?.some((one) => 'apiKey' in one)).toBe(keyScopes.length > 0);
    },
  );
});

test('only the 3.1 document of version 1 describes webhooks, because events have its format', () => {
  expect(createOpenApiDocument('https://shop.example')).toHaveProperty('webhooks');
  expect(createOpenApiDocument('https://shop.example', 'v2')).not.toHaveProperty('webhooks');
  expect(createOpenApi30Document('https://shop.example')).not.toHaveProperty('webhooks');
  expect(createOpenApi30Document('https://shop.example')).not.toHaveProperty('components.parameters');
});

const described = z.record(
  z.record(z.object({ operationId: z.string(), summary: z.string().min(1), description: z.string().min(1).optional() })),
);

test.each(['v1', 'v2'] as const)(
  'every operation of %s has a description, and the document has a contact, as linters require',
  (version) => {
    const { paths, info } = createOpenApiDocument('https://shop.example', version);
    const listedOperations = Object.values(described.parse(paths)).flatMap((methods) => Object.values(methods));
    expect(listedOperations.filter(({ description }) => description === undefined).map(({ operationId }) => operationId)).toEqual([]);
    expect(info).toMatchObject({ contact: { url: 'https://shop.example' } });
  },
);

test.each([
  ['version 1', createOpenApiDocument('https://shop.example')],
  ['version 2', createOpenApiDocument('https://shop.example', 'v2')],
  ['OpenAPI 3.0', createOpenApi30Document('https://shop.example')],
])('in the document of %s, all operations share their error responses, which keeps the document small', (_, document) => {
  const schema = z.object({
    paths: z.record(z.record(z.object({ responses: z.record(z.record(z.unknown())) }))),
    components: z.object({ responses: z.record(z.object({ 'x-problem-codes': z.array(z.string()).min(1) })) }),
  });
  const { paths, components } = schema.parse(document);
  const errors = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses }) => Object.entries(responses).flatMap(([status, response]) => (Number(status) >= 400 ? [response] : [])));
  expect(errors.length).toBeGreaterThan(500);
  const names = errors.map(({ $ref }) => String($ref).replace('#/components/responses/', ''));
  expect(new Set(names)).toEqual(new Set(Object.keys(components.responses)));
  expect(JSON.stringify(document).length).toBeLessThan(780_000);
});

test('events have the format of version 1 in every version', () => {
  const withSchemas = z.object({ components: z.object({ schemas: z.record(z.record(z.unknown())) }) });
  const [v1, v2] = (['v1', 'v2'] as const).map(
    (version) => withSchemas.parse(createOpenApiDocument('https://shop.example', version)).components.schemas,
  );
  const objectOf = (object: string): unknown =>
    expect.objectContaining({ data: expect.objectContaining({ properties: { object: { $ref: `#/components/schemas/${object}` } } }) });
  expect(v1?.['OrderEvent']?.['properties']).toEqual(objectOf('Order'));
  expect(v2?.['OrderEvent']?.['properties']).toEqual(objectOf('OrderV1'));
  expect(v2?.['OrderV1']).toEqual(v1?.['Order']);
  expect(v2?.['Order']).not.toEqual(v1?.['Order']);
  expect(v2?.['ProductEvent']).toEqual(v1?.['ProductEvent']);
});
