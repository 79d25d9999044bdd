import type { Mutant } from './mutant.ts';
import { runLimitMs, type TestRun, type WorkingCopy } from './working-copy.ts';

type Confirmation = 'confirmed' | 'not repeated' | 'fails without the mutant';

/**
 * A timeout counts as a failure only if the time limit is at least this multiple of the time that the same tests take without the mutant.
 */
const limitFactor = 3;

/**
 * Distinguishes failures caused by a mutant from those caused by a slow machine: the test files must pass without the mutant, and the same
 * test must fail again with the mutant.
 */
export class ConfirmedFailures {
  readonly #passing = new Set<string>();
  readonly #unreliable = new Set<string>();

  /** Records test files that passed with a mutant, which proves that they do not always fail. */
  addPassing(files: readonly string[]): void {
    for (const file of files) this.#passing.add(file);
  }

  /** Returns whether a test file failed without a mutant. The failures of such a file prove nothing. */
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

/** Returns whether both runs timed out, or both runs failed in the same test. Test files that could not be loaded have no failed tests. */
function isSameFailure(one: TestRun, other: TestRun): boolean {
  if (one.outcome !== 'failed' || other.outcome !== 'failed') return one.outcome === 'timed out' && other.outcome === 'timed out';
  return (
    one.testFile === other.testFile &&
    (one.tests.length === 0 ? other.tests.length === 0 : one.tests.some((test) => other.tests.includes(test)))
  );
}
