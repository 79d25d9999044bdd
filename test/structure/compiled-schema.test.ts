import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { contract, listRoutes } from '@mandate/contract';
import { compileSchema, invalidValueSentinel } from '../../server/http/validation/compile-schema.ts';

/** Generates mostly valid values for a schema, and some invalid values. */
function mostlyValid(schema: z.ZodTypeAny): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 60, arbitrary: valid(schema) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(undefined, null, '', ' x ', 'x\u0007', -1, 1.5, 2 ** 53, true, [], {}, '2026-02-30T10:00:00Z'),
    },
  );
}

function valid(schema: z.ZodTypeAny): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodNullable) return fc.oneof(fc.constant(null), mostlyValid(schema.unwrap()));
  if (schema instanceof z.ZodOptional) return fc.oneof(fc.constant(undefined), mostlyValid(schema.unwrap()));
  if (schema instanceof z.ZodDefault)
    return fc.oneof(fc.constant(undefined), mostlyValid(z.instanceof(z.ZodType).parse(schema.removeDefault())));
  if (schema instanceof z.ZodEffects) return mostlyValid(schema.innerType());
  if (schema instanceof z.ZodPipeline) return mostlyValid(z.instanceof(z.ZodType).parse(schema._def.in)); // oxlint-disable-line no-underscore-dangle -- zod has no public accessor
  if (schema instanceof z.ZodArray) return fc.array(mostlyValid(schema.element), { maxLength: 3 });
  if (schema instanceof z.ZodRecord)
    return fc.dictionary(
      // A compiled map rejects the key `__proto__` (test/http/compiled-schema-limits.test.ts), whereas zod ignores it.
      fc
        .oneof(fc.string({ minLength: 1, maxLength: 40 }), fc.string({ minLength: 41, maxLength: 42 }))
        .filter((key) => key !== '__proto__'),
      mostlyValid(schema.valueSchema),
      { maxKeys: 3 },
    );
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...z.array(z.string()).parse(schema.options));
  if (schema instanceof z.ZodUnion) return fc.oneof(...z.array(z.instanceof(z.ZodType)).parse(schema.options).map(mostlyValid));
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, field]) => [name, mostlyValid(z.instanceof(z.ZodType).parse(field))]);
    const model: Record<string, fc.Arbitrary<unknown>> = { ...Object.fromEntries(fields), undeclared: fc.constantFrom('secret', 1) };
    return fc.record(model, { noNullPrototype: true, requiredKeys: Object.keys(schema.shape) });
  }
  if (schema instanceof z.ZodNumber) return fc.oneof(fc.integer({ min: 0, max: 300 }), fc.maxSafeNat(), fc.double());
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodString) return text;
  return fc.jsonValue();
}

const timestamp = fc
  .date({ noInvalidDate: true, min: new Date('1990-01-01'), max: new Date('2090-01-01') })
  .map((date) => date.toISOString());
const text = fc.oneof(
  timestamp,
  fc.constantFrom('GBP', 'collection', 'GB', 'SKU-1', 'https://shop.example/x', 'abc', '1', '-1', '0', '07', '20', 'pending,paid'),
  fc.string({ maxLength: 70 }),
  fc.string({ unit: 'binary', maxLength: 3 }),
);

const contractSchemas = listRoutes(contract).flatMap(({ method, path, pathParams, query, headers, responses, ...route }) =>
  Object.entries({ path: pathParams, query, headers, ...('body' in route && { body: route.body }), ...responses }).flatMap(
    ([part, schema]) => (schema instanceof z.ZodType && !/^[345]/.test(part) ? [{ name: `${method} ${path} ${part}`, schema }] : []),
  ),
);

test.each(contractSchemas)('the compiled schema of $name returns the same result as zod', ({ schema }) => {
  const check = compileSchema(schema);
  fc.assert(
    fc.property(mostlyValid(schema), (value) => {
      const { success, data } = schema.safeParse(value);
      const result = check(value);
      expect(result === invalidValueSentinel ? 'invalid' : result).toEqual(success ? data : 'invalid');
    }),
    { numRuns: 150 },
  );
});

test.each([
  ['passthrough()', z.object({ declared: z.string() }).passthrough()],
  ['catchall()', z.object({ declared: z.string() }).catchall(z.number())],
])('the compiled schema of an object with %s keeps undeclared fields as zod does', (_name, schema) => {
  const check = compileSchema(schema);
  expect(check({ declared: 'a', other: 1 })).toEqual({ declared: 'a', other: 1 });
  expect(check({ other: 1 })).toBe(invalidValueSentinel);
});
