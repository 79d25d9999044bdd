import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import { createEmptyPostgresqlUrl, databaseKind } from '../support/services/database.ts';
import { runMandateServer } from '../support/server/server-command.ts';
import { createMigratedDataDirectory } from '../support/server/migrated-data-directory.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../support/server/server-process.ts';

afterEach(killServerProcesses);

const lines = (text: string): string[] => text.trimEnd().split('\n');

describe('mandate-server migrate', { timeout: 180_000 }, () => {
  test.skipIf(databaseKind === 'pglite')('lists pending migrations, applies them and lists them as applied', async () => {
    const url = await createEmptyPostgresqlUrl();
    const env = { DATABASE_URL: url };
    const before = await runMandateServer(env, ['migrate', '--status']);
    const pending = lines(before.stdout);
    expect(before).toMatchObject({ code: 0, stderr: '' });
    expect(pending.length).toBeGreaterThan(10);
    expect(pending.filter((line) => !/^pending {2}\d{14}_\w+$/.test(line))).toEqual([]);
    const db = await openDatabaseWithoutMigrating(url);
    const [tables] = await db.em
      .fork()
      .execute<{ count: number }[]>(`select count(*) as count from information_schema.tables where table_schema = 'public'`);
    await db.close();
    expect(tables?.count, '--status creates no tables').toBe(0);

    const applied = pending.map((line) => line.replace('pending', 'applied'));
    expect(await runMandateServer(env, ['migrate'])).toEqual({ code: 0, stdout: `${applied.join('\n')}\n`, stderr: '' });
    expect(await runMandateServer(env, ['migrate'])).toEqual({ code: 0, stdout: 'Nothing is pending.\n', stderr: '' });
    expect(lines((await runMandateServer(env, ['migrate', '--status'])).stdout)).toEqual(applied);
  });

  test('reports that a server with the embedded database is running, and still lists its migrations', async () => {
    await using data = await createMigratedDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path };
    const server = await startServerProcess(env);
    const rejected = await runMandateServer(env, ['migrate']);
    expect(rejected).toMatchObject({ code: 1, stdout: '' });
    expect(rejected.stderr).toBe(
      `error: ${join(data.path, 'database')} is in use by another process. That server applied all migrations of its release when it started; stop it first.\n`,
    );
    const listed = await runMandateServer(env, ['migrate', '--status']);
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/^(applied {2}\d{14}_\w+\n)+$/)]);
    await server.stop();
  });

  test('prints the required settings when no database is available', async () => {
    await using data = await createDataDirectory();
    const unreachable = await runMandateServer({ DATABASE_URL: 'postgres://mandate:hunter2@127.0.0.1:1/mandate' }, ['migrate']);
    expect(unreachable).toMatchObject({ code: 1, stdout: '' });
    expect(unreachable.stderr).toMatch(/^error: .*ECONNREFUSED.* Is the database running, and is DATABASE_URL correct\?\n$/);
    expect(unreachable.stderr).not.toContain('hunter2');
    const missing = await runMandateServer({ MANDATE_DATA_DIR: data.path }, ['migrate', '--status']);
    expect(missing.stderr).toMatch(/^error: there is no database at .*: set MANDATE_DATA_DIR or DATABASE_URL/);
  });
});
