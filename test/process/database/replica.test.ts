import { afterEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { ReplicaWithPrimaryFallback } from '../../../server/database/replica/replica-with-primary-fallback.ts';
import { createMigratedPostgresqlUrl, databaseKind } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { scrapeMetrics } from '../../support/metrics.ts';
import { findPostgresql, type PostgresqlServer, startPostgresql } from '../../support/services/postgresql-server.ts';
import { startStandby } from '../../support/services/postgresql-standby.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';
import { countOrders, placeOrder, createOrderClient, countOrdersInStatistics } from '../lifecycle/order-client.ts';

afterEach(killServerProcesses);

// writes are confirmed after the WAL flush, but fsync is off, because no test simulates a power failure
const options = { durable: true, settings: ['wal_level=replica', 'wal_keep_size=512MB', 'hot_standby=on', 'fsync=off'] };

async function startPair(): Promise<{ primary: PostgresqlServer; standby: PostgresqlServer }> {
  const primary = await startPostgresql(await findPostgresql(), options);
  return { primary, standby: await startStandby(primary, { ...options, synchronous: false }) };
}

type NoteCount = { readonly count: number; readonly standby: boolean };

/** Returns the number of rows in the `notes` table, and whether the standby executed the query. */
const countNotes = (replica: ReplicaWithPrimaryFallback): Promise<NoteCount> =>
  replica.read(async (em) => {
    const [row] = await em.execute<NoteCount[]>('select count(*)::int as count, pg_is_in_recovery() as standby from notes');
    if (!row) throw new Error('no row');
    return row;
  });

const run = (db: Database, statement: string): Promise<unknown> => db.em.fork().execute(statement);

describe.skipIf(databaseKind === 'pglite')('a streaming replica', { timeout: 300_000 }, () => {
  test('serves lists only if it has replayed everything committed before the query; otherwise, the primary serves them', async () => {
    const { primary, standby } = await startPair();
    const [db, copy] = [await openDatabaseWithoutMigrating(primary.url), await openDatabaseWithoutMigrating(standby.url)];
    const messages: string[] = [];
    const log = {
      warn: (_: object, message: string) => void messages.push(message),
      info: (message: string) => void messages.push(message),
    };
    const replica = new ReplicaWithPrimaryFallback(db, copy, log);
    await run(db, 'create table notes (id int primary key)');

    const counts: NoteCount[] = [];
    for (let written = 1; written <= 100; written += 1) {
      await run(db, `insert into notes values (${written})`);
      const counted = await countNotes(replica);
      expect(counted.count).toBe(written);
      counts.push(counted);
    }
    expect(counts.filter(({ standby: byStandby }) => byStandby).length).toBeGreaterThan(0);

    await run(copy, 'select pg_wal_replay_pause()');
    for (let written = 101; written <= 110; written += 1) {
      await run(db, `insert into notes values (${written})`);
      expect(await countNotes(replica)).toEqual({ count: written, standby: false });
    }
    await run(copy, 'select pg_wal_replay_resume()');
    // ten concurrent queries share one query for the primary's WAL position, and all return the correct count
    const concurrentCounts = await Promise.all(Array.from({ length: 10 }, () => countNotes(replica)));
    expect(new Set(concurrentCounts.map(({ count }) => count))).toEqual(new Set([110]));
    await expect.poll(() => countNotes(replica), { timeout: 30_000 }).toEqual({ count: 110, standby: true });

    const before = messages.length;
    await standby.kill();
    for (let nth = 0; nth < 5; nth += 1) expect(await countNotes(replica)).toEqual({ count: 110, standby: false });
    expect(messages.slice(before)).toEqual(['lists are read from the primary: the replica cannot be used']);
    await standby.start();
    await expect.poll(() => countNotes(replica), { timeout: 120_000, interval: 200 }).toEqual({ count: 110, standby: true });
    expect(messages.at(-1)).toBe('the replica is available again: lists are read from it');

    await copy.close();
    await db.close();
    await standby.stop();
    await primary.stop();
  });

  test('that is not a replica of the primary is not used', async () => {
    const [one, other] = [await createMigratedPostgresqlUrl(), await startPostgresql(await findPostgresql())];
    for (const url of [one, other.url]) {
      const [db, copy] = [await openDatabaseWithoutMigrating(one), await openDatabaseWithoutMigrating(url)];
      await run(db, 'create table if not exists notes (id int primary key)');
      const warned: object[] = [];
      const replica = new ReplicaWithPrimaryFallback(db, copy, { warn: (details) => void warned.push(details), info: () => undefined });
      for (let nth = 0; nth < 3; nth += 1) expect(await countNotes(replica)).toEqual({ count: 0, standby: false });
      expect(warned).toEqual([{ err: expect.objectContaining({ name: 'NotAReplicaError' }) }]);
      await copy.close();
      await db.close();
    }
    await other.stop();
  });

  test('serves the lists of a server, and causes no errors when it fails and returns', async () => {
    await using data = await createDataDirectory();
    const { primary, standby } = await startPair();
    const port = await findFreePort();
    const serverPort = await findFreePort();
    const issuer = { MANDATE_ISSUER: `http://localhost:${serverPort}` };
    const databases = { DATABASE_URL: primary.url, DATABASE_REPLICA_URL: standby.url };
    const server = await startServerProcess({
      MANDATE_DATA_DIR: data.path,
      MANDATE_METRICS_PORT: String(port),
      PORT: String(serverPort),
      ...databases,
      ...issuer,
    });
    const orderClient = await createOrderClient(server.url, data.path);
    let orders = 0;
    const orderAndCount = async (times: number): Promise<void> => {
      for (let nth = 0; nth < times; nth += 1) {
        await placeOrder(orderClient, `order ${(orders += 1)}`);
        expect(await countOrders(orderClient)).toBe(orders);
      }
    };
    const fromReplica = async (): Promise<number> => (await scrapeMetrics(port)).value('mandate_lists_total', { from: 'replica' }) ?? 0;
    const comesFromReplica = async (): Promise<boolean> => {
      const before = await fromReplica();
      await countOrders(orderClient);
      return (await fromReplica()) > before;
    };
    await expect.poll(comesFromReplica, { timeout: 30_000 }).toBe(true);
    await orderAndCount(8);
    const beforeStatistics = await fromReplica();
    expect(await countOrdersInStatistics(orderClient)).toBe(orders);
    expect(await fromReplica()).toBeGreaterThan(beforeStatistics);
    const warnings = (): number => server.output().split('lists are read from the primary').length - 1;
    const before = warnings(); // the value is 0, unless this machine paused for a second
    const killed = standby.kill();
    await orderAndCount(8);
    await killed;
    await orderAndCount(3);
    expect(await comesFromReplica()).toBe(false);
    // a server starts even while the replica is unavailable
    const other = await startServerProcess({ MANDATE_DATA_DIR: data.path, ...databases, ...issuer });
    expect(await countOrders({ ...orderClient, url: other.url })).toBe(orders);
    expect(await other.stop()).toBe(0);
    expect(warnings()).toBeGreaterThan(0);
    expect(warnings()).toBeLessThanOrEqual(before + 1);
    await standby.start();
    await expect.poll(comesFromReplica, { timeout: 120_000, interval: 200 }).toBe(true);
    await orderAndCount(3);
    expect(await server.stop()).toBe(0);
    await standby.stop();
    await primary.stop();
  });
});
