import { CompiledQuery } from 'kysely';
import { Client, type Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { detectPoolerAndAssertCompatible } from '../../server/database/connection/check-connection-pooler.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { prepareDeferredWrite, prepareStatement } from '../../server/database/queries/prepared-statement.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../support/services/database.ts';
import { hasPgBouncer, startPgBouncer, supportsPreparedStatements, type PgBouncer } from '../support/services/pgbouncer.ts';

const sleep = prepareStatement<{ slept: string }>('sleep', `select pg_sleep($1::float8)::text as slept`);
const readLimit = prepareStatement<{ limit: string }>(
  'read_limit',
  `select current_setting('statement_timeout') as limit where $1::int8 = 1`,
);
const addUser = prepareDeferredWrite('add_pooled_user', 'insert into users (name, email) values ($1, $2)');
const countUsers = prepareStatement<{ count: number }>('count_pooled_users', 'select count(*) as count from users where email = $1');

const modes = [
  ['session', true],
  ['session', false],
  ['transaction', false],
  ...(supportsPreparedStatements ? [['transaction', true] as const] : []),
] as const;

describe.skipIf(databaseKind === 'pglite' || !hasPgBouncer).each(modes)(
  'a database behind PgBouncer in %s mode, with prepared statements: %s',
  (mode, preparedStatements) => {
    let url: string;
    let bouncer: PgBouncer;
    let db: Database;
    let messages = 0;
    beforeEach(async () => {
      url = await createMigratedPostgresqlUrl();
      bouncer = await startPgBouncer(url, { pool_mode: mode, ...(supportsPreparedStatements && { max_prepared_statements: 100 }) });
      const onMessage = () => () => void (messages += 1);
      db = await openDatabaseWithoutMigrating(bouncer.url, { preparedStatements, statementMs: 1_500, connectionsMax: 4, onMessage });
    });
    afterEach(async () => {
      await db.close();
      await bouncer[Symbol.asyncDispose]();
    });

    test('cancels statements after their time limit, inside and outside transactions', { timeout: 60_000 }, async () => {
      const timedOut = /statement timeout/;
      await expect(sleep(db.em, [5])).rejects.toThrow(timedOut);
      await expect(db.em.fork().execute('select pg_sleep(5)')).rejects.toThrow(timedOut);
      await expect(db.em.fork().execute('select pg_sleep(?)', [5])).rejects.toThrow(timedOut);
      await expect(db.em.transactional((em) => sleep(em, [5]))).rejects.toThrow(timedOut);
      await expect(db.em.transactional((em) => em.execute('select pg_sleep(5)'))).rejects.toThrow(timedOut);
      const repeatable = await db.em.getKysely().startTransaction().setIsolationLevel('repeatable read').execute();
      await expect(repeatable.executeQuery(CompiledQuery.raw('select pg_sleep(5)'))).rejects.toThrow(timedOut);
      await repeatable.rollback().execute();
      expect(await readLimit(db.em, [1])).toEqual([{ limit: '1500ms' }]);
    });

    test('leaves no changed settings on the connection for the next client', async () => {
      await Promise.all(Array.from({ length: 20 }, () => readLimit(db.em, [1])));
      await db.em.transactional(async (em) => void (await em.execute('select 1')));
      const others = Array.from({ length: 4 }, () => new Client(bouncer.url));
      await Promise.all(others.map((other) => other.connect()));
      for (const other of others) await other.query('begin');
      for (const other of others) {
        const { rows } = await other.query(`select name from pg_settings where name like '%timeout' and setting <> reset_val`);
        expect(rows).toEqual([]);
      }
      await Promise.all(others.map((other) => other.end()));
    });

    test('keeps deferred writes in their transaction and needs no additional messages', async () => {
      const write = (email: string): Promise<void> =>
        db.em.transactional(async () => {
          await addUser(db.em, ['Ann', email]);
          expect(await countUsers(db.em, [email])).toEqual([{ count: 1 }]);
          await addUser(db.em, ['Ann', `later.${email}`]);
        });
      for (const round of [1, 2, 3, 4]) await write(`ann${round}@example.com`); // these rounds prepare the statements
      const before = messages;
      await write('ann5@example.com');
      expect(messages - before).toBe(2);
      expect(await countUsers(db.em, ['later.ann5@example.com'])).toEqual([{ count: 1 }]);
    });

    test('works after a failed transaction', async () => {
      await addUser(db.em, ['Eve', 'eve@example.com']);
      const duplicate = db.em.transactional(async () => {
        await addUser(db.em, ['Ada', 'ada@example.com']);
        await addUser(db.em, ['Eve', 'eve@example.com']);
      });
      await expect(duplicate).rejects.toThrow('users_email');
      expect(await countUsers(db.em, ['ada@example.com'])).toEqual([{ count: 0 }]);
      expect(await readLimit(db.em, [1])).toEqual([{ limit: '1500ms' }]);
    });

    test('is detected as behind a pooler', async () => {
      const pools: Pool[] = [];
      const checked = await openDatabaseWithoutMigrating(bouncer.url, { preparedStatements: false, onPool: (pool) => pools.push(pool) });
      await checked.em.fork().execute('select 1');
      expect(await Promise.all(pools.map((pool) => detectPoolerAndAssertCompatible(pool, preparedStatements)))).toEqual(['pooler']);
      await checked.close();
    });
  },
);

describe.skipIf(databaseKind === 'pglite')('a database without a pooler', () => {
  test('sets its time limits once per connection', async () => {
    const pools: Pool[] = [];
    const direct = await openDatabaseWithoutMigrating(await createMigratedPostgresqlUrl(), {
      statementMs: 400,
      connectionsMax: 1,
      onPool: (pool) => pools.push(pool),
    });
    const [limit] = await direct.em.fork().execute<object[]>(
      `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
              current_setting('idle_in_transaction_session_timeout') as idle, current_setting('client_connection_check_interval') as checked`,
    );
    expect(limit).toEqual({ statement: '400ms', lock: '10s', idle: '30s', checked: '1s' });
    expect(await Promise.all(pools.map((pool) => detectPoolerAndAssertCompatible(pool, true)))).toEqual(['direct']);
    await direct.close();
  });

  test('works without named statements', async () => {
    const direct = await openDatabaseWithoutMigrating(await createMigratedPostgresqlUrl(), {
      preparedStatements: false,
      connectionsMax: 1,
    });
    await direct.em.transactional(async (em) => {
      await addUser(em, ['Ann', 'ann@example.com']);
      expect(await countUsers(em, ['ann@example.com'])).toEqual([{ count: 1 }]);
    });
    expect(await direct.em.fork().execute('select name from pg_prepared_statements')).toEqual([]);
    await direct.close();
  });

  test('sends a deferred write immediately after a transaction that contains only deferred writes', async () => {
    const url = await createMigratedPostgresqlUrl();
    const [direct, other] = [
      await openDatabaseWithoutMigrating(url, { connectionsMax: 1 }),
      await openDatabaseWithoutMigrating(url, { connectionsMax: 1 }),
    ];
    for (const round of [1, 2, 3]) await direct.em.transactional(async () => addUser(direct.em, ['Ann', `ann${round}@example.com`]));
    await addUser(direct.em, ['Bob', 'bob@example.com']);
    expect(await countUsers(other.em, ['bob@example.com'])).toEqual([{ count: 1 }]);
    await Promise.all([direct.close(), other.close()]);
  });
});
