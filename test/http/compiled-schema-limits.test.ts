/** Tests values at the limits of each kind of schema, because random values rarely reach these limits. */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { compileSchema, invalidValueSentinel } from '../../server/http/validation/compile-schema.ts';

const strict = z.object({ a: z.string(), b: z.number().optional() }).strict();
const stripping = z.object({ a: z.string(), b: z.string().trim().optional(), c: z.number().default(7) });
const { a: _, ...rest } = { a: 1, b: 2 };

const rows: readonly (readonly [name: string, schema: z.ZodTypeAny, values: readonly unknown[]])[] = [
  ['number', z.number(), [0, -0, 1.5, Number.NaN, Infinity, '1', null, undefined]],
  ['whole number from 1 to 5', z.number().int().min(1).max(5), [0, 1, 5, 6, 1.5, 4.999]],
  ['number with two limits of each kind', z.number().min(1).min(3).max(9).max(7), [1, 2, 3, 7, 8, 9]],
  ['number above 1', z.number().gt(1), [1, 1.1]],
  ['number below 5', z.number().lt(5), [4.9, 5]],
  ['multiple of 5', z.number().multipleOf(5), [5, 6]],
  ['coerced number', z.coerce.number().int(), ['5', '5.5', 'x', 5]],
  ['text with 2 to 4 characters', z.string().min(2).max(4), ['a', 'ab', 'abcd', 'abcde', 7, null]],
  ['text with two limits of each kind', z.string().min(1).min(3).max(9).max(7), ['ab', 'abc', 'abcdefg', 'abcdefgh']],
  ['text with a pattern', z.string().regex(/^a/).regex(/b$/), ['ab', 'a', 'b', 'axb']],
  ['text with a global pattern', z.string().regex(/a/g), ['a', 'a', 'a', 'b']],
  ['e-mail address', z.string().email(), ['ann@example.com', 'ann']],
  ['trimmed text', z.string().trim(), ['a', ' a', 'a ', 'a b', '', ' ', '\n a']],
  ['trimmed text with 1 to 2 characters', z.string().trim().min(1).max(2), ['', ' ', ' ab ', 'abc', 'ab']],
  [
    'timestamp',
    z.string().datetime(),
    [
      '2030-01-01T00:00:00Z',
      '2030-12-28T23:59:59.123456Z',
      '2030-09-19T10:10:10Z',
      '2030-10-20T19:00:00Z',
      '2030-02-29T00:00:00Z',
      '2028-02-29T00:00:00Z',
      '2030-04-31T00:00:00Z',
      '2030-01-31T00:00:00Z',
      '2030-00-01T00:00:00Z',
      '2030-13-01T00:00:00Z',
      '2030-01-00T00:00:00Z',
      '2030-01-01T24:00:00Z',
      '2030-01-01T00:60:00Z',
      '2030-01-01T00:00:60Z',
      '2030-01-01T00:00:00.Z',
      '2030-01-01T00:00:00',
      'x2030-01-01T00:00:00Z',
      '2030-01-01T00:00:00Zx',
      '2030-01-01T00:00:00+01:00',
      '2030-01-01',
      '30-01-01T00:00:00Z',
      '2030-01-01T0:00:00Z',
      '2030-01-01 00:00:00Z',
    ],
  ],
  ['boolean', z.boolean(), [true, false, 0, 'true', null]],
  ['enumeration', z.enum(['a', 'b']), ['a', 'b', 'c', '', null, undefined]],
  ['nullable text', z.string().nullable(), ['a', null, undefined, 0]],
  ['optional text', z.string().optional(), ['a', null, undefined, 0]],
  ['text with a default', z.string().default('x'), ['a', undefined, null, '']],
  [
    'list of 1 to 2 texts',
    z.array(z.string()).min(1).max(2),
    [[], ['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 1], 'ab', { length: 1 }, null],
  ],
  ['list of exactly 2 texts', z.array(z.string()).length(2), [['a'], ['a', 'b'], ['a', 'b', 'c']]],
  ['list without limits', z.array(z.string().trim()), [[], ['a', ' b '], [' a ', 'b', ' c'], [1]]],
  ['strict object', strict, [{ a: 'x' }, { a: 'x', b: 1 }, { a: 'x', b: undefined }, { a: 'x', c: 1 }, { b: 1 }, {}, [], null, 'x', rest]],
  [
    'object that strips other fields',
    stripping,
    [
      { a: 'x', c: 1 },
      { a: 'x' },
      { a: 'x', b: ' y ', c: 1 },
      { a: 'x', b: 'y', c: 1, d: 1 },
      { a: 'x', b: ' y ', d: 1 },
      { a: 'x', b: undefined, c: 1 },
      { a: 1, c: 1 },
      { c: 1 },
      [],
      null,
      7,
      new Map(),
    ],
  ],
  [
    'nested object',
    z.object({ a: strict, b: z.array(stripping) }),
    [
      { a: { a: 'x' }, b: [{ a: 'x' }, { a: 'y', c: 1 }] },
      { a: { c: 1 }, b: [] },
    ],
  ],
  ['map', z.record(z.string().min(2), z.number()), [{}, { ab: 1 }, { a: 1 }, { ab: 'x' }, { ab: 1, abc: 'x' }, [], null, 'x']],
  ['map with changed values', z.record(z.string().trim()), [{ a: 'x' }, { a: ' x ', b: 'y' }, { a: 'x', b: 1 }]],
  ['map with changed keys', z.record(z.string().trim(), z.string()), [{ ' a ': 'x' }, { a: 'x', ' b': 'y' }]],
  ['object with an optional field after a changed one', z.object({ c: z.number().default(7), b: z.string().optional() }), [{}, { b: 'x' }]],
  ['object without required fields', z.object({ length: z.number().optional() }), [{}, 'x', 7, true, [], null, undefined]],
  ['refined text', z.string().refine((text) => text !== 'x'), ['a', 'x', 7]],
  ['text with two refinements', z.string().superRefine((text, { addIssue }) => text === 'x' && addIssue({ code: 'custom' })), ['a', 'x']],
  ['transformed text', z.string().transform((text) => text.length), ['', 'ab', 7]],
  [
    'text with a transformation that can fail',
    z.string().transform((text, context) => {
      if (text === 'x') context.addIssue({ code: 'custom' });
      return text.length;
    }),
    ['ab', 'x'],
  ],
  ['preprocessed number', z.preprocess((value) => Number(value), z.number().min(1)), ['1', '0', 'x']],
  ['number from a text', z.string().regex(/^\d+$/).transform(Number).pipe(z.number().max(5)), ['5', '6', 'x', 5]],
  ['alternatives', z.union([z.string(), z.number()]), ['a', 1, true]],
];

test.each(rows)('a compiled schema returns the same result as zod: %s', (_name, schema, values) => {
  const check = compileSchema(schema);
  const outcomes = (parse: (value: unknown) => unknown): unknown[] => values.map((value) => [value, parse(value)]);
  const byZod = outcomes((value) => {
    const { success, data } = schema.safeParse(value);
    return success ? data : 'invalid';
  });
  const compiled = outcomes((value) => {
    const result = check(value);
    return result === invalidValueSentinel ? 'invalid' : result;
  });
  expect(compiled).toStrictEqual(byZod);
});

test('a compiled schema returns the input itself if the value is unchanged, and never changes its input', () => {
  const [object, list, map] = [{ a: 'x', c: 1 }, ['a'], { a: 'x' }];
  expect(compileSchema(stripping)(object)).toBe(object);
  expect(compileSchema(z.array(z.string().trim()))(list)).toBe(list);
  expect(compileSchema(z.record(z.string().trim()))(map)).toBe(map);
  const changed = Object.freeze({ a: 'x', b: ' y ', d: 1 });
  expect(compileSchema(stripping)(changed)).toEqual({ a: 'x', b: 'y', c: 7 });
  expect(compileSchema(z.array(z.string().trim()))(Object.freeze([' a ', 'b']))).toEqual(['a', 'b']);
});

const fastRows: readonly (readonly [name: string, schema: z.ZodTypeAny, values: readonly unknown[]])[] = [
  ['numbers', z.number().int().min(1).max(5), [1, 5]],
  ['texts', z.string().min(2).max(4).regex(/^a/).trim(), ['ab', 'abcd', 'a b']],
  [
    'timestamps until the 28th',
    z.string().datetime(),
    ['2030-01-01T00:00:00Z', '2030-12-28T23:59:59.123456Z', '2030-09-19T19:10:10Z', '2030-10-20T09:00:00.5Z'],
  ],
  ['booleans', z.boolean(), [true, false]],
  ['enumerations', z.enum(['a', 'b']), ['b']],
  [
    'nullable, optional and default values',
    z.object({ a: z.string().nullable(), b: z.string().optional(), c: z.number().default(1) }),
    [{ a: null }],
  ],
  ['lists and maps', z.array(z.record(z.number())).min(1).max(1), [[{ a: 1 }]]],
  ['refinements, transformations and pipelines', z.string().refine(Boolean).transform(Number).pipe(z.number()), ['5']],
];

test.each(fastRows)('a compiled schema does not call zod for valid values, because zod is slow: %s', (_name, schema, values) => {
  const check = compileSchema(schema);
  const parse = vi.spyOn(z.ZodType.prototype, '_parseSync');
  const results = values.map((value) => check(value));
  const calls = parse.mock.calls.length;
  parse.mockRestore();
  expect([results.includes(invalidValueSentinel), calls]).toEqual([false, 0]);
});

test('a compiled map rejects the key __proto__, which would change the prototype', () => {
  expect(compileSchema(z.record(z.unknown()))(JSON.parse('{"__proto__":{"a":1}}'))).toBe(invalidValueSentinel);
});
