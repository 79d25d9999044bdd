import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { openMigratedDatabase } from '../../server/schema/open-migrated-database.ts';
import { openDatabase } from '../../server/schema/open-database.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { databaseKind, emptyPostgresqlUrl, freshDatabase } from '../support/services/database.ts';

const differences = (db: Database): Promise<string> => db.schema.getUpdateSchemaSQL({ wrap: false });

describe('the migrated database', () => {
  let db: Database;
  beforeEach(async () => {
    db = await freshDatabase();
  });
  afterEach(() => db.close());

  test('is what the entities say', async () => {
    expect(await differences(db)).toBe('');
  });

  test('is migrated no second time', async () => {
    expect(await migrate(db)).toEqual([]);
  });

  test.each([
    ['a dropped check', 'alter table users drop constraint users_name_check'],
    ['a dropped unique index', 'drop index users_email_unique'],
    ['a nullable column', 'alter table users alter name drop not null'],
    ['another default', `alter table users alter status set default 'suspended'`],
    ['another type', 'alter table users alter version type bigint'],
    ['a stray column', 'alter table users add stray int'],
    ['a stray table', 'create table stray (id int)'],
  ])('with %s is told from it', async (_what, change) => {
    await db.em.fork().execute(change);
    expect(await differences(db)).not.toBe('');
  });

  test('keeps every instant to the millisecond, as JavaScript does: a cursor on a finer one would lose rows', async () => {
    const finer = await db.em.fork().execute(`
      select table_name, column_name from information_schema.columns
       where table_schema = 'public' and table_name <> 'mikro_orm_migrations' and data_type like 'timestamp%'
         and (datetime_precision <> 3 or data_type <> 'timestamp with time zone')`);
    expect(finer).toEqual([]);
  });

  // the comparison does not read what an index on an expression consists of
  test('keeps one open account per address, whatever the case of its letters', async () => {
    const [index] = await db.em
      .fork()
      .execute<{ definition: string }[]>(`select pg_get_indexdef('users_email_unique'::regclass) as definition`);
    expect(index?.definition).toContain(`(lower(email)) WHERE (status <> 'closed'::text)`);
  });
});

describe.skipIf(databaseKind === 'pglite')('six processes that start together on an empty database', () => {
  test('migrate it once', async () => {
    const url = await emptyPostgresqlUrl();
    const opened = await Promise.all(Array.from({ length: 6 }, () => openMigratedDatabase(url)));
    const [db] = opened;
    const applied = await db?.em.fork().execute('select name, count(*) from mikro_orm_migrations group by name having count(*) > 1');
    expect(applied).toEqual([]);
    await Promise.all(opened.map((each) => each.close()));
  });
});

describe.skipIf(databaseKind === 'pglite')('a table that somebody reads for long', () => {
  test('is changed later, and nobody waits behind that', { timeout: 60_000 }, async () => {
    const url = await emptyPostgresqlUrl();
    const db = await openDatabase(url, { timeouts: 'none', connectionsMax: 3 });
    const others = await openDatabase(url);
    const all = (await db.migrator.getPending()).map(({ name }) => name);
    const left = all.slice(all.indexOf('20261120164749_webhooks')); // which alters tables that were there before
    await db.migrator.up({ migrations: all.slice(0, -left.length) });
    const reader = others.em.fork();
    await reader.begin();
    for (const table of ['users', 'connections', 'applications', 'events', 'api_keys'])
      await reader.execute(`select 1 from ${table} limit 1`);
    const migrating = migrate(db);
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like 'alter table%'`;
    await expect.poll(async () => (await others.em.fork().execute(waits)).length, { timeout: 30_000 }).toBeGreaterThan(0);
    // behind the migration in the queue for the table: with the usual limit for locks this fails unless that gives way
    for (const table of ['users', 'connections', 'applications']) await others.em.fork().execute(`select count(*) from ${table}`);
    await reader.rollback();
    expect(await migrating).toEqual(left);
    expect(await differences(others)).toBe('');
    for (const each of [db, others]) await each.close();
  });
});

describe.skipIf(databaseKind === 'postgresql')('the embedded database', () => {
  test('takes part in one transaction at a time and closes only after it', async () => {
    const db = await openDatabase('memory://');
    await migrate(db);
    const insert = db.em.transactional(async (em) => {
      await em.execute('select pg_sleep(0.2)');
      return em.execute('select 1 as done');
    });
    await new Promise((begun) => setTimeout(begun, 50));
    await db.close();
    expect(await insert).toEqual([{ done: 1 }]);
  });
});
