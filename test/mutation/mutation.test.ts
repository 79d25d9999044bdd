import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Mutant } from './mutant.ts';
import { drawMutants, listMutants } from './mutants.ts';
import { ConfirmedFailures } from './confirmed-failures.ts';
import { RelatedTests } from './related-tests.ts';
import { printResult, printScore } from './report.ts';
import { sqlMutations } from './sql-mutations.ts';
import type { TestRun } from './working-copy.ts';

const root = join(import.meta.dirname, '../..');
let mutants: readonly Mutant[];
let related: RelatedTests;
beforeAll(async () => {
  mutants = await listMutants(root);
  related = await RelatedTests.read(root);
});

describe('mutants', () => {
  test('change the text that they specify, everywhere in the server except in migrations', async () => {
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

  test('are always the same for the same seed, and differ for another seed', () => {
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
  ['server/order-lifecycle/cancel-order-and-create-refund.ts', 'test/api/orders/cancel.test.ts'],
  ['server/oauth/pages/handlers/sign-in/reset-password.ts', 'test/oauth/accounts/reset-credentials.test.ts'],
  ['server/imports/store-upload.ts', 'test/api/product-imports/create.test.ts'],
  ['server/oauth/signing-keys/encrypted-jwk.ts', 'test/oauth/signing-keys/encrypted-jwk.test.ts'],
  ['server/order-exports/export-orders.ts', 'test/api/order-exports/'],
  ['server/mcp/send-in-process-request.ts', 'test/api/mcp/mcp.test.ts'],
  ['server/tasks/task-and-task-file.entity.ts', 'test/database/migrations.test.ts'],
])('a change to %s is tested with %s among the first twelve files', async (file, wanted) => {
  const mutant = mutants.find((one) => one.file === file);
  if (!mutant) throw new Error(`${file} has no mutants`);
  const ranked = related.rank(mutant, await readFile(join(root, file), 'utf8'));
  expect(ranked.slice(0, 12)).toContainEqual(expect.stringContaining(wanted));
});

test('each result names the test or the change, and the score excludes mutants that were not tested', () => {
  const mutant: Mutant = { file: 'server/a.ts', line: 3, operator: 'EqualityOperator', start: 0, end: 5, before: 'a < b', after: 'a <= b' };
  const results = [
    { mutant, verdict: { detectedBy: 'test/a.test.ts' } },
    { mutant, verdict: { detectedBy: 'the type check' } },
    { mutant, verdict: { detectedBy: undefined, passed: 12 } },
    { mutant, verdict: { detectedBy: undefined, passed: 0 } },
  ];
  expect(results.slice(0, 3).map(printResult)).toEqual([
    'detected by test/a.test.ts: server/a.ts:3 EqualityOperator\n',
    'detected by the type check: server/a.ts:3 EqualityOperator\n',
    'survived 12 test files: server/a.ts:3 EqualityOperator\n  - a < b\n  + a <= b\n',
  ]);
  expect(printScore(results, 7)).toBe(
    '1 mutants were not tested for lack of time.\n2 of 3 mutants detected (67 %), 1 of them by the type check; seed 7\n',
  );
});

describe('the failure of a test file counts', () => {
  const mutant: Mutant = { file: 'server/a.ts', line: 3, operator: 'EqualityOperator', start: 0, end: 5, before: 'a < b', after: 'a <= b' };
  const failed = (name: string, isSlow = false) => ({ outcome: 'failed' as const, testFile: 'test/a.test.ts', tests: [name], isSlow });
  const passed = { outcome: 'passed' as const };
  /** Creates a simulated working copy that returns the given results in order, one per test run, and records each run's time limit. */
  const copyOf = (runs: readonly TestRun[]) => {
    const waiting = [...runs];
    const limits: (number | undefined)[] = [];
    return {
      limits,
      test: async (_files: readonly string[], limitMs?: number): Promise<TestRun> => {
        limits.push(limitMs);
        const run = waiting.shift();
        if (!run) throw new Error('one run more than expected');
        return run;
      },
      with: async <T>(_mutant: Mutant, work: () => Promise<T>): Promise<T> => work(),
    };
  };
  const confirm = (first: TestRun, ...runs: TestRun[]) => new ConfirmedFailures().confirm(copyOf(runs), mutant, ['test/a.test.ts'], first);

  test('when the file passes without the mutant, and the same test fails again with it', async () => {
    expect(await confirm(failed('adds'), passed, failed('adds'))).toBe('confirmed');
    expect(await confirm(failed('adds'), passed, passed)).toBe('not repeated');
    expect(await confirm(failed('adds'), passed, failed('subtracts'))).toBe('not repeated');
    expect(await confirm({ outcome: 'timed out' }, passed, { outcome: 'timed out' })).toBe('confirmed');
    expect(await confirm({ outcome: 'timed out' }, passed, passed)).toBe('not repeated');
    expect(await confirm({ outcome: 'timed out' }, { outcome: 'timed out' })).toBe('fails without the mutant');
  });

  test('no longer after the file has failed without a mutant', async () => {
    const failures = new ConfirmedFailures();
    expect(await failures.confirm(copyOf([failed('adds')]), mutant, ['test/a.test.ts'], failed('adds'))).toBe('fails without the mutant');
    expect([failures.isUnreliable('test/a.test.ts'), failures.isUnreliable('test/b.test.ts')]).toEqual([true, false]);
  });

  test('without a new run of the unchanged source only when it passed before and the failed test was fast', async () => {
    const failures = new ConfirmedFailures();
    failures.addPassing(['test/a.test.ts']);
    expect(await failures.confirm(copyOf([failed('adds')]), mutant, ['test/a.test.ts'], failed('adds'))).toBe('confirmed');
    const slow = copyOf([failed('adds', true)]);
    expect(await failures.confirm(slow, mutant, ['test/a.test.ts'], failed('adds', true))).toBe('fails without the mutant');
  });
});
