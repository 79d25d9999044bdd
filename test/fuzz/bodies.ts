import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { hostileJson, hostileName, hostileText } from './hostile-values.ts';
import { Placeholder } from './placeholders.ts';

/** A request body as text, with an optional encoding. */
export type EncodedBody = {
  readonly text: string;
  readonly as?: 'gzip' | 'deflate' | 'br' | 'utf16le' | 'latin1' | 'bom' | 'not gzip';
};

/** Generates bodies with one invalid part: a replaced, missing, additional or wrapped value. */
export const invalidBody = (valid: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(valid, fc.nat(), fc.constantFrom('swap', 'drop', 'add', 'wrap'), hostileJson, hostileName)
        .map(([body, at, how, value, name]) => makeInvalid(body, at, how, value, name)),
    },
    { weight: 1, arbitrary: hostileJson },
  );

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null && !(value instanceof Placeholder);

/** Counts the properties and items of a value at all levels. */
const countParts = (value: unknown): number =>
  isContainer(value) ? Object.values(value).reduce<number>((sum, part) => sum + 1 + countParts(part), 0) : 0;

function makeInvalid(body: unknown, at: number, how: 'swap' | 'drop' | 'add' | 'wrap', value: unknown, name: string): unknown {
  const places = countParts(body);
  if (places === 0) return value;
  let left = at % places;
  const visit = (tree: unknown): unknown => {
    if (!isContainer(tree)) return tree;
    const parts = Object.entries(tree).flatMap(([key, part]): [string, unknown][] => {
      if (left-- !== 0) return [[key, visit(part)]];
      if (how === 'drop') return [];
      if (how === 'add')
        return isContainer(part)
          ? [[key, addPart(part, name, value)]]
          : [
              [key, part],
              [name, value],
            ];
      return [[key, how === 'wrap' ? [part] : value]];
    });
    return Array.isArray(tree) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
  };
  return visit(body);
}

const addPart = (tree: object, name: string, value: unknown): unknown =>
  Array.isArray(tree) ? [...tree, value] : Object.fromEntries([...Object.entries(tree), [name, value]]);

/** Generates bodies that are raw text, most of which are invalid JSON. */
export const rawBody = (valid: Arbitrary<unknown>): Arbitrary<EncodedBody> => {
  const text = valid.map((body) =>
    typeof body === 'string' ? body : JSON.stringify(body, (_, part: unknown) => (part instanceof Placeholder ? 1 : part)),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.tuple(text, fc.nat()).map(([whole, at]) => ({ text: whole.slice(0, at % (whole.length + 1)) })) },
    { weight: 3, arbitrary: fc.tuple(text, fc.nat(), hostileText).map(([whole, at, piece]) => ({ text: insertText(whole, at, piece) })) },
    {
      weight: 2,
      arbitrary: fc.tuple(text, fc.constantFrom(...numerals)).map(([whole, numeral]) => ({ text: whole.replace(/\b\d+\b/, numeral) })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(text, fc.constantFrom('gzip', 'deflate', 'br', 'utf16le', 'latin1', 'bom', 'not gzip'))
        .map(([whole, as]) => ({ text: whole, as })),
    },
    { weight: 2, arbitrary: fc.constantFrom(...texts).map((whole) => ({ text: whole })) },
    { weight: 1, arbitrary: fc.nat({ max: 60_000 }).map((depth) => ({ text: '['.repeat(depth) })) },
    { weight: 1, arbitrary: fc.nat({ max: 9_000 }).map((depth) => ({ text: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}` })) },
    { weight: 1, arbitrary: hostileText.map((whole) => ({ text: whole })) },
  );
};

const insertText = (whole: string, at: number, piece: string): string => {
  const place = at % (whole.length + 1);
  return whole.slice(0, place) + piece + whole.slice(place);
};

const numerals = [
  '1e400',
  '-1e400',
  '1E-400',
  '-0',
  '00',
  '0x1',
  '1.',
  '.5',
  'NaN',
  'Infinity',
  '1'.repeat(400),
  '1.000000000000000000001',
  '9007199254740993',
  '1n',
];

const texts = [
  '',
  ' ',
  'null',
  '[]',
  '{}',
  '"x"',
  '7',
  '{"a":1,"a":2}',
  '{"__proto__":{"admin":true}}',
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  "{'name':1}",
  '{"a":1,}',
  '// x\n{}',
  'name=x&quantity=1',
  '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>',
  '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
  `{"note":"${'x'.repeat(1_100_000)}"}`,
  'a,b\n1',
  '"unclosed\nquote,',
  `${'sku,'.repeat(3_000)}\n`,
];
