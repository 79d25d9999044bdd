import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const origin = 'https://shop.example';
const documentSchema = z.object({
  paths: z.record(z.record(z.object({ tags: z.array(z.string()) }))),
  webhooks: z.record(z.record(z.object({ tags: z.array(z.string()) }))).default({}),
  components: z.object({ schemas: z.record(z.record(z.unknown())) }),
});

/** Returns every object in a document, including nested ones. */
const listObjects = (value: unknown): Record<string, unknown>[] => {
  if (Array.isArray(value)) return value.flatMap(listObjects);
  if (typeof value !== 'object' || value === null) return [];
  return [Object.fromEntries(Object.entries(value)), ...Object.values(value).flatMap(listObjects)];
};

describe.each([
  ['OpenAPI 3.1', createOpenApiDocument(origin)],
  ['OpenAPI 3.0', createOpenApi30Document(origin)],
])('client generators can use the %s document:', (_, document) => {
  const { paths, webhooks, components } = documentSchema.parse(document);

  test("no schema has the name of another schema's Go constructor", () => {
    const names = Object.keys(components.schemas);
    expect(names.filter((name) => names.includes(`New${name}`))).toEqual([]);
  });

  test('deliveries and operations have different tags, because generators write one file for each tag', () => {
    const tagsOf = (items: typeof paths): string[] =>
      Object.values(items).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags));
    const operationTags = new Set(tagsOf(paths));
    expect(operationTags.size).toBeGreaterThan(1);
    expect(tagsOf(webhooks).filter((tag) => operationTags.has(tag))).toEqual([]);
  });

  test('integers that need more than 32 bits have a format, and no type is a list with one entry', () => {
    const integers = listObjects(document).filter(({ type, maximum }) => [type].flat().includes('integer') && Number(maximum) >= 2 ** 31);
    expect(integers.length).toBeGreaterThan(100);
    expect(integers.filter(({ format }) => format !== 'int64')).toEqual([]);
    expect(listObjects(document).filter(({ type }) => Array.isArray(type) && type.length === 1)).toEqual([]);
  });

  test('the first matching alternative of an event is the one for its type', () => {
    const references = ['KnownEvent', 'OtherEvent'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    expect(components.schemas['Event']).toEqual({ anyOf: references });
  });
});
