import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Mutant } from './mutant.ts';

/**
 * Result of running test files. A failed run names the first failed test file and its failed tests (none if the file could not be loaded).
 * `isSlow`: one of these tests took so long that a slow machine may be the cause.
 */
export type TestRun =
  | { readonly outcome: 'passed' | 'timed out' }
  | { readonly outcome: 'failed'; readonly testFile: string | undefined; readonly tests: readonly string[]; readonly isSlow: boolean };

export const runLimitMs = 360_000;
/** Test time limits, twice those in `vitest.config.ts`, because other programs may use the CPU during a long run. */
const timeLimitFlags = ['--testTimeout', '40000', '--hookTimeout', '120000'];

const slowTestMs = 5_000;
/** Exit codes that `tsc` returns for type errors. */
const compilerErrorExitCodes: ReadonlySet<number> = new Set([1, 2]);
/** Exit code that shells report for a process killed by SIGKILL. */
const killedExitCode = 137;

const assertionResult = z.object({ fullName: z.string(), status: z.string(), duration: z.number().nullish() });
const jsonReport = z.object({
  testResults: z.array(z.object({ name: z.string(), status: z.string(), assertionResults: z.array(assertionResult) })),
});

/** The time limit for the whole sample has been reached. */
export class DeadlineExceededError extends Error {}

/** A copy of the work tree in which one mutant at a time is tested. */
export class WorkingCopy {
  readonly #directory: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #deadline: number;

  private constructor(directory: string, databaseUrl: string, deadline: number) {
    this.#directory = directory;
    this.#deadline = deadline;
    // oxlint-disable-next-line node/no-process-env -- the test runs inherit this program's environment
    this.#environment = { ...process.env, DATABASE_URL: databaseUrl };
  }

  /**
   * @param databaseUrl PostgreSQL server that all test runs share, because starting a server takes more time than many test files need
   * @param deadline time, as returned by `performance.now()`, at which running programs are stopped
   */
  static async create(root: string, databaseUrl: string, deadline: number): Promise<WorkingCopy> {
    const directory = await mkdtemp(join(tmpdir(), 'mandate-mutation-'));
    // The built files of the packages are copied, because tests need them. Only the release is excluded.
    const isCopied = (path: string): boolean => !/\/(?:node_modules|\.git)$/.test(path) && path !== join(root, 'dist');
    await cp(root, directory, { recursive: true, filter: isCopied });
    await linkPackages(root, directory);
    return new WorkingCopy(directory, databaseUrl, deadline);
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Applies the mutant while `work` runs. */
  async with<T>({ file, start, end, after }: Mutant, work: () => Promise<T>): Promise<T> {
    const path = join(this.#directory, file);
    const original = await readFile(path, 'utf8');
    await writeFile(path, original.slice(0, start) + after + original.slice(end));
    try {
      return await work();
    } finally {
      await writeFile(path, original);
    }
  }

  /**
   * Runs the test files on PostgreSQL until the first failure. On PGlite, the tests would take longer, and those that need several
   * connections would be skipped.
   */
  async test(files: readonly string[], limitMs = runLimitMs): Promise<TestRun> {
    const report = join(this.#directory, 'mutation-report.json');
    await rm(report, { force: true });
    const flags = [
      '--project',
      'postgresql',
      '--bail',
      '1',
      '--retry',
      '0',
      '--maxWorkers',
      '1',
      '--reporter=json',
      `--outputFile=${report}`,
    ];
    const exitCode = await this.#run('vitest/vitest.mjs', ['run', ...flags, ...timeLimitFlags, ...files], limitMs);
    if (exitCode === undefined) return { outcome: 'timed out' };
    if (exitCode === 0) return { outcome: 'passed' };
    const { testResults } = await readReport(report);
    const failed = testResults.find(({ status }) => status === 'failed');
    const tests = failed?.assertionResults.filter(({ status }) => status === 'failed') ?? [];
    return {
      outcome: 'failed',
      testFile: failed?.name.slice(this.#directory.length + 1),
      tests: tests.map(({ fullName }) => fullName),
      isSlow: tests.length === 0 || tests.some(({ duration }) => (duration ?? slowTestMs) >= slowTestMs),
    };
  }

  /** Returns whether the type check reports errors. A compiler crash or timeout does not count as an error. */
  async failsTypeCheck(): Promise<boolean> {
    // After the first check, the compiler checks only the files that the mutant affects.
    const flags = ['--incremental', '--tsBuildInfoFile', join(this.#directory, 'mutation.tsbuildinfo')];
    const exitCode = await this.#run('typescript/bin/tsc', ['-p', '.', ...flags], runLimitMs);
    return exitCode !== undefined && compilerErrorExitCodes.has(exitCode);
  }

  /**
   * Runs a package's program and returns its exit code. On a timeout, kills the program and its children, and returns `undefined`.
   * @throws {DeadlineExceededError} if the program was stopped at the deadline
   */
  async #run(program: string, parameters: readonly string[], limitMs: number): Promise<number | undefined> {
    const remainingMs = this.#deadline - performance.now();
    if (remainingMs <= 0) throw new DeadlineExceededError();
    const path = join(this.#directory, 'node_modules', program);
    const options = { cwd: this.#directory, env: this.#environment, stdio: 'ignore', detached: true } as const;
    const child = spawn(process.execPath, [path, ...parameters], options);
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        if (child.pid !== undefined) killGroup(child.pid);
      },
      Math.min(limitMs, remainingMs),
    );
    await once(child, 'exit');
    clearTimeout(timer);
    // servers that a failed test left behind
    if (child.pid !== undefined) killGroup(child.pid);
    if (isLate && performance.now() >= this.#deadline) throw new DeadlineExceededError();
    return isLate ? undefined : (child.exitCode ?? killedExitCode);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // the group has exited
  }
}

/** A run that could not start writes no report. */
async function readReport(path: string): Promise<z.infer<typeof jsonReport>> {
  try {
    return jsonReport.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return { testResults: [] };
  }
}

/** Links all installed packages, and links the project's own packages to those in the copy. */
async function linkPackages(root: string, directory: string): Promise<void> {
  for (const workspace of ['.', 'contract', 'server', 'client-sdk', 'cli', 'examples/bff', 'examples/storefront']) {
    const from = join(root, workspace, 'node_modules');
    const names = await readdir(from).catch((): string[] => []);
    if (names.length === 0) continue;
    const to = join(directory, workspace, 'node_modules');
    await mkdir(to);
    const links = names.filter((name) => name !== '@mandate').map((name) => symlink(join(from, name), join(to, name)));
    await Promise.all(links);
    if (names.includes('@mandate')) await cp(join(from, '@mandate'), join(to, '@mandate'), { recursive: true, verbatimSymlinks: true });
  }
}
