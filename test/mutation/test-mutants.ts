import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgressBar } from '../../server/command/progress-bar.ts';
import type { Mutant } from './mutant.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { RelatedTests } from './related-tests.ts';
import { ConfirmedFailures } from './confirmed-failures.ts';
import { DeadlineExceededError, WorkingCopy } from './working-copy.ts';

export type Verdict =
  | { readonly detectedBy: string }
  /** Number of test files that passed; 0 if there was no time left to test the mutant. */
  | { readonly detectedBy: undefined; readonly passed: number };
export type Result = { readonly mutant: Mutant; readonly verdict: Verdict };

/** Number of test files in each round; mutants that survive a round are tested in the next round. */
const rounds = [1, 3, 8, 12];

type Options = {
  readonly workers: number;
  readonly minutes: number;
  /** Called with each result as soon as it is known, because testing a sample takes a long time. */
  readonly onResult: (result: Result) => void;
};
type Pending = { readonly mutant: Mutant; waiting: readonly string[]; passed: number; detectedBy?: string };

/**
 * Runs the type check with each mutant, and then the related test files, for at most `minutes`.
 */
export async function testMutants(
  root: string,
  mutants: readonly Mutant[],
  { workers, minutes, onResult }: Options,
): Promise<readonly Result[]> {
  const deadline = performance.now() + minutes * 60_000;
  await using cleanUps = new AsyncDisposableStack();
  const postgresql = await startPostgresql(await findPostgresql());
  cleanUps.defer(postgresql.stop);
  const copies = await Promise.all(Array.from({ length: workers }, () => WorkingCopy.create(root, postgresql.url, deadline)));
  cleanUps.defer(async () => void (await Promise.all(copies.map((copy) => copy.remove()))));
  const copiesInUse = new CopiesInUse(copies);
  const related = await RelatedTests.read(root);
  const pending: Pending[] = await Promise.all(
    mutants.map(async (mutant) => ({
      mutant,
      passed: 0,
      waiting: related.rank(mutant, await readFile(join(root, mutant.file), 'utf8')),
    })),
  );
  if (await copies[0]?.failsTypeCheck()) process.stderr.write('the type check fails without any change, and is not counted\n');
  else
    await copiesInUse.forEach('type check', pending, async (copy, one) => {
      if ((await untilDeadline(() => copy.with(one.mutant, () => copy.failsTypeCheck()))) !== true) return;
      one.detectedBy = 'the type check';
      onResult(toResult(one));
    });
  const failures = new ConfirmedFailures();
  for (const [round, size] of rounds.entries()) {
    const survivors = pending.filter(({ detectedBy }) => detectedBy === undefined);
    await copiesInUse.forEach(`round ${round + 1}`, survivors, async (copy, one) => {
      await untilDeadline(() => testOne(copy, one, size, failures));
      if (one.detectedBy !== undefined) onResult(toResult(one));
    });
  }
  for (const one of pending) if (one.detectedBy === undefined && one.passed > 0) onResult(toResult(one));
  return pending.map(toResult);
}

/** Returns undefined if the deadline was exceeded. */
const untilDeadline = <T>(work: () => Promise<T>): Promise<T | undefined> =>
  work().catch((error: unknown) => {
    if (error instanceof DeadlineExceededError) return undefined;
    throw error;
  });

const toResult = ({ mutant, detectedBy, passed }: Pending): Result => ({
  mutant,
  verdict: detectedBy === undefined ? { detectedBy, passed } : { detectedBy },
});

async function testOne(copy: WorkingCopy, one: Pending, size: number, failures: ConfirmedFailures): Promise<void> {
  let files = one.waiting.filter((file) => !failures.isUnreliable(file)).slice(0, size);
  one.waiting = one.waiting.filter((file) => !files.includes(file));
  while (files.length > 0) {
    const run = await copy.with(one.mutant, () => copy.test(files));
    if (run.outcome === 'passed') {
      one.passed += files.length;
      failures.addPassing(files);
      return;
    }
    const failed = run.outcome === 'failed' && run.testFile !== undefined ? [run.testFile] : files;
    const verdict = await failures.confirm(copy, one.mutant, failed, run);
    if (verdict === 'confirmed') {
      one.detectedBy = run.outcome === 'timed out' ? 'a time limit' : (failed[0] ?? '');
      return;
    }
    if (verdict === 'not repeated') one.passed += failed.length;
    files = files.filter((file) => !failed.includes(file));
  }
}

/** Assigns each task a working copy that no other task is using. */
class CopiesInUse {
  readonly #copies: readonly WorkingCopy[];
  readonly #progress = createProgressBar(process.stderr);

  constructor(copies: readonly WorkingCopy[]) {
    this.#copies = copies;
  }

  async forEach<T>(stage: string, items: readonly T[], work: (copy: WorkingCopy, item: T) => Promise<void>): Promise<void> {
    const waiting = [...items];
    let done = 0;
    const takeNext = async (copy: WorkingCopy): Promise<void> => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        await work(copy, item);
        done += 1;
        this.#progress(stage, done, items.length);
      }
    };
    await Promise.all(this.#copies.map(takeNext));
  }
}
