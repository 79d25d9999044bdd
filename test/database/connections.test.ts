import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../server/schema/open-database.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { reportStatementDurations } from '../../server/database/connection/pool-safety.ts';
import { prepareDeferredStatement, prepareStatement } from '../../server/database/queries/prepared-statement.ts';
import { databaseKind, freshDatabase, freshPostgresqlUrl } from '../support/services/database.ts';
import { openTcpProxy } from '../support/network/tcp-proxy.ts';

let db: Database;
beforeAll(async () => {
  db = await freshDatabase();
});
afterAll(() => db.close());

const readNumber = prepareStatement<{ number: number }>('read_number', 'select $1::int8 as number');

describe('a statement', () => {
  test('gives an int8 as a number on both databases', async () => {
    expect(await readNumber(db.em, [9_007_199_254_740_991])).toEqual([{ number: 9_007_199_254_740_991 }]);
    expect(await db.em.fork().execute('select 7::int8 as number')).toEqual([{ number: 7 }]);
  });

  test('fails rather than give an int8 that is not exact', async () => {
    await expect(readNumber(db.em, ['9007199254740993'])).rejects.toThrow('int8 out of range');
  });

  test.skipIf(databaseKind === 'pglite')('is planned once per connection', async () => {
    const readTwice = prepareStatement<{ number: number }>('read_twice', 'select $1::int8 as number');
    await db.em.transactional(async (em) => {
      await readTwice(em, [1]);
      await readTwice(em, [2]);
      const prepared = `select generic_plans + custom_plans as runs from pg_prepared_statements where name = 'read_twice'`;
      expect(await em.execute(prepared)).toEqual([{ runs: 2 }]);
    });
  });

  test('sees the transaction it is called in', async () => {
    const readUsers = prepareStatement<{ count: number }>('count_users', 'select count(*) as count from users where name = $1');
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
    await expect(overlooked).rejects.toThrow('rolled back');
    expect(await db.em.fork().execute(`select 1 from users where email = 'eve@example.com'`)).toEqual([]);
  });
});

describe('a statement whose answer nobody waits for', () => {
  const addUser = prepareDeferredStatement('add_user', 'insert into users (name, email) values ($1, $2)');
  const namesOf = prepareStatement<{ name: string }>('names_of_users', 'select name from users where email = $1');

  test('has happened for the statement that comes next, and with the transaction', async () => {
    for (const email of ['later1@example.com', 'later2@example.com']) {
      await db.em.transactional(async () => {
        await addUser(db.em, ['Lea', email]);
        expect(await namesOf(db.em, [email])).toEqual([{ name: 'Lea' }]);
        await addUser(db.em, ['Max', `max.${email}`]);
      });
      expect(await namesOf(db.em, [`max.${email}`])).toEqual([{ name: 'Max' }]);
    }
  });

  test('happens at once where there is no transaction', async () => {
    await addUser(db.em, ['Ida', 'ida@example.com']);
    expect(await namesOf(db.em, ['ida@example.com'])).toEqual([{ name: 'Ida' }]);
  });

  test('goes with its transaction when that is undone', async () => {
    const undo = new Error('undo');
    const undone = db.em.transactional(async () => {
      await addUser(db.em, ['Udo', 'udo@example.com']);
      throw undo;
    });
    await expect(undone).rejects.toBe(undo);
    expect(await namesOf(db.em, ['udo@example.com'])).toEqual([]);
  });

  test.each(['the commit', 'the next statement'])('fails %s when it fails, and nothing of the transaction is kept', async (where) => {
    const email = `${where.replaceAll(' ', '.')}@example.com`;
    const failing = db.em.transactional(async () => {
      await addUser(db.em, ['Kim', email]);
      await addUser(db.em, ['Kim again', email]);
      await addUser(db.em, ['Somebody after', `after.${email}`]);
      if (where === 'the next statement') await namesOf(db.em, [email]);
    });
    await expect(failing).rejects.toThrow('users_email');
    for (const one of [email, `after.${email}`]) expect(await namesOf(db.em, [one])).toEqual([]);
  });

  test.skipIf(databaseKind === 'pglite')('makes no message of its own, nor does the beginning of a transaction', async () => {
    let messages = 0;
    const url = await freshPostgresqlUrl();
    const onPool = (pool: Pool): void => void pool.on('connect', (client) => reportStatementDurations(client, () => (messages += 1)));
    const counted = await openDatabase(url, { connectionsMax: 1, onPool });
    const inTransaction = async (round: number): Promise<number> => {
      const before = messages;
      await counted.em.transactional(async () => {
        await addUser(counted.em, ['Ann', `ann${round}@example.com`]);
        await namesOf(counted.em, ['ann']);
        await addUser(counted.em, ['Bob', `bob${round}@example.com`]);
        await addUser(counted.em, ['Cid', `cid${round}@example.com`]);
      });
      return messages - before;
    };
    await inTransaction(1); // a connection has to know a statement first
    expect(await inTransaction(2)).toBe(2);
    const before = messages;
    await counted.em.transactional(async () => undefined);
    expect(messages).toBe(before);
    await counted.close();
  });
});

describe('a query outside of the transaction of its request', () => {
  test('is refused instead of waiting for itself', async () => {
    const beside = db.em.transactional(() => db.em.fork().execute('select 1'));
    await expect(beside).rejects.toThrow('query outside of the transaction');
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
