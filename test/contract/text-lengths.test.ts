/* oxlint-disable no-underscore-dangle -- zod has no public property for a schema's definition */
import { contract, contractV2, listRoutes } from '@mandate/contract';
import { expect, test } from 'vitest';
import { z } from 'zod';

const isSchema = (value: unknown): value is z.ZodTypeAny => value instanceof z.ZodType;

/** Returns the schema and all schemas nested in it. */
function listSchemas(schema: z.ZodTypeAny, found = new Set<z.ZodTypeAny>()): Set<z.ZodTypeAny> {
  if (found.has(schema)) return found;
  found.add(schema);
  const definition: Record<string, unknown> = schema instanceof z.ZodObject ? schema.shape : schema._def;
  for (const value of Object.values(definition).flat()) if (isSchema(value)) listSchemas(value, found);
  return found;
}

/** Returns whether zod's own checks, which count UTF-16 code units, limit the length of a string that can contain any character. */
const countsCodeUnits = (schema: z.ZodTypeAny): boolean =>
  schema instanceof z.ZodString &&
  schema._def.checks.some(({ kind }) => kind === 'max') &&
  !schema._def.checks.some(({ kind }) => kind === 'regex' || kind === 'url' || kind === 'email');

const routeSchemas = [...listRoutes(contract), ...listRoutes(contractV2)].flatMap(({ method, path, query, responses, ...route }) =>
  Object.entries({ query, ...('body' in route && { body: route.body }), ...responses }).flatMap(([part, schema]) =>
    isSchema(schema) ? [{ name: `${method} ${path} ${part}`, schema }] : [],
  ),
);

test('the length of every text is limited in Unicode code points', () => {
  const wrong = routeSchemas.filter(({ schema }) => [...listSchemas(schema)].some(countsCodeUnits)).map(({ name }) => name);
  expect(wrong).toEqual([]);
});

test('and a text whose limit counts UTF-16 code units is found', () => {
  const body = z.object({ notes: z.array(z.object({ text: z.string().max(3).nullable().optional() })).min(1) });
  expect([...listSchemas(body)].some(countsCodeUnits)).toBe(true);
});
