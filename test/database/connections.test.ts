import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../server/database/orm.ts';
import { statement } from '../../server/database/statement.ts';
import { databaseKind, freshDatabase, freshPostgresqlUrl } from '../support/database.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

let db: Database;
beforeAll(async () => {
  db = await freshDatabase();
});
afterAll(() => db.close());

const readNumber = statement<{ number: number }>('read_number', 'select $1::int8 as number');

describe('a statement', () => {
  test('gives an int8 as a number on both databases', async () => {
    expect(await readNumber(db.em, [9_007_199_254_740_991])).toEqual([{ number: 9_007_199_254_740_991 }]);
    expect(await db.em.fork().execute('select 7::int8 as number')).toEqual([{ number: 7 }]);
  });

  test('fails rather than give an int8 that is not exact', async () => {
    await expect(readNumber(db.em, ['9007199254740993'])).rejects.toThrow('int8 out of range');
  });

  test.skipIf(databaseKind === 'pglite')('is planned once per connection', async () => {
    const readTwice = statement<{ number: number }>('read_twice', 'select $1::int8 as number');
    await db.em.transactional(async (em) => {
      await readTwice(em, [1]);
      await readTwice(em, [2]);
      const prepared = `select generic_plans + custom_plans as runs from pg_prepared_statements where name = 'read_twice'`;
      expect(await em.execute(prepared)).toEqual([{ runs: 2 }]);
    });
  });

  test('sees the transaction it is called in', async () => {
    const readUsers = statement<{ count: number }>('count_users', 'select count(*) as count from users where name = $1');
    const undo = new Error('undo');
    const inside = db.em.transactional(async (em) => {
      await em.execute(`insert into users (name, email) values ('Ada', 'ada@example.com')`);
      expect(await readUsers(db.em, ['Ada'])).toEqual([{ count: 1 }]);
      throw undo;
    });
    await expect(inside).rejects.toBe(undo);
    expect(await readUsers(db.em, ['Ada'])).toEqual([{ count: 0 }]);
  });
});

describe.skipIf(databaseKind === 'pglite')('a transaction in which a statement failed', () => {
  test('is not said to be kept, whoever overlooked the failure', async () => {
    const overlooked = db.em.transactional(async (em) => {
      await em.execute(`insert into users (name, email) values ('Eve', 'eve@example.com')`);
      await em.execute('select 1 / 0').catch(() => undefined);
    });
    await expect(overlooked).rejects.toThrow('undone');
    expect(await db.em.fork().execute(`select 1 from users where email = 'eve@example.com'`)).toEqual([]);
  });
});

describe('a query beside the transaction of its request', () => {
  test('is refused instead of waiting for itself', async () => {
    const beside = db.em.transactional(() => db.em.fork().execute('select 1'));
    await expect(beside).rejects.toThrow('query beside the transaction');
  });
});

test.skipIf(databaseKind === 'pglite')('a database that is closed waits for connections that are being opened', async () => {
  const closing = await openDatabase(await freshPostgresqlUrl());
  await closing.em.fork().execute('select 1');
  const asked = Array.from({ length: 10 }, () => closing.em.fork().execute('select 7 as number'));
  await closing.close();
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 10 }, () => [{ number: 7 }]));
});

describe.skipIf(databaseKind === 'pglite')('a connection that the server ends in the middle of a transaction', () => {
  test('gives its place in the pool back', async () => {
    const terminate = async (pid: number): Promise<void> => {
      await db.em.fork().execute('select pg_terminate_backend(?)', [pid]);
    };
    for (let lost = 0; lost < 12; lost++) {
      const doomed = db.em.fork();
      await doomed.begin();
      const [row] = await doomed.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
      if (row) await terminate(row.pid);
      await expect(doomed.execute('select 1')).rejects.toThrow('onnection');
    }
    expect(await readNumber(db.em, [1])).toEqual([{ number: 1 }]);
  });
});

describe.skipIf(databaseKind === 'pglite')('a connection that dies without a word', () => {
  test('is ended when PostgreSQL would have ended the statement, and its place in the pool given back', async () => {
    const url = new URL(await freshPostgresqlUrl());
    await using way = await openTcpProxy(Number(url.port));
    url.port = String(way.port);
    const remote = await openDatabase(url.href, { connectionsMax: 2, statementMs: 600 });
    const inTransaction = remote.em.fork();
    await inTransaction.begin();
    expect(await readNumber(remote.em, [1])).toEqual([{ number: 1 }]);
    way.silence();
    const waiting = [inTransaction.execute('select 1'), readNumber(remote.em, [2])];
    await Promise.all(waiting.map((one) => expect(one).rejects.toThrow('Connection terminated')));
    way.goOn();
    expect(await readNumber(remote.em, [3])).toEqual([{ number: 3 }]);
    await remote.close();
  });

  test('goes with all that died with it, so that whoever asks next is answered', async () => {
    const url = new URL(await freshPostgresqlUrl());
    await using way = await openTcpProxy(Number(url.port));
    url.port = String(way.port);
    const remote = await openDatabase(url.href, { connectionsMax: 6, statementMs: 1_500 });
    const asleep = Array.from({ length: 6 }, () => remote.em.fork().execute('select pg_sleep(0.1)'));
    await Promise.all(asleep); // so there are six connections, and nobody uses them
    way.silence();
    way.goOn(); // for new ones
    await expect(readNumber(remote.em, [1])).rejects.toThrow('Connection terminated');
    for (let times = 0; times < 6; times += 1) expect(await readNumber(remote.em, [2])).toEqual([{ number: 2 }]);
    await remote.close();
  });
});
