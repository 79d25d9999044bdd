import type { Mutant } from './mutant.ts';
import { runLimitMs, type TestRun, type WorkingCopy } from './working-copy.ts';

type Confirmation = 'confirmed' | 'not repeated' | 'fails without the mutant';

/** A time limit counts only when the unchanged source needs less than this share of it. */
const limitFactor = 3;

/**
 * Tells failures that a mutant causes from those of a slow machine: the test files must pass without the mutant, and the same test must fail
 * again with it.
 */
export class ConfirmedFailures {
  readonly #passing = new Set<string>();
  readonly #unreliable = new Set<string>();

  /** Files that passed with a mutant: they do not fail on every source. */
  addPassing(files: readonly string[]): void {
    for (const file of files) this.#passing.add(file);
  }

  /** Whether a test file failed without any mutant, so that its failures mean nothing. */
  isUnreliable(file: string): boolean {
    return this.#unreliable.has(file);
  }

  async confirm(copy: Pick<WorkingCopy, 'test' | 'with'>, mutant: Mutant, files: readonly string[], first: TestRun): Promise<Confirmation> {
    let limitMs = runLimitMs;
    if (first.outcome !== 'failed' || first.isSlow || !files.every((file) => this.#passing.has(file))) {
      const started = performance.now();
      const unchanged = await copy.test(files);
      if (unchanged.outcome !== 'passed') {
        this.#exclude(unchanged.outcome === 'failed' && unchanged.testFile !== undefined ? [unchanged.testFile] : files);
        return 'fails without the mutant';
      }
      limitMs = Math.max(runLimitMs, limitFactor * (performance.now() - started));
      this.addPassing(files);
    }
    const second = await copy.with(mutant, () => copy.test(files, limitMs));
    return isSameFailure(first, second) ? 'confirmed' : 'not repeated';
  }

  #exclude(files: readonly string[]): void {
    for (const file of files) {
      this.#unreliable.add(file);
      process.stderr.write(`${file} fails without any change, and is not counted\n`);
    }
  }
}

/** Both runs timed out, or failed in the same test; files that could not be loaded have no failed test. */
function isSameFailure(one: TestRun, other: TestRun): boolean {
  if (one.outcome !== 'failed' || other.outcome !== 'failed') return one.outcome === 'timed out' && other.outcome === 'timed out';
  return (
    one.testFile === other.testFile &&
    (one.tests.length === 0 ? other.tests.length === 0 : one.tests.some((test) => other.tests.includes(test)))
  );
}
