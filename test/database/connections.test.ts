import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { prepareDeferredWrite, prepareStatement } from '../../server/database/queries/prepared-statement.ts';
import { databaseKind, createMigratedDatabase, createMigratedPostgresqlUrl } from '../support/services/database.ts';
import { openTcpProxy } from '../support/network/tcp-proxy.ts';

let db: Database;
beforeAll(async () => {
  db = await createMigratedDatabase();
});
afterAll(() => db.close());

const readNumber = prepareStatement<{ number: number }>('read_number', 'select $1::int8 as number');

describe('a statement', () => {
  test('returns int8 values as numbers on both databases', async () => {
    expect(await readNumber(db.em, [9_007_199_254_740_991])).toEqual([{ number: 9_007_199_254_740_991 }]);
    expect(await db.em.fork().execute('select 7::int8 as number')).toEqual([{ number: 7 }]);
  });

  test('returns arrays of integers and texts as arrays on both databases', async () => {
    const rows = await db.em.fork().execute(`select array[7] as numbers, array['a', null] as texts`);
    expect(rows).toEqual([{ numbers: [7], texts: ['a', null] }]);
  });

  test('fails if a number cannot represent the int8 value exactly', async () => {
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

  test('runs in the transaction of its caller', async () => {
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

describe.skipIf(databaseKind === 'pglite')('a transaction with a failed statement', () => {
  test('rejects at commit even if the caller has caught the error of the statement', async () => {
    const withCaughtError = db.em.transactional(async (em) => {
      await em.execute(`insert into users (name, email) values ('Eve', 'eve@example.com')`);
      await em.execute('select 1 / 0').catch(() => undefined);
    });
    await expect(withCaughtError).rejects.toThrow('rolled back');
    expect(await db.em.fork().execute(`select 1 from users where email = 'eve@example.com'`)).toEqual([]);
  });
});

describe('a deferred write', () => {
  const addUser = prepareDeferredWrite('add_user', 'insert into users (name, email) values ($1, $2)');
  const readNames = prepareStatement<{ name: string }>('names_of_users', 'select name from users where email = $1');

  test('is visible to the next statement and is committed with the transaction', async () => {
    for (const email of ['later1@example.com', 'later2@example.com']) {
      await db.em.transactional(async () => {
        await addUser(db.em, ['Lea', email]);
        expect(await readNames(db.em, [email])).toEqual([{ name: 'Lea' }]);
        await addUser(db.em, ['Max', `max.${email}`]);
      });
      expect(await readNames(db.em, [`max.${email}`])).toEqual([{ name: 'Max' }]);
    }
  });

  test('runs immediately without a transaction', async () => {
    await addUser(db.em, ['Ida', 'ida@example.com']);
    expect(await readNames(db.em, ['ida@example.com'])).toEqual([{ name: 'Ida' }]);
  });

  test('is rolled back with its transaction', async () => {
    const undo = new Error('undo');
    const rolledBack = db.em.transactional(async () => {
      await addUser(db.em, ['Udo', 'udo@example.com']);
      throw undo;
    });
    await expect(rolledBack).rejects.toBe(undo);
    expect(await readNames(db.em, ['udo@example.com'])).toEqual([]);
  });

  test.each(['the commit', 'the next statement'])('that fails makes %s fail and rolls back the whole transaction', async (failingStep) => {
    const email = `${failingStep.replaceAll(' ', '.')}@example.com`;
    const failing = db.em.transactional(async () => {
      await addUser(db.em, ['Kim', email]);
      await addUser(db.em, ['Kim again', email]);
      await addUser(db.em, ['Somebody after', `after.${email}`]);
      if (failingStep === 'the next statement') await readNames(db.em, [email]);
    });
    await expect(failing).rejects.toThrow('users_email');
    for (const address of [email, `after.${email}`]) expect(await readNames(db.em, [address])).toEqual([]);
  });

  test.skipIf(databaseKind === 'pglite')('needs no separate message, nor does the start of a transaction', async () => {
    let messages = 0;
    const url = await createMigratedPostgresqlUrl();
    const onMessage = () => () => void (messages += 1);
    const counted = await openDatabaseWithoutMigrating(url, { connectionsMax: 1, onMessage });
    const inTransaction = async (round: number): Promise<number> => {
      const before = messages;
      await counted.em.transactional(async () => {
        await addUser(counted.em, ['Ann', `ann${round}@example.com`]);
        await readNames(counted.em, ['ann']);
        await addUser(counted.em, ['Bob', `bob${round}@example.com`]);
        await addUser(counted.em, ['Cid', `cid${round}@example.com`]);
      });
      return messages - before;
    };
    await inTransaction(1); // prepares the statements on the connection
    expect(await inTransaction(2)).toBe(2);
    const before = messages;
    await counted.em.transactional(async () => undefined);
    expect(messages).toBe(before);
    await counted.close();
  });
});

describe("a query outside its request's transaction", () => {
  test('is rejected instead of causing a deadlock', async () => {
    const outside = db.em.transactional(() => db.em.fork().execute('select 1'));
    await expect(outside).rejects.toThrow('query outside of the transaction');
  });
});

test.skipIf(databaseKind === 'pglite')('closing a database waits for connections in progress', async () => {
  const closing = await openDatabaseWithoutMigrating(await createMigratedPostgresqlUrl());
  await closing.em.fork().execute('select 1');
  const queries = Array.from({ length: 10 }, () => closing.em.fork().execute('select 7 as number'));
  await closing.close();
  expect(await Promise.all(queries)).toEqual(Array.from({ length: 10 }, () => [{ number: 7 }]));
});

describe.skipIf(databaseKind === 'pglite')('a connection that the server terminates during a transaction', () => {
  test('is removed from the pool, so that a new connection can replace it', async () => {
    const terminate = async (pid: number): Promise<void> => {
      await db.em.fork().execute('select pg_terminate_backend(?)', [pid]);
    };
    for (let count = 0; count < 12; count++) {
      const terminated = db.em.fork();
      await terminated.begin();
      const [row] = await terminated.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
      if (row) await terminate(row.pid);
      await expect(terminated.execute('select 1')).rejects.toThrow('onnection');
    }
    expect(await readNumber(db.em, [1])).toEqual([{ number: 1 }]);
  });
});

describe.skipIf(databaseKind === 'pglite')('a connection that stops responding', () => {
  test('is closed after the statement timeout and removed from the pool', async () => {
    const url = new URL(await createMigratedPostgresqlUrl());
    await using proxy = await openTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const remote = await openDatabaseWithoutMigrating(url.href, { connectionsMax: 2, statementMs: 600 });
    const inTransaction = remote.em.fork();
    await inTransaction.begin();
    expect(await readNumber(remote.em, [1])).toEqual([{ number: 1 }]);
    proxy.dropTraffic();
    const waiting = [inTransaction.execute('select 1'), readNumber(remote.em, [2])];
    await Promise.all(waiting.map((query) => expect(query).rejects.toThrow('Connection terminated')));
    proxy.forwardNewConnections();
    expect(await readNumber(remote.em, [3])).toEqual([{ number: 3 }]);
    await remote.close();
  });

  test('is closed with all other dead connections, so that the next queries succeed', async () => {
    const url = new URL(await createMigratedPostgresqlUrl());
    await using proxy = await openTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const remote = await openDatabaseWithoutMigrating(url.href, { connectionsMax: 6, statementMs: 1_500 });
    const sleeping = Array.from({ length: 6 }, () => remote.em.fork().execute('select pg_sleep(0.1)'));
    await Promise.all(sleeping); // opens six connections, which are idle afterwards
    proxy.dropTraffic();
    proxy.forwardNewConnections(); // existing connections remain dead
    await expect(readNumber(remote.em, [1])).rejects.toThrow('Connection terminated');
    for (let times = 0; times < 6; times += 1) expect(await readNumber(remote.em, [2])).toEqual([{ number: 2 }]);
    await remote.close();
  });
});
