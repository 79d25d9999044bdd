import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { z } from 'zod';
import { testPaymentOutcomeTextsByToken } from '@mandate/contract';
import type { Schema } from './openapi-operations.ts';
import { Placeholder } from './placeholders.ts';

const schemaKeywords = z
  .object({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.enum(['int64', 'email', 'date-time', 'uri', 'binary']).optional(),
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    pattern: z.string().optional(),
    items: z.record(z.unknown()).optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    properties: z.record(z.record(z.unknown())).default({}),
    required: z.array(z.string()).default([]),
    additionalProperties: z.union([z.boolean(), z.record(z.unknown())]).optional(),
    default: z.unknown(),
    description: z.unknown(),
    'x-open-enum': z.unknown(),
  })
  // fail on unknown keywords instead of ignoring them
  .strict();
type SchemaKeywords = z.infer<typeof schemaKeywords>;

/** Length limit for valid text and arrays. Hostile values can be longer. */
const lengthMax = 60;
const itemsMax = 4;

/** Generates values that a schema allows. `name`, the property or parameter name, selects values that the server is likely to accept. */
export function valueArbitrary(schema: Schema, name = ''): Arbitrary<unknown> {
  const keywords = schemaKeywords.parse(schema);
  const types = [keywords.type ?? 'string'].flat();
  const [first = fc.constant(null), ...others] = types.map((type) => typeArbitrary(type, keywords, name));
  const byType = others.length === 0 ? first : fc.oneof(first, ...others);
  // an enumeration already lists the accepted values
  const usefulValues = keywords.enum ? undefined : usefulValue(name);
  return usefulValues ? fc.oneof({ weight: 6, arbitrary: usefulValues }, { weight: 1, arbitrary: byType }) : byType;
}

/** Returns values that the server is likely to accept. Without such values, nearly every order would reference unknown products. */
function usefulValue(name: string): Arbitrary<unknown> | undefined {
  if (Object.hasOwn(usefulValuesByName, name)) return usefulValuesByName[name];
  return name.endsWith('_id') ? known(name) : undefined;
}

const known = (kind: string, max = 1_000): Arbitrary<Placeholder> => fc.nat({ max }).map((at) => new Placeholder(kind, at));

const usefulValuesByName: Record<string, Arbitrary<unknown>> = {
  // the first products are active and have a large stock
  product_id: fc.oneof({ weight: 4, arbitrary: known('product_id', 9) }, { weight: 1, arbitrary: known('product_id') }),
  ...Object.fromEntries(['cursor', 'sku', 'email', 'code', 'reference'].map((name) => [name, known(name)])),
  method: fc.oneof({ weight: 6, arbitrary: fc.constantFrom('pickup', 'standard') }, { weight: 1, arbitrary: known('code') }),
  country: fc.constantFrom('GB', 'DE', 'XX'),
  currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'GBP', 'JPY', 'KWD'),
  quantity: fc.integer({ min: 1, max: 5 }),
  delta: fc.integer({ min: -5, max: 50 }),
  line: fc.integer({ min: 1, max: 3 }),
  amount: fc.integer({ min: 1, max: 300 }),
  discount_total: fc.constantFrom(0, 1, 300),
  provider: fc.constantFrom('test', 'test', 'manual', 'stripe'),
  method_token: fc.constantFrom(...Object.keys(testPaymentOutcomeTextsByToken)),
  // at most one second, because a longer wait would delay other requests
  wait: fc.constantFrom(0, 0, 1),
};

function typeArbitrary(type: string, keywords: SchemaKeywords, name: string): Arbitrary<unknown> {
  if (keywords.enum) return fc.constantFrom(...keywords.enum);
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integerArbitrary(keywords);
    case 'string':
      return stringArbitrary(keywords);
    case 'array':
      return fc.array(valueArbitrary(keywords.items ?? {}, name.replace(/s$/, '')), {
        minLength: keywords.minItems ?? 0,
        maxLength: itemsMax,
      });
    case 'object':
      return objectArbitrary(keywords);
    default:
      throw new Error(`the generator does not support the type ${type}`);
  }
}

function integerArbitrary({
  minimum: min = Number.MIN_SAFE_INTEGER,
  maximum: max = Number.MAX_SAFE_INTEGER,
}: SchemaKeywords): Arbitrary<number> {
  const near = fc.integer({ min, max: Math.min(max, Math.max(min, 0) + 1_000) });
  return fc.oneof(near, fc.constantFrom(min, max), fc.integer({ min, max }));
}

function stringArbitrary({ format, pattern, minLength = 0, maxLength = lengthMax }: SchemaKeywords): Arbitrary<string> {
  const fits = (text: string): boolean => text.length >= minLength && text.length <= maxLength;
  if (format === 'email') return fc.stringMatching(/^[a-z0-9]{1,20}@[a-z0-9]{1,20}\.(?:example|test)$/).filter(fits);
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https', 'http'], withQueryParameters: true }).filter(fits);
  if (format === 'date-time')
    return fc.date({ min: new Date(0), max: new Date('2099-12-31'), noInvalidDate: true }).map((date) => date.toISOString());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' }).filter(fits);
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, lengthMax)) };
  return fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('Ann Lee', 'PO-2026-118', '1 High Street', 'Größe 漢字 🎈', 'x').filter(fits) },
    { weight: 6, arbitrary: fc.string({ ...length, unit: 'grapheme-ascii' }) },
    { weight: 1, arbitrary: fc.string({ ...length, unit: 'binary' }).filter(fits) },
  );
}

function objectArbitrary({ properties, required, additionalProperties }: SchemaKeywords): Arbitrary<unknown> {
  // each optional property appears with a probability of 1/5, because a request with all optional properties would always be rejected
  const fields = Object.entries(properties).map(([name, schema]) =>
    fc
      .tuple(valueArbitrary(schema, name), fc.nat({ max: 4 }))
      .map(([generated, probability]) => (required.includes(name) || probability === 0 ? [[name, generated] as const] : [])),
  );
  const declared = fc.tuple(...fields).map((generated) => Object.fromEntries(generated.flat()));
  if (typeof additionalProperties !== 'object') return declared;
  const key = fc.oneof(fc.stringMatching(/^[a-z_]{1,12}$/), fc.string({ minLength: 1, maxLength: 12 }));
  return fc.dictionary(key, valueArbitrary(additionalProperties), { maxKeys: itemsMax, noNullPrototype: true });
}
