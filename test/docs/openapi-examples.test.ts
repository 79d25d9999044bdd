import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contract, getRouteMetadata, listRoutes, scopeNames } from '@mandate/contract';
import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';

const examplesSchema = z.record(z.union([z.object({ $ref: z.string() }), z.object({ value: z.unknown() })]));
const media = z.object({ schema: z.record(z.unknown()), example: z.unknown().optional(), examples: examplesSchema.optional() });
const content = z.record(media);
const responseShape = z.object({ content: content.optional(), 'x-problem-codes': z.array(z.string()).optional() });
const operation = z.object({
  operationId: z.string(),
  'x-internal': z.boolean().optional(),
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), schema: z.record(z.unknown()), example: z.unknown().optional() }))
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.union([z.object({ $ref: z.string() }), responseShape])),
  security: z.array(z.object({ oauth2: z.array(z.string()).default([]) })),
});
const documentShape = z.object({
  paths: z.record(z.record(operation)),
  webhooks: z.record(z.record(operation.omit({ parameters: true }))).default({}),
  components: z.object({
    schemas: z.record(z.record(z.unknown())),
    responses: z.record(responseShape),
    examples: z.record(z.object({ value: z.unknown() })),
  }),
});
type Media = z.infer<typeof media>;

const origin = 'https://shop.example';
const documents = [
  ['3.1', createOpenApiDocument(origin), () => new Ajv2020({ strict: false, allErrors: true })],
  ['3.1, version 2', createOpenApiDocument(origin, 'v2'), () => new Ajv2020({ strict: false, allErrors: true })],
  ['3.0', createOpenApi30Document(origin), () => new Ajv({ strict: false, allErrors: true })],
] as const;

describe.each(documents)('the OpenAPI document in %s', (version, raw, newAjv) => {
  const document = documentShape.parse(raw);
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ajv = newAjv();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Ajv and Ajv2020 accept the same formats
  (addFormats as unknown as (to: unknown) => void)(ajv);
  ajv.addSchema({ $id: `${origin}/`, components: document.components });

  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  const validationErrors = (schema: Record<string, unknown>, value: unknown): unknown => {
    const key = JSON.stringify(schema);
    const validate = compiled.get(key) ?? ajv.compile(withAbsoluteReferences(schema));
    compiled.set(key, validate);
    return validate(value) ? null : (validate.errors ?? 'refused');
  };

  /** Makes references absolute, because the schemas are validated outside their document. */
  const withAbsoluteReferences = (schema: Record<string, unknown>): Record<string, unknown> =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the value is still an object
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components', `"${origin}/#/components`)) as Record<string, unknown>;

  const examplesOf = ({ example, examples: namedExamples }: Media): unknown[] => [
    ...(example === undefined ? [] : [example]),
    ...Object.values(namedExamples ?? {}).map((one) =>
      '$ref' in one ? document.components.examples[one.$ref.split('/').at(-1) ?? '']?.value : one.value,
    ),
  ];

  const resolveResponse = (declared: z.infer<typeof operation>['responses'][string]): z.infer<typeof responseShape> => {
    if (!('$ref' in declared)) return declared;
    const target = document.components.responses[declared.$ref.split('/').at(-1) ?? ''];
    if (!target) throw new Error(`${declared.$ref} does not exist`);
    return target;
  };

  const deliveries = Object.values(document.webhooks).flatMap((methods) => Object.values(methods));
  const mediaTypes = [...operations, ...deliveries].flatMap(({ operationId, requestBody, responses }) => [
    ...Object.entries(requestBody?.content ?? {}).map(([type, one]) => [`${operationId} ${type}`, one] as const),
    ...Object.entries(responses).flatMap(([status, declared]) =>
      Object.entries(resolveResponse(declared).content ?? {}).map(([type, one]) => [`${operationId} ${status} ${type}`, one] as const),
    ),
  ]);

  test('has a valid example for every request and response with a body, except images, which JSON cannot represent', () => {
    expect(mediaTypes.length).toBeGreaterThan(500);
    for (const [place, one] of mediaTypes.filter(([name]) => !/ image\/\w+$/.test(name))) {
      const examples = examplesOf(one);
      expect(examples.length, place).toBeGreaterThan(0);
      for (const example of examples) expect(validationErrors(one.schema, example), `${place}: ${JSON.stringify(example)}`).toBeNull();
    }
  });

  test('has a valid example for every path parameter', () => {
    const examples = operations.flatMap(({ operationId, parameters }) =>
      parameters
        .filter(({ in: place, example }) => place === 'path' || example !== undefined)
        .map(({ name, schema, example }) => [
          `${operationId} ${name}`,
          example === undefined ? 'missing' : validationErrors(schema, example),
        ]),
    );
    expect(examples.length).toBeGreaterThan(30);
    expect(examples.filter(([, fault]) => fault !== null)).toEqual([]);
  });

  test('rejects an invalid example', () => {
    expect(validationErrors({ $ref: '#/components/schemas/Order' }, { id: 'seven' })).not.toBeNull();
  });

  test.skipIf(version.endsWith('2'))('lists the scopes of every operation, and an example for each of its error codes', () => {
    const byId = new Map(operations.map((one) => [one.operationId, one]));
    for (const route of listRoutes(contract)) {
      const { operationId, access } = getRouteMetadata(route);
      const documented = byId.get(operationId);
      const documentedScopes = documented?.security.flatMap(({ oauth2 }) => oauth2);
      expect(documentedScopes, operationId).toEqual(Array.isArray(access) ? access : []);
      for (const scope of documentedScopes ?? []) expect(scopeNames).toContain(scope);
      expect(Object.keys(documented?.responses ?? {}).toSorted(), operationId).toEqual(Object.keys(route.responses).toSorted());
      for (const [status, declared] of Object.entries(documented?.responses ?? {})) {
        if (Number(status) < 400) continue;
        const response = resolveResponse(declared);
        const codes = response['x-problem-codes'] ?? [];
        expect(codes.length, `${operationId} ${status}`).toBeGreaterThan(0);
        expect(Object.keys(response.content?.['application/problem+json']?.examples ?? {}), `${operationId} ${status}`).toEqual(codes);
      }
    }
  });
});
