import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { migrationLockId } from '../../../server/database/migrate/lock-migrations.sql.ts';
import { databaseKind, createEmptyPostgresqlUrl, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { hasPgBouncer, startPgBouncer, supportsPreparedStatements } from '../../support/services/pgbouncer.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { killServerProcesses, runServerUntilExit, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';
import { expectExitWithin, timeServerExit } from '../../support/server/time-server-exit.ts';
import { countOrders, placeOrder, readOrder, createOrderClient, readStock } from '../lifecycle/order-client.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

type Settings = Readonly<Record<string, string | number>>;
type Environment = Readonly<Record<string, string>>;

/**
 * Starts a server on a database behind PgBouncer, places orders concurrently, and reads them back.
 * @param url database (default: an empty one, which the server migrates)
 * @returns the log
 */
async function serveOrders(settings: Settings, env: Environment = {}, url = createEmptyPostgresqlUrl()): Promise<string> {
  await using data = await createDataDirectory();
  await using bouncer = await startPgBouncer(await url, settings);
  const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, DATABASE_URL: bouncer.url, ...env });
  const orderClient = await createOrderClient(server.url, data.path);
  const references = Array.from({ length: 60 }, () => randomUUID());
  const orders = await Promise.all(references.map((reference) => placeOrder(orderClient, reference)));
  const replayed = await Promise.all(references.map((reference) => placeOrder(orderClient, reference)));
  expect(replayed).toEqual(orders);
  expect(await Promise.all(orders.map(({ id }) => readOrder(orderClient, id)))).toEqual(orders);
  expect([await countOrders(orderClient), await readStock(orderClient)]).toEqual([60, orderClient.stock - 60]);
  expect(await server.stop()).toBe(0);
  return server.output();
}

/** Starts a server that is expected to exit, and returns its output. */
async function failToStart(settings: Settings, env: Environment = {}): Promise<string> {
  await using bouncer = await startPgBouncer(await createMigratedPostgresqlUrl(), settings);
  const { code, output, seconds } = await timeServerExit({ DATABASE_URL: bouncer.url, ...env });
  expect(code).toBe(1);
  expect(output.trim().split('\n')).toHaveLength(1);
  await expectExitWithin(5, { seconds });
  return output;
}

const unnamed = { DATABASE_PREPARED_STATEMENTS: 'off' };
/** Matches log lines at level `error`, in production and in development. */
const failures = /"level":(50|60)|failed|error:/;

describe.skipIf(databaseKind === 'pglite' || !hasPgBouncer)('a server behind PgBouncer', { timeout: 120_000 }, () => {
  test('works in session mode with the default settings', async () => {
    expect(await serveOrders({})).not.toMatch(failures);
  });

  test('works in session mode without named prepared statements', async () => {
    // Migrations never use prepared statements, so this test starts with a migrated database.
    expect(await serveOrders({}, unnamed, createMigratedPostgresqlUrl())).not.toMatch(failures);
  });

  test('works in transaction mode with DATABASE_PREPARED_STATEMENTS=off', async () => {
    const output = await serveOrders({ pool_mode: 'transaction' }, unnamed);
    expect(output).not.toMatch(failures);
    expect(output).toContain('LISTEN does not work through a connection pooler: set DATABASE_DIRECT_URL');
  });

  test.runIf(supportsPreparedStatements)('works in transaction mode with the prepared statements of PgBouncer 1.21 and later', async () => {
    expect(await serveOrders({ pool_mode: 'transaction', max_prepared_statements: 300 })).not.toMatch(failures);
  });

  test.each([0, 1])(
    'exits in transaction mode without prepared statements and names the setting (server_round_robin %i)',
    async (round) => {
      const settings = {
        pool_mode: 'transaction',
        server_round_robin: round,
        ...(supportsPreparedStatements && { max_prepared_statements: 0 }),
      };
      expect(await failToStart(settings)).toMatch(/^Mandate cannot start\. .* set DATABASE_PREPARED_STATEMENTS=off$/m);
    },
  );

  test.each([{}, unnamed])('exits in statement mode and names the setting, with %j', async (env) => {
    const output = await failToStart({ pool_mode: 'statement' }, env);
    expect(output).toMatch(/^Mandate cannot start\. .* set pool_mode to session or transaction in the pooler$/m);
  });

  test.each(['session', 'transaction'])('exits when a pool in %s mode has one connection and names the setting', async (mode) => {
    const output = await failToStart({ pool_mode: mode, default_pool_size: 1 }, unnamed);
    expect(output).toMatch(/^Mandate cannot start\. .* raise default_pool_size/);
  });

  test('applies migrations and listens for events through DATABASE_DIRECT_URL', async () => {
    await using data = await createDataDirectory();
    const url = await createEmptyPostgresqlUrl();
    await using bouncer = await startPgBouncer(url, { pool_mode: 'transaction' });
    const observer = await openDatabaseWithoutMigrating(url);
    const lock = observer.em.fork();
    await lock.begin();
    await lock.execute('select pg_advisory_xact_lock(?)', [migrationLockId]);
    const env = {
      MANDATE_DATA_DIR: data.path,
      DATABASE_URL: bouncer.url,
      DATABASE_DIRECT_URL: `${url}?application_name=direct`,
      ...unnamed,
    };
    const starting = startServerProcess(env);
    const waiting = `select count(*) as count from pg_stat_activity where application_name = 'direct' and query like '%advisory%'`;
    await waitUntil(async () => (await observer.em.fork().execute<{ count: number }[]>(waiting))[0]?.count !== 0);
    await lock.rollback();
    const server = await starting;
    const listening = `select count(*) as count from pg_stat_activity where application_name = 'direct' and query like 'listen %'`;
    await expect
      .poll(async () => (await observer.em.fork().execute<{ count: number }[]>(listening))[0]?.count, { timeout: 10_000 })
      .toBe(1);
    await observer.close();
    expect(await server.stop()).toBe(0);
    expect(server.output()).not.toContain('LISTEN does not work');
  });

  test('exits when DATABASE_DIRECT_URL refers to another database', async () => {
    await using data = await createDataDirectory();
    await using bouncer = await startPgBouncer(await createEmptyPostgresqlUrl());
    const env = { MANDATE_DATA_DIR: data.path, DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: await createMigratedPostgresqlUrl() };
    const { code, output } = await runServerUntilExit(env);
    expect([code, output]).toEqual([1, expect.stringMatching(/^Mandate cannot start\. DATABASE_DIRECT_URL .*\n$/)]);
  });

  test.each(['the password', 'the database'])('exits immediately when %s is wrong', async (step) => {
    await using bouncer = await startPgBouncer(await createMigratedPostgresqlUrl());
    const url = new URL(bouncer.url);
    if (step === 'the password') url.password = 'hunter2';
    else url.pathname = '/no_such_database';
    const { code, output, seconds } = await timeServerExit({ DATABASE_URL: url.href });
    expect([code, output]).toEqual([1, expect.stringMatching(/^Mandate cannot start\. .*\n$/)]);
    expect(output).not.toContain('hunter2');
    await expectExitWithin(5, { seconds });
  });
});
