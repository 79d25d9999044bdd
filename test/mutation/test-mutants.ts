import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgressBar } from '../../server/command/progress-bar.ts';
import type { Mutant } from './mutant.ts';
import { RelatedTests } from './related-tests.ts';
import { WorkingCopy } from './working-copy.ts';

export type Verdict =
  | { readonly noticedBy: string }
  /** Number of the test files that passed; 0: there was no time left to test the mutant. */
  | { readonly noticedBy: undefined; readonly passed: number };
export type Result = { readonly mutant: Mutant; readonly verdict: Verdict };

/** Test files of each round; survivors of one round are tested in the next. */
const rounds = [4, 8, 12];
/** Share of the time for test runs: the rest is for the type check, and for test files that may fail without any change. */
const testShare = 0.85;

type Pending = { readonly mutant: Mutant; readonly tests: readonly string[]; passed: number; noticedBy?: string };

/** Tests each mutant with its related test files. Takes `minutes`, and as long as the run that is in progress then. */
export async function testMutants(
  root: string,
  mutants: readonly Mutant[],
  { workers, minutes }: { readonly workers: number; readonly minutes: number },
): Promise<readonly Result[]> {
  const deadline = performance.now() + minutes * 60_000 * testShare;
  const copies = await Promise.all(Array.from({ length: workers }, () => WorkingCopy.create(root)));
  const copiesInUse = new CopiesInUse(copies);
  try {
    const related = await RelatedTests.read(root);
    const pending: Pending[] = await Promise.all(
      mutants.map(async (mutant) => ({ mutant, passed: 0, tests: related.rank(mutant, await readFile(join(root, mutant.file), 'utf8')) })),
    );
    for (const [round, size] of rounds.entries()) {
      const survivors = pending.filter(({ noticedBy }) => noticedBy === undefined);
      await copiesInUse.forEach(`round ${round + 1}`, survivors, async (copy, one) => {
        if (performance.now() < deadline) await testOne(copy, one, size);
      });
    }
    await discountFailingTests(copiesInUse, pending);
    const survivors = pending.filter(({ noticedBy }) => noticedBy === undefined);
    await copiesInUse.forEach('types', survivors, async (copy, one) => {
      if (await copy.with(one.mutant, () => copy.failsTypeCheck())) one.noticedBy = 'the type check';
    });
    return pending.map(({ mutant, noticedBy, passed }) => ({
      mutant,
      verdict: noticedBy === undefined ? { noticedBy, passed } : { noticedBy },
    }));
  } finally {
    await Promise.all(copies.map((copy) => copy.remove()));
  }
}

async function testOne(copy: WorkingCopy, one: Pending, size: number): Promise<void> {
  const files = one.tests.slice(one.passed, one.passed + size);
  const run = await copy.with(one.mutant, () => copy.test(files));
  if (run.outcome === 'passed') one.passed += files.length;
  else one.noticedBy = run.outcome === 'failed' ? run.testFile : 'a time limit';
}

/** A test file that also fails without any change notices nothing: its mutants count as survivors. */
async function discountFailingTests(copies: CopiesInUse, pending: readonly Pending[]): Promise<void> {
  const seenPassing = new Set(pending.flatMap(({ tests, passed }) => tests.slice(0, passed)));
  const unproven = [...new Set(pending.flatMap(({ noticedBy }) => noticedBy ?? []))].filter(
    (file) => file.endsWith('.test.ts') && !seenPassing.has(file),
  );
  await copies.forEach('unchanged', unproven, async (copy, file) => {
    if ((await copy.test([file])).outcome === 'passed') return;
    process.stderr.write(`${file} fails without any change, and is not counted\n`);
    for (const one of pending) if (one.noticedBy === file) delete one.noticedBy;
  });
}

/** Gives each piece of work a copy that nothing else uses at that time. */
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
