import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { z } from 'zod';
import { testPaymentMethodTokens } from '@mandate/contract';
import type { Schema } from './document.ts';
import { Known } from './placeholders.ts';

const words = z
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
  // a word that is not understood would be left out of what is generated, and nobody would know
  .strict();
type Words = z.infer<typeof words>;

/** The server refuses larger files and bodies anyway; what is longer is among the hostile values. */
const lengthMax = 60;
const itemsMax = 4;

/** Values that the schema allows. `name`: of the property or parameter, because some of them mean something. */
export function valueOf(schema: Schema, name = ''): Arbitrary<unknown> {
  const said = words.parse(schema);
  const types = [said.type ?? 'string'].flat();
  const [first = fc.constant(null), ...others] = types.map((type) => ofType(type, said, name));
  const byType = others.length === 0 ? first : fc.oneof(first, ...others);
  // an enumeration says itself what makes sense
  const better = said.enum ? undefined : sensibleValue(name);
  return better ? fc.oneof({ weight: 6, arbitrary: better }, { weight: 1, arbitrary: byType }) : byType;
}

/** Without these nearly every order would be of products that do not exist. */
function sensibleValue(name: string): Arbitrary<unknown> | undefined {
  if (Object.hasOwn(sensible, name)) return sensible[name];
  return name.endsWith('_id') ? known(name) : undefined;
}

const known = (kind: string, max = 1_000): Arbitrary<Known> => fc.nat({ max }).map((at) => new Known(kind, at));

const sensible: Record<string, Arbitrary<unknown>> = {
  // the first are on sale, and have plenty
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
  method_token: fc.constantFrom(...Object.keys(testPaymentMethodTokens)),
  // longer would hold up the others
  wait: fc.constantFrom(0, 0, 1),
};

function ofType(type: string, said: Words, name: string): Arbitrary<unknown> {
  if (said.enum) return fc.constantFrom(...said.enum);
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integerOf(said);
    case 'string':
      return stringOf(said);
    case 'array':
      return fc.array(valueOf(said.items ?? {}, name.replace(/s$/, '')), { minLength: said.minItems ?? 0, maxLength: itemsMax });
    case 'object':
      return objectOf(said);
    default:
      throw new Error(`the generator does not know the type ${type}`);
  }
}

function integerOf({ minimum: min = Number.MIN_SAFE_INTEGER, maximum: max = Number.MAX_SAFE_INTEGER }: Words): Arbitrary<number> {
  const near = fc.integer({ min, max: Math.min(max, Math.max(min, 0) + 1_000) });
  return fc.oneof(near, fc.constantFrom(min, max), fc.integer({ min, max }));
}

function stringOf({ format, pattern, minLength = 0, maxLength = lengthMax }: Words): Arbitrary<string> {
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

function objectOf({ properties, required, additionalProperties }: Words): Arbitrary<unknown> {
  // an optional one in five: each has its own way of being refused, and all together would be always
  const fields = Object.entries(properties).map(([name, schema]) =>
    fc
      .tuple(valueOf(schema, name), fc.nat({ max: 4 }))
      .map(([made, luck]) => (required.includes(name) || luck === 0 ? [[name, made] as const] : [])),
  );
  const declared = fc.tuple(...fields).map((made) => Object.fromEntries(made.flat()));
  if (typeof additionalProperties !== 'object') return declared;
  const key = fc.oneof(fc.stringMatching(/^[a-z_]{1,12}$/), fc.string({ minLength: 1, maxLength: 12 }));
  return fc.dictionary(key, valueOf(additionalProperties), { maxKeys: itemsMax, noNullPrototype: true });
}
