import { afterAll, describe, expect, test } from 'vitest';
import { compareDocuments, assertComparisonWorks, type Impact } from './compare-documents.ts';
import { breakingPairs, compatiblePairs, debatablePairs, type DocumentPair } from './document-pairs.ts';
import { readDocuments } from './documents.ts';
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
  test('there are 28 of them', () => expect(breakingPairs).toHaveLength(28));
  test.each(breakingPairs)('$name', async (pair) => {
    expect(await worstOf(pair)).toBe('major');
    counts.detected++;
  });
});

describe('a compatible change is accepted', () => {
  test('there are 8 of them', () => expect(compatiblePairs).toHaveLength(8));
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

  test('is not accepted by a comparison that detects nothing', async () => {
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
