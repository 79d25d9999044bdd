import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findPostgresql } from './test/support/services/postgresql-server.ts';

const everything = ['test/**/*.test.ts'];
const onBothDatabases = ['test/{api,database,first-run,fuzz,oauth,peers,retail,shop}/**/*.test.ts', 'test/e2e/approval.test.ts'];

const project = (name: 'postgresql' | 'pglite', include: string[]) => ({
  extends: true as const,
  test: { name, include, globalSetup: './test/support/global-setup.ts' },
});

/**
 * Returns one test project per database. If PostgreSQL is not available, all tests run on PGlite, and the tests that need PostgreSQL are
 * skipped.
 */
async function projects() {
  try {
    if (!process.env['DATABASE_URL']) await findPostgresql();
    return [project('postgresql', everything), project('pglite', onBothDatabases)];
  } catch (error) {
    process.stderr.write(
      `PostgreSQL is not available, so all tests run on PGlite only: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return [project('pglite', everything)];
  }
}

/**
 * Folders with tests that start programs. These tests spend most of their time waiting, and take longer than other test files of the same
 * size.
 */
const startsPrograms = /\/test\/(?:bench|command|faults|first-order|fuzz|process|retail|schemathesis)\//;

/**
 * Without recorded durations, as in a fresh clone, Vitest starts the largest files first. The tests that start programs would then run last
 * and at the same time, which would leave cores idle. This sequencer therefore alternates these tests with the largest other files.
 */
class AlternatingSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- `super.sort` is not an array method
    const byProject = Map.groupBy(await super.sort(files), ({ project: { name } }) => name);
    return [...byProject.values()].flatMap((sorted) => {
      const waiting = sorted.filter(({ moduleId }) => startsPrograms.test(moduleId));
      const others = sorted.filter(({ moduleId }) => !startsPrograms.test(moduleId));
      return [...waiting.flatMap((file, at) => [file, ...others.slice(at, at + 1)]), ...others.slice(waiting.length)];
    });
  }
}

/**
 * Test files run one after the other if the package tests have to pack the packages, because packing replaces manifests in the repository.
 */
const packs = process.env['MANDATE_PACKAGE_TESTS'] === '1' && process.env['MANDATE_RELEASE_DIRECTORY'] === undefined;

export default defineConfig({
  test: {
    projects: await projects(),
    maxWorkers: packs ? 1 : 2,
    sequence: { sequencer: AlternatingSequencer },
    // Test files share their worker's modules, because loading the server again for each file would take longer than running many of the
    // files.
    isolate: false,
    setupFiles: './test/support/setup-test-file.ts',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // `expect.poll` returns as soon as its condition is met. The default timeout of 1 s is too short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // On a busy machine, a test can miss a deadline. If the test fails twice, the failure is real.
    retry: process.env['CI'] ? 1 : 0,
  },
});
