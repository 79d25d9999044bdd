import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../server/schema/open-database.ts';
import { hashRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { databaseKind, freshPostgresqlUrl } from '../../support/services/database.ts';
import { freePort } from '../../support/network/free-port.ts';
import { refresh, signIn, tokenResponse, tokensFor } from '../../support/oauth/oauth-flow.ts';
import {
  administrationToken,
  endServerProcesses,
  killServerWhen,
  readFirstRun,
  startServer,
  temporaryDataDirectory,
} from '../../support/server/server-process.ts';
import { countOrders, placeOrder, readOrder, shopper, stockOf, type PlacedOrder, type Shopper } from './shopper.ts';

afterEach(endServerProcesses);

/** Several buyers order without a pause until the server is gone; what it has confirmed by then is kept here. */
function orderWithoutPause(who: Shopper, buyers: number): { asked: Set<string>; confirmed: PlacedOrder[]; ended: Promise<unknown> } {
  const asked = new Set<string>();
  const confirmed: PlacedOrder[] = [];
  const buy = async (buyer: number): Promise<void> => {
    for (let nth = 1; ; nth++) {
      const reference = `buyer ${buyer} order ${nth}`;
      asked.add(reference);
      const order = await placeOrder(who, reference).catch(lostConnection);
      if (!order) return;
      confirmed.push(order);
    }
  };
  return { asked, confirmed, ended: Promise.all(Array.from({ length: buyers }, (_, buyer) => buy(buyer))) };
}

/** `fetch` reports every broken connection as a TypeError; an answer that is not an order is a failure of the test. */
function lostConnection(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error;
}

type Aftermath = { confirmed: PlacedOrder[]; readBack: PlacedOrder[]; orders: number; unitsTaken: number };

/** Ends a server under load, one way or the other, and looks at what the next one has. */
async function interrupted(end: 'kill' | 'stop', dataDirectory: string, env: Readonly<Record<string, string>>): Promise<Aftermath> {
  const first = await startServer({ MANDATE_DATA_DIR: dataDirectory, ...env });
  const who = await shopper(first.url, dataDirectory);
  const load = orderWithoutPause(who, 8);
  while (load.confirmed.length < 40) await sleep(10);
  await first[end]();
  await load.ended;

  const second = await startServer({ MANDATE_DATA_DIR: dataDirectory, ...env });
  const again = { ...who, url: second.url, token: await administrationToken(second.url, dataDirectory) };
  const readBack = [];
  for (const { id } of load.confirmed) readBack.push(await readOrder(again, id));
  const aftermath = { readBack, orders: await countOrders(again), unitsTaken: who.stock - (await stockOf(again)) };
  await second.stop();
  return { confirmed: load.confirmed, ...aftermath };
}

const databases = [
  { kind: 'PGlite', environment: async () => ({}) },
  ...(databaseKind === 'postgresql'
    ? [{ kind: 'PostgreSQL', environment: async () => ({ DATABASE_URL: await freshPostgresqlUrl() }) }]
    : []),
];

describe.each(databases)('a server on $kind that is busy with orders', { timeout: 180_000 }, ({ environment }) => {
  test('and killed in the middle loses no confirmed order, and no unit of stock', async () => {
    await using data = await temporaryDataDirectory();
    const { confirmed, readBack, orders, unitsTaken } = await interrupted('kill', data.path, await environment());
    expect(readBack).toEqual(confirmed);
    expect(orders).toBeGreaterThanOrEqual(confirmed.length);
    expect(unitsTaken).toBe(orders);
  });

  test('and killed before it could answer gives the same answer when it is asked again, and orders nothing twice', async () => {
    await using data = await temporaryDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path, ...(await environment()) };
    const first = await startServer(env);
    const who = await shopper(first.url, data.path);
    const load = orderWithoutPause(who, 8);
    while (load.confirmed.length < 40) await sleep(10);
    await first.kill();
    await load.ended;

    const second = await startServer(env);
    const again = { ...who, url: second.url, token: await administrationToken(second.url, data.path) };
    for (const order of load.confirmed) expect(await placeOrder(again, order.reference)).toEqual(order);
    for (const reference of load.asked) await placeOrder(again, reference);
    expect(load.asked.size).toBeGreaterThan(load.confirmed.length);
    expect(await countOrders(again)).toBe(load.asked.size);
    expect(who.stock - (await stockOf(again))).toBe(load.asked.size);
    await second.stop();
  });

  test('and asked to stop confirms every order that it has begun', async () => {
    await using data = await temporaryDataDirectory();
    const { confirmed, readBack, orders, unitsTaken } = await interrupted('stop', data.path, await environment());
    expect(readBack).toEqual(confirmed);
    expect(orders).toBe(confirmed.length);
    expect(unitsTaken).toBe(orders);
  });
});

// With PGlite the process is the database: nothing commits after it has been killed.
describe.skipIf(databaseKind === 'pglite')('a server that is killed after it committed a refresh, and before it responded', () => {
  test('leaves a successor that the retry receives', { timeout: 120_000 }, async () => {
    await using data = await temporaryDataDirectory();
    const env = { MANDATE_DATA_DIR: data.path, DATABASE_URL: await freshPostgresqlUrl(), PORT: String(await freePort()) };
    const first = await startServer(env);
    const { customer } = await readFirstRun(data.path);
    const { refresh_token: old = '' } = await tokensFor(first.url, { browser: await signIn(first.url, customer) }, ['users.read']);
    const db = await openDatabase(env.DATABASE_URL);
    const query = (sql: string) => db.em.fork().execute<{ id: string }[]>(sql);
    // PostgreSQL checks every second whether its client is gone, and would roll back: it is told not to
    await query(`create function slow_commit() returns trigger language plpgsql as $$ begin
      perform set_config('client_connection_check_interval', '0', false), pg_sleep(4); return null; end $$`);
    await query(`create constraint trigger slow_commit after insert on oauth_records deferrable initially deferred
      for each row when (new.model = 'RefreshToken') execute function slow_commit()`);
    const cut = refresh(first.url, old).catch(lostConnection);
    const committing = () =>
      query(`select pid::text as id from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`);
    while ((await committing()).length === 0) await sleep(10);
    await sleep(1_500); // until the last check
    await first.kill();
    expect(await cut).toBeUndefined();
    while ((await committing()).length > 0) await sleep(20);
    await query('drop trigger slow_commit on oauth_records');
    const committed = await query(`select id from oauth_records where model = 'RefreshToken' and consumed_at is null`);
    expect(committed).not.toEqual([{ id: hashRecordId(old) }]);

    const second = await startServer(env);
    const responses = [await refresh(second.url, old), await refresh(second.url, old)];
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(
      responses.map(({ status }) => status),
      bodies.join('\n'),
    ).toEqual([200, 200]);
    for (const body of bodies) {
      const { refresh_token: successor = '' } = tokenResponse.parse(JSON.parse(body));
      expect(committed).toEqual([{ id: hashRecordId(successor) }]);
    }
    await db.close();
    await second.stop();
  });
});

describe('a first start that is killed', { timeout: 180_000 }, () => {
  // the moments are files in the new database: some, most, and all but the last
  test.each([2, 12, 18, 20])('with %i files of its database made leaves nothing that the next start stumbles over', async (files) => {
    await using data = await temporaryDataDirectory();
    const draft = join(data.path, 'database.new');
    await killServerWhen({ MANDATE_DATA_DIR: data.path }, () => existsSync(draft) && readdirSync(draft).length >= files);
    expect(existsSync(join(data.path, 'database'))).toBe(false);
    const next = await startServer({ MANDATE_DATA_DIR: data.path });
    expect((await placeOrder(await shopper(next.url, data.path), 'at last')).id).toBeGreaterThan(0);
    expect(await next.stop()).toBe(0);
  });
});
