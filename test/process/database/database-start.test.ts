import { afterEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../../server/config/read-config.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { runAdminSql } from '../../support/services/postgresql-databases.ts';
import { findPostgresql, startPostgresql } from '../../support/services/postgresql-server.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';
import { expectExitWithin, timeServerExit } from '../../support/server/time-server-exit.ts';

afterEach(killServerProcesses);

describe('a server that starts without PostgreSQL', { timeout: 120_000 }, () => {
  test('waits for DATABASE_START_TIMEOUT, logs the wait, and exits with one sentence', async () => {
    const port = await findFreePort();
    const url = `postgres://mandate:hunter2@127.0.0.1:${port}/mandate`;
    const { code, output, seconds } = await timeServerExit({ DATABASE_URL: url, DATABASE_START_TIMEOUT: '7' });
    const lines = output.trim().split('\n');
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatch(
      new RegExp(
        `^Mandate cannot start\\. PostgreSQL at 127\\.0\\.0\\.1:${port} was not available within 7 s \\(.*ECONNREFUSED.*DATABASE_START_TIMEOUT$`,
      ),
    );
    const reports = lines.slice(0, -1);
    expect(reports.length).toBeGreaterThanOrEqual(2); // one report each after 0, 3 and 6 seconds, unless the machine is slow
    expect(reports.length).toBeLessThanOrEqual(3);
    for (const line of reports) expect(line).toMatch(/waiting for PostgreSQL at 127\.0\.0\.1:\d+: \d of at most 7 s/);
    expect(output).not.toContain('hunter2');
    expect(seconds).toBeGreaterThan(7);
    await expectExitWithin(9, { seconds });
  });

  test.skipIf(databaseKind === 'pglite')('starts after PostgreSQL has started', async () => {
    const postgresql = await startPostgresql(await findPostgresql());
    try {
      await postgresql.kill();
      await using data = await createDataDirectory();
      const starting = startServerProcess({ MANDATE_DATA_DIR: data.path, DATABASE_URL: postgresql.url }, undefined, undefined, (line) => {
        if (line.includes('waiting for PostgreSQL')) reported.resolve();
      });
      const reported = Promise.withResolvers<void>();
      await reported.promise;
      await postgresql.start();
      const server = await starting;
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      expect(await server.stop()).toBe(0);
    } finally {
      await postgresql.stop();
    }
  });

  test('waits for a minute by default', () => {
    expect(readConfig({}).databaseStartTimeoutSeconds).toBe(60);
  });
});

describe.skipIf(databaseKind === 'pglite')('a server whose connection is rejected by PostgreSQL', { timeout: 120_000 }, () => {
  test.each([
    ['a wrong password', /password authentication failed/, (url: URL) => (url.password = 'hunter2')],
    ['an unknown database', /database "no_such_database" does not exist/, (url: URL) => (url.pathname = '/no_such_database')],
    ['TLS that PostgreSQL does not support', /does not support SSL/, (url: URL) => (url.search = '?sslmode=verify-full')],
  ])('exits immediately with %s', async (_, reason, change) => {
    const url = new URL(await createMigratedPostgresqlUrl());
    const working = url.href;
    change(url);
    const { code, output, seconds } = await timeServerExit({ DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(output).toMatch(/^Mandate cannot start\. PostgreSQL at [\d.:]+ refuses the connection \(.*\): correct DATABASE_URL\n$/);
    expect(output).toMatch(reason);
    expect(output).not.toContain('hunter2');
    await expectExitWithin(5, { seconds });
    expect(await runAdminSql(working, `select datname from pg_database where datname = 'no_such_database'`)).toEqual([]);
  });
});
