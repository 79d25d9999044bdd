import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { compareDocuments, assertComparisonWorks, type Impact } from './compare-documents.ts';
import { breakingPairs, compatiblePairs, debatablePairs, type DocumentPair } from './document-pairs.ts';
import { readDocuments } from './documents.ts';
import { equivalentPatterns } from './equivalent-patterns.ts';
import { nextVersion } from './next-version.ts';

const worstOf = async ({ before, after }: DocumentPair): Promise<Impact | undefined> => {
  const found = new Set((await compareDocuments(before, after)).map(({ impact }) => impact));
  return (['major', 'minor', 'patch'] as const).find((impact) => found.has(impact));
};
const counts = { detected: 0, accepted: 0 };
afterAll(() => {
  process.stdout.write(
    `breaking changes detected: ${counts.detected} of ${breakingPairs.length}; compatible changes accepted: ${counts.accepted} of ${compatiblePairs.length}\n`,
  );
});

describe('a change that breaks clients is detected', () => {
  test('in each of 28 cases', () => expect(breakingPairs).toHaveLength(28));
  test.each(breakingPairs)('$name', async (pair) => {
    expect(await worstOf(pair)).toBe('major');
    counts.detected++;
  });
});

describe('a compatible change is accepted', () => {
  test('in each of 8 cases', () => expect(compatiblePairs).toHaveLength(8));
  test.each(compatiblePairs)('$name', async (pair) => {
    expect(await worstOf(pair)).toMatch(/^(minor|patch)$/);
    counts.accepted++;
  });
});

describe('debatable changes', () => {
  test.each([
    // Clients may assume that there are no other values, unless the enumeration is declared open.
    [debatablePairs[0], 'major'],
    // Generated clients name their methods after the operation ID.
    [debatablePairs[1], 'major'],
    [debatablePairs[2], 'patch'],
  ] as const)('$0.name', async (pair, impact) => {
    if (!pair) throw new Error('no such pair');
    expect(await worstOf(pair)).toBe(impact);
  });

  test('an additional value of an open enumeration', async () => {
    const say = (document: unknown): unknown =>
      JSON.parse(JSON.stringify(document).replace('"enum":["pending"', '"x-open-enum":true,"enum":["pending"'));
    const [pair] = debatablePairs;
    expect(await worstOf({ name: '', before: say(pair?.before), after: say(pair?.after) })).toBe('minor');
  });
});

describe('an object that becomes one of several more precise objects', () => {
  const documentWith = (schemas: object): unknown => ({
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/events': {
        get: {
          operationId: 'events.get',
          responses: { 200: { description: 'ok', content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } } } },
        },
      },
    },
    components: { schemas },
  });
  const event = (type: object, object: object, required = ['id', 'type', 'data']): object => {
    const data = { type: 'object', required: ['object'], properties: { object: { type: 'object', ...object } } };
    return { type: 'object', required, properties: { id: { type: 'integer' }, type: { type: 'string', ...type }, data } };
  };
  const base = documentWith({ Event: event({}, { additionalProperties: {} }) });
  const alternatives = (order: object, other: object): unknown =>
    documentWith({
      Event: { oneOf: [{ $ref: '#/components/schemas/KnownEvent' }, { $ref: '#/components/schemas/OtherEvent' }] },
      KnownEvent: { oneOf: [{ $ref: '#/components/schemas/OrderEvent' }] },
      OrderEvent: order,
      OtherEvent: other,
    });
  const orderEvent = event({ enum: ['order.paid'] }, { properties: { total: { type: 'integer' } } });
  const otherEvent = event({ not: { enum: ['order.paid'] } }, { additionalProperties: {} });

  test('is compatible if every alternative has all fields', async () => {
    expect(await worstOf({ name: '', before: base, after: alternatives(orderEvent, otherEvent) })).not.toBe('major');
  });

  test.each([
    ['lacks a field', { ...orderEvent, properties: { id: { type: 'integer' } } }, otherEvent],
    ['does not require a field', orderEvent, event({}, { additionalProperties: {} }, ['id', 'type'])],
    ['has another type of a field', orderEvent, JSON.parse(JSON.stringify(otherEvent).replace('"integer"', '"string"'))],
  ])('breaks clients if an alternative %s', async (_, order, other) => {
    expect(await worstOf({ name: '', before: base, after: alternatives(order, other) })).toBe('major');
  });
});

describe('a pattern in another syntax', () => {
  const documentWith = (pattern: string): unknown => ({
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/users': {
        post: {
          operationId: 'users.create',
          requestBody: {
            content: { 'application/json': { schema: { type: 'object', properties: { email: { type: 'string', pattern } } } } },
          },
          responses: { 204: { description: 'ok' } },
        },
      },
    },
  });
  const worstChange = (before: string, after: string): Promise<Impact | undefined> =>
    worstOf({ name: '', before: documentWith(before), after: documentWith(after) });

  test.each(equivalentPatterns)('%s is compatible if the new pattern accepts the same strings', async (before, after) => {
    const [old, portable] = [new RegExp(before, before.includes(String.raw`\p`) ? 'u' : ''), new RegExp(after)];
    const characters = [
      'a',
      '.',
      '@',
      '/',
      ':',
      '[',
      ']',
      '\\',
      '"',
      '=',
      '+',
      ' ',
      '\n',
      '\t',
      '\u0000',
      '\u0085',
      '\u009f',
      '\u00a0',
      'é',
      '😀',
    ];
    const strings = fc.oneof(
      fc.string({ unit: fc.constantFrom(...characters), maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...characters), maxLength: 6 }).map((text) => `${text}a@b.c`),
      fc.string({ unit: fc.constantFrom(...characters), maxLength: 6 }).map((text) => `data:image/png;base64,a${text}`),
      fc.integer({ min: 0, max: 2000 }).map((length) => `https://${'x'.repeat(length)}`),
      fc.constantFrom(999, 1000, 1001, 1991, 1992, 1993).map((length) => `https://${'x'.repeat(length)}`),
    );
    fc.assert(
      fc.property(strings, (text) => old.test(text) === portable.test(text)),
      { numRuns: 5_000 },
    );
    expect(await worstChange(before, after)).not.toBe('major');
  });

  test('breaks clients if the new pattern is not known to accept the same strings', async () => {
    expect(await worstChange('^[a-z]+$', '^[a-y]+$')).toBe('major');
    const [[, portable] = ['', '']] = equivalentPatterns;
    expect(await worstChange('^[a-z]+$', portable)).toBe('major');
  });
});

describe('a field that becomes nullable', () => {
  const names = { after: 'x-null-in-replay', key: 'Idempotency-Key' };
  /** Returns a document in which the operation that creates a key returns a secret. */
  const documentWith = (secret: object, ...parameters: string[]): unknown => ({
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0' },
    servers: [{ url: 'https://shop.example' }],
    paths: {
      '/keys': {
        post: {
          operationId: 'keys.create',
          security: [],
          parameters: parameters.map((name) => ({ name, in: 'header', schema: { type: 'string' } })),
          responses: { 201: { description: 'Created', content: { 'application/json': { schema: { $ref: '#/components/schemas/Key' } } } } },
        },
      },
    },
    components: { schemas: { Key: { type: 'object', required: ['secret'], properties: { secret } } } },
  });
  const [text, nullable] = [{ type: 'string' }, { type: ['string', 'null'], [names.after]: 'Create another one.' }];

  test.each([
    ['is compatible, if it is null only in replays, which were not possible before', [], [names.key], nullable, 'minor'],
    ['breaks clients that already send a key', [names.key], [names.key], nullable, 'major'],
    ['breaks clients without a key', [], [], nullable, 'major'],
    ['breaks clients, if it is not declared as null only in replays', [], [names.key], { type: ['string', 'null'] }, 'major'],
    ['breaks clients, if its type changes as well', [], [names.key], { ...nullable, type: ['integer', 'null'] }, 'major'],
  ] as const)('%s', async (name, before, after, secret, impact) => {
    expect(await worstOf({ name, before: documentWith(text, ...before), after: documentWith(secret, ...after) })).toBe(impact);
  });
});

describe('the contract itself', () => {
  const changed = async (edit: (text: string) => string): Promise<Impact[]> => {
    const { baseline } = await readDocuments();
    const text = JSON.stringify(baseline);
    const after = edit(text);
    expect(after).not.toBe(text);
    return (await compareDocuments(baseline, JSON.parse(after))).map(({ impact }) => impact);
  };

  test('is compatible with the released contract', async () => {
    const { baseline, current } = await readDocuments();
    expect((await compareDocuments(baseline, current)).filter(({ impact }) => impact === 'major')).toEqual([]);
  });

  test('is incompatible after removing a field, a scope or a problem code', async () => {
    expect(await changed((text) => text.replaceAll('"item_count":', '"line_count":'))).toContain('major');
    expect(await changed((text) => text.replaceAll('[{"oauth2":["orders.read"]}]', '[{"oauth2":["orders.write"]}]'))).toContain('major');
    expect(await changed((text) => text.replaceAll(/(?<=["/])price_changed"/g, 'other_price"'))).toContain('major');
  });

  test('is rejected by a comparison that detects nothing', async () => {
    await expect(assertComparisonWorks({ ...Object(breakingPairs[0]?.before), paths: {} })).rejects.toThrow('the comparison does not work');
  });
});

test.each([
  [['patch', 'minor'], '1.3.0'],
  [['patch'], '1.2.4'],
  [[], '1.2.3'],
  [['minor', 'major'], undefined],
] as const)('the version after 1.2.3 with the changes %j is %s', (impacts, expected) => {
  expect(
    nextVersion(
      '1.2.3',
      impacts.map((impact) => ({ impact, path: '#', message: '' })),
    ),
  ).toBe(expected);
});
