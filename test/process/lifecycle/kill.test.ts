import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { hashSecretRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { createMigratedPostgresqlUrl, databaseKind } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { sendRefreshRequest, signIn, tokenResponseSchema, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { createMigratedDataDirectory } from '../../support/server/migrated-data-directory.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  killStartingServer,
  readFirstRunFile,
  startServerProcess,
  createDataDirectory,
} from '../../support/server/server-process.ts';
import { countOrders, placeOrder, readOrder, createOrderClient, readStock, type PlacedOrder, type OrderClient } from './order-client.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

/** Starts buyers that place orders until the server is unavailable. Records the confirmed orders. */
function placeOrdersContinuously(
  orderClient: OrderClient,
  buyers: number,
): { requested: Set<string>; confirmed: PlacedOrder[]; ended: Promise<unknown> } {
  const requested = new Set<string>();
  const confirmed: PlacedOrder[] = [];
  const placeOrders = async (buyer: number): Promise<void> => {
    for (let nth = 1; ; nth++) {
      const reference = `buyer ${buyer} order ${nth}`;
      requested.add(reference);
      const order = await placeOrder(orderClient, reference).catch(lostConnection);
      if (!order) return;
      confirmed.push(order);
    }
  };
  return { requested, confirmed, ended: Promise.all(Array.from({ length: buyers }, (_, buyer) => placeOrders(buyer))) };
}

/** `fetch` reports every broken connection as a TypeError. Any other error fails the test. */
function lostConnection(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error;
}

type Aftermath = { confirmed: PlacedOrder[]; readBack: PlacedOrder[]; orders: number; unitsTaken: number };

/** Kills or stops a server under load, and reads the data through a new server. */
async function interruptUnderLoad(end: 'kill' | 'stop', dataDirectory: string, env: Readonly<Record<string, string>>): Promise<Aftermath> {
  const first = await startServerProcess({ MANDATE_DATA_DIR: dataDirectory, ...env });
  const orderClient = await createOrderClient(first.url, dataDirectory);
  const load = placeOrdersContinuously(orderClient, 8);
  await waitUntil(() => load.confirmed.length >= 40);
  await first[end]();
  await load.ended;

  const second = await startServerProcess({ MANDATE_DATA_DIR: dataDirectory, ...env });
  const retryClient = { ...orderClient, url: second.url, token: await obtainAdministrationToken(second.url, dataDirectory) };
  const readBack = [];
  for (const { id } of load.confirmed) readBack.push(await readOrder(retryClient, id));
  const aftermath = { readBack, orders: await countOrders(retryClient), unitsTaken: orderClient.stock - (await readStock(retryClient)) };
  await second.stop();
  return { confirmed: load.confirmed, ...aftermath };
}

const databases = [
  { kind: 'PGlite', environment: async () => ({}) },
  ...(databaseKind === 'postgresql'
    ? [{ kind: 'PostgreSQL', environment: async () => ({ DATABASE_URL: await createMigratedPostgresqlUrl() }) }]
    : []),
];

describe.each(databases)('a server on $kind under load', { timeout: 180_000 }, ({ environment }) => {
  test('loses no confirmed order and no unit of stock when it is killed', async () => {
    await using data = await createMigratedDataDirectory();
    const { confirmed, readBack, orders, unitsTaken } = await interruptUnderLoad('kill', data.path, await environment());
    expect(readBack).toEqual(confirmed);
    expect(orders).toBeGreaterThanOrEqual(confirmed.length);
    expect(unitsTaken).toBe(orders);
  });

  test('returns the same responses to retries after a kill, and places no order twice', async () => {
    await using data = await createMigratedDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path, ...(await environment()) };
    const first = await startServerProcess(env);
    const orderClient = await createOrderClient(first.url, data.path);
    const load = placeOrdersContinuously(orderClient, 8);
    await waitUntil(() => load.confirmed.length >= 40);
    await first.kill();
    await load.ended;

    const second = await startServerProcess(env);
    const retryClient = { ...orderClient, url: second.url, token: await obtainAdministrationToken(second.url, data.path) };
    for (const order of load.confirmed) expect(await placeOrder(retryClient, order.reference)).toEqual(order);
    for (const reference of load.requested) await placeOrder(retryClient, reference);
    expect(load.requested.size).toBeGreaterThan(load.confirmed.length);
    expect(await countOrders(retryClient)).toBe(load.requested.size);
    expect(orderClient.stock - (await readStock(retryClient))).toBe(load.requested.size);
    await second.stop();
  });

  test('confirms every pending order before it stops', async () => {
    await using data = await createMigratedDataDirectory();
    const { confirmed, readBack, orders, unitsTaken } = await interruptUnderLoad('stop', data.path, await environment());
    expect(readBack).toEqual(confirmed);
    expect(orders).toBe(confirmed.length);
    expect(unitsTaken).toBe(orders);
  });
});

// PGlite runs within the server process, so nothing commits after the process has been killed.
describe.skipIf(databaseKind === 'pglite')('a server that is killed between the commit of a refresh and its response', () => {
  test('leaves a successor that the retry receives', { timeout: 120_000 }, async () => {
    await using data = await createDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path, DATABASE_URL: await createMigratedPostgresqlUrl(), PORT: String(await findFreePort()) };
    const first = await startServerProcess(env);
    const { customer } = await readFirstRunFile(data.path);
    const { refresh_token: old = '' } = await obtainTokens(first.url, { browser: await signIn(first.url, customer) }, ['users.read']);
    const db = await openDatabaseWithoutMigrating(env.DATABASE_URL);
    const query = (sql: string) => db.em.fork().execute<{ id: string }[]>(sql);
    // disable PostgreSQL's check for disconnected clients, which would roll back the transaction
    await query(`create function slow_commit() returns trigger language plpgsql as $$ begin
      perform set_config('client_connection_check_interval', '0', false), pg_sleep(4); return null; end $$`);
    await query(`create constraint trigger slow_commit after insert on oauth_records deferrable initially deferred
      for each row when (new.model = 'RefreshToken') execute function slow_commit()`);
    const pendingRefresh = sendRefreshRequest(first.url, old).catch(lostConnection);
    const committing = () =>
      query(`select pid::text as id from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`);
    await waitUntil(async () => (await committing()).length > 0);
    await sleep(1_500); // by then, PostgreSQL has made its last check for a disconnected client
    await first.kill();
    expect(await pendingRefresh).toBeUndefined();
    await waitUntil(async () => (await committing()).length === 0);
    await query('drop trigger slow_commit on oauth_records');
    const committed = await query(`select id from oauth_records where model = 'RefreshToken' and consumed_at is null`);
    expect(committed).not.toEqual([{ id: hashSecretRecordId(old) }]);

    const second = await startServerProcess(env);
    const responses = [await sendRefreshRequest(second.url, old), await sendRefreshRequest(second.url, old)];
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(
      responses.map(({ status }) => status),
      bodies.join('\n'),
    ).toEqual([200, 200]);
    for (const body of bodies) {
      const { refresh_token: successor = '' } = tokenResponseSchema.parse(JSON.parse(body));
      expect(committed).toEqual([{ id: hashSecretRecordId(successor) }]);
    }
    await db.close();
    await second.stop();
  });
});

describe('a server that is killed during its first start', { timeout: 180_000 }, () => {
  // the server is killed when this number of database files exists: some, most, and all but the last
  test.each([2, 12, 18, 20])('after %i database files starts again without an error', async (files) => {
    await using data = await createDataDirectory();
    const draft = join(data.path, 'database.new');
    await killStartingServer(
      { MANDATE_DATA_DIR: data.path },
      () => existsSync(draft),
      () => readdirSync(draft).length >= files,
    );
    expect(existsSync(join(data.path, 'database'))).toBe(false);
    const next = await startServerProcess({ MANDATE_DATA_DIR: data.path });
    expect((await placeOrder(await createOrderClient(next.url, data.path), 'after the restart')).id).toBeGreaterThan(0);
    expect(await next.stop()).toBe(0);
  });
});
