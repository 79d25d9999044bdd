import { afterEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { openDatabase } from '../../../server/schema/open-database.ts';
import { ReadReplica } from '../../../server/database/replica/read-replica.ts';
import { databaseKind } from '../../support/services/database.ts';
import { freePort } from '../../support/network/free-port.ts';
import { scrape } from '../../support/metrics.ts';
import { findPostgresql, type PostgresqlServer, startPostgresql } from '../../support/services/postgresql-server.ts';
import { startStandby } from '../../support/services/postgresql-standby.ts';
import { endServerProcesses, startServer, temporaryDataDirectory } from '../../support/server/server-process.ts';
import { countOrders, placeOrder, shopper } from '../lifecycle/shopper.ts';

afterEach(endServerProcesses);

// confirmed means flushed, though not to the disk: nobody pulls a plug here
const options = { durable: true, settings: ['wal_level=replica', 'wal_keep_size=512MB', 'hot_standby=on', 'fsync=off'] };

async function startPair(): Promise<{ primary: PostgresqlServer; standby: PostgresqlServer }> {
  const primary = await startPostgresql(await findPostgresql(), options);
  return { primary, standby: await startStandby(primary, { ...options, synchronous: false }) };
}

type Counted = { readonly count: number; readonly standby: boolean };

/** A list, and who answered it. */
const countNotes = (replica: ReadReplica): Promise<Counted> =>
  replica.read(async (em) => {
    const [row] = await em.execute<Counted[]>('select count(*)::int as count, pg_is_in_recovery() as standby from notes');
    if (!row) throw new Error('no row');
    return row;
  });

const run = (db: Database, statement: string): Promise<unknown> => db.em.fork().execute(statement);

describe.skipIf(databaseKind === 'pglite')('a streaming replica', { timeout: 300_000 }, () => {
  test('answers lists with everything that was committed when they were asked, or leaves them to the primary', async () => {
    const { primary, standby } = await startPair();
    const [db, copy] = [await openDatabase(primary.url), await openDatabase(standby.url)];
    const said: string[] = [];
    const log = { warn: (_: object, message: string) => void said.push(message), info: (message: string) => void said.push(message) };
    const replica = new ReadReplica(db, copy, log);
    await run(db, 'create table notes (id int primary key)');

    const answered: Counted[] = [];
    for (let written = 1; written <= 100; written += 1) {
      await run(db, `insert into notes values (${written})`);
      const counted = await countNotes(replica);
      expect(counted.count).toBe(written);
      answered.push(counted);
    }
    expect(answered.filter(({ standby: byStandby }) => byStandby).length).toBeGreaterThan(0);

    await run(copy, 'select pg_wal_replay_pause()');
    for (let written = 101; written <= 110; written += 1) {
      await run(db, `insert into notes values (${written})`);
      expect(await countNotes(replica)).toEqual({ count: written, standby: false });
    }
    await run(copy, 'select pg_wal_replay_resume()');
    // ten lists at the same moment are one look at the primary, and all of them are right
    const together = await Promise.all(Array.from({ length: 10 }, () => countNotes(replica)));
    expect(new Set(together.map(({ count }) => count))).toEqual(new Set([110]));
    await expect.poll(() => countNotes(replica), { timeout: 30_000 }).toEqual({ count: 110, standby: true });

    const before = said.length;
    await standby.kill();
    for (let nth = 0; nth < 5; nth += 1) expect(await countNotes(replica)).toEqual({ count: 110, standby: false });
    expect(said.slice(before)).toEqual(['lists are read from the primary: the replica cannot be used']);
    await standby.start();
    await expect.poll(() => countNotes(replica), { timeout: 120_000, interval: 200 }).toEqual({ count: 110, standby: true });
    expect(said.at(-1)).toBe('the replica is available again: lists are read from it');

    await copy.close();
    await db.close();
    await standby.stop();
    await primary.stop();
  });

  test('that is none is not used', async () => {
    const [one, other] = [await startPostgresql(await findPostgresql()), await startPostgresql(await findPostgresql())];
    for (const { url } of [one, other]) {
      const [db, copy] = [await openDatabase(one.url), await openDatabase(url)];
      await run(db, 'create table if not exists notes (id int primary key)');
      const warned: object[] = [];
      const replica = new ReadReplica(db, copy, { warn: (details) => void warned.push(details), info: () => undefined });
      for (let nth = 0; nth < 3; nth += 1) expect(await countNotes(replica)).toEqual({ count: 0, standby: false });
      expect(warned).toEqual([{ err: expect.objectContaining({ name: 'NoReplicaError' }) }]);
      await copy.close();
      await db.close();
    }
    await other.stop();
    await one.stop();
  });

  test('serves the lists of a server, whose callers notice nothing when it is killed and comes back', async () => {
    await using data = await temporaryDataDirectory();
    const { primary, standby } = await startPair();
    const port = await freePort();
    const own = await freePort();
    const issuer = { MANDATE_ISSUER: `http://localhost:${own}` };
    const databases = { DATABASE_URL: primary.url, DATABASE_REPLICA_URL: standby.url };
    const server = await startServer({
      MANDATE_DATA_DIR: data.path,
      MANDATE_METRICS_PORT: String(port),
      PORT: String(own),
      ...databases,
      ...issuer,
    });
    const who = await shopper(server.url, data.path);
    let orders = 0;
    const orderAndCount = async (times: number): Promise<void> => {
      for (let nth = 0; nth < times; nth += 1) {
        await placeOrder(who, `order ${(orders += 1)}`);
        expect(await countOrders(who)).toBe(orders);
      }
    };
    const fromReplica = async (): Promise<number> => (await scrape(port)).value('mandate_lists_total', { from: 'replica' }) ?? 0;
    const comesFromReplica = async (): Promise<boolean> => {
      const before = await fromReplica();
      await countOrders(who);
      return (await fromReplica()) > before;
    };
    await expect.poll(comesFromReplica, { timeout: 30_000 }).toBe(true);
    await orderAndCount(8);
    const warnings = (): number => server.output().split('lists are read from the primary').length - 1;
    const before = warnings(); // none, unless this machine stood still for a second
    const killed = standby.kill();
    await orderAndCount(8);
    await killed;
    await orderAndCount(3);
    expect(await comesFromReplica()).toBe(false);
    // one that is away keeps nobody from starting
    const other = await startServer({ MANDATE_DATA_DIR: data.path, ...databases, ...issuer });
    expect(await countOrders({ ...who, url: other.url })).toBe(orders);
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
