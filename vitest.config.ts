import { defineConfig } from 'vitest/config';
import { findPostgresql } from './test/support/services/postgresql-server.ts';

const everything = ['test/**/*.test.ts'];
const onBothDatabases = ['test/{api,database,first-run,fuzz,oauth,peers,retail,shop}/**/*.test.ts', 'test/e2e/approval.test.ts'];

const project = (name: 'postgresql' | 'pglite', include: string[]) => ({
  extends: true as const,
  test: { name, include, globalSetup: './test/support/global-setup.ts' },
});

/** Runs the tests on both databases. If PostgreSQL is not available, all tests run on PGlite, and those that need PostgreSQL are skipped. */
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

export default defineConfig({
  test: {
    projects: await projects(),
    maxWorkers: 2,
    // Test files share their worker's modules, because loading the server again would take longer than running many of the files.
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
