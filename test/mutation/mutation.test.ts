import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Mutant } from './mutant.ts';
import { drawMutants, listMutants } from './mutants.ts';
import { RelatedTests } from './related-tests.ts';
import { printReport } from './report.ts';
import { sqlMutations } from './sql-mutations.ts';

const root = join(import.meta.dirname, '../..');
let mutants: readonly Mutant[];
beforeAll(async () => {
  mutants = await listMutants(root);
});

describe('mutants', () => {
  test('change the text that they name, everywhere in the server but in migrations', async () => {
    const files = new Set(mutants.map(({ file }) => file));
    expect(files.size).toBeGreaterThan(200);
    expect([...files].filter((file) => file.includes('/migrations/'))).toEqual([]);
    for (const { file, start, end, before, after, line } of drawMutants(mutants, 200, 1)) {
      const content = await readFile(join(root, file), 'utf8');
      expect(content.slice(start, end)).toBe(before);
      expect(content.slice(0, start).split('\n').length).toBe(line);
      expect(after).not.toBe(before);
    }
  });

  test('of a seed are the same each time, and others with another seed', () => {
    expect(drawMutants(mutants, 20, 7)).toEqual(drawMutants(mutants, 20, 7));
    expect(drawMutants(mutants, 20, 8)).not.toEqual(drawMutants(mutants, 20, 7));
  });

  test('change comparisons, conditions and locks in SQL, but not the TypeScript in its substitutions', () => {
    const source = 'const text = sql`select id from orders where id <= ${a and b} and paid is null for update skip locked`;';
    const changed = sqlMutations('a.ts', source).map(({ start, end, after }) => source.slice(0, start) + after + source.slice(end));
    expect(changed).toContain(source.replace(' <= ', ' < '));
    expect(changed).toContain(source.replace('} and ', '} or '));
    expect(changed).toContain(source.replace(' is null', ' is not null'));
    expect(changed).toContain(source.replace(' for update skip locked', ''));
    expect(changed).toContain(source.replace(' skip locked', ''));
    expect(changed.filter((text) => !text.includes('${a and b}'))).toEqual([]);
  });
});

test.each([
  ['server/order-lifecycle/cancel-order.ts', 'test/api/orders/cancel.test.ts'],
  ['server/oauth/pages/handlers/reset-password.ts', 'test/oauth/accounts/reset-credentials.test.ts'],
  ['server/order-exports/export-orders.ts', 'test/api/order-exports/'],
])('a change to %s is tested with %s among the first twelve files', async (file, wanted) => {
  const mutant = mutants.find((one) => one.file === file);
  if (!mutant) throw new Error(`${file} has no mutants`);
  const ranked = (await RelatedTests.read(root)).rank(mutant, await readFile(join(root, file), 'utf8'));
  expect(ranked.slice(0, 12)).toContainEqual(expect.stringContaining(wanted));
});

test('the report names each survivor with its change, and leaves out mutants that were not tested', () => {
  const mutant: Mutant = { file: 'server/a.ts', line: 3, operator: 'EqualityOperator', start: 0, end: 5, before: 'a < b', after: 'a <= b' };
  const report = printReport(
    [
      { mutant, verdict: { noticedBy: 'test/a.test.ts' } },
      { mutant, verdict: { noticedBy: 'the type check' } },
      { mutant, verdict: { noticedBy: undefined, passed: 12 } },
      { mutant, verdict: { noticedBy: undefined, passed: 0 } },
    ],
    7,
  );
  expect(report).toBe(
    [
      'survived 12 test files: server/a.ts:3 EqualityOperator',
      '  - a < b',
      '  + a <= b',
      '1 mutants were not tested: no time was left.',
      '2 of 3 mutants noticed (67 %), 1 of them only by the type check; seed 7',
      '',
    ].join('\n'),
  );
});
