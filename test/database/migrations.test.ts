import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { migrateAndOpenDatabase } from '../../server/schema/migrate-and-open-database.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { databaseKind, createEmptyPostgresqlUrl, createMigratedDatabase } from '../support/services/database.ts';

const differences = (db: Database): Promise<string> => db.schema.getUpdateSchemaSQL({ wrap: false });

describe('the migrated database', () => {
  let db: Database;
  beforeEach(async () => {
    db = await createMigratedDatabase();
  });
  afterEach(() => db.close());

  test('matches the entities', async () => {
    expect(await differences(db), 'create a migration: npm run migration -- NAME').toBe('');
  });

  test('needs no additional migration', async () => {
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
  ])('with %s differs from the entities', async (_what, change) => {
    await db.em.fork().execute(change);
    expect(await differences(db)).not.toBe('');
  });

  test('stores all timestamps with millisecond precision, because cursors with JavaScript dates skip rows at a finer precision', async () => {
    const otherColumns = await db.em.fork().execute(`
      select table_name, column_name from information_schema.columns
       where table_schema = 'public' and table_name <> 'mikro_orm_migrations' and data_type like 'timestamp%'
         and (datetime_precision <> 3 or data_type <> 'timestamp with time zone')`);
    expect(otherColumns).toEqual([]);
  });

  // the schema comparison ignores index expressions
  test('allows one open account per e-mail address, case-insensitively', async () => {
    const [index] = await db.em
      .fork()
      .execute<{ definition: string }[]>(`select pg_get_indexdef('users_email_unique'::regclass) as definition`);
    expect(index?.definition).toContain(`(lower(email)) WHERE (status <> 'closed'::text)`);
  });
});

describe.skipIf(databaseKind === 'pglite')('six processes that start concurrently on an empty database', () => {
  test('run each migration once', async () => {
    const url = await createEmptyPostgresqlUrl();
    const databases = await Promise.all(Array.from({ length: 6 }, () => migrateAndOpenDatabase(url)));
    const [db] = databases;
    const applied = await db?.em.fork().execute('select name, count(*) from mikro_orm_migrations group by name having count(*) > 1');
    expect(applied).toEqual([]);
    await Promise.all(databases.map((database) => database.close()));
  });
});

describe.skipIf(databaseKind === 'pglite')('a migration of a table in a long read transaction', () => {
  test('waits for the reader without blocking other queries', { timeout: 60_000 }, async () => {
    const url = await createEmptyPostgresqlUrl();
    const db = await openDatabaseWithoutMigrating(url, { timeouts: 'none', connectionsMax: 3 });
    const others = await openDatabaseWithoutMigrating(url);
    const all = (await db.migrator.getPending()).map(({ name }) => name);
    const remaining = all.slice(all.indexOf('20261120164749_webhooks')); // this migration alters existing tables
    await db.migrator.up({ migrations: all.slice(0, -remaining.length) });
    const reader = others.em.fork();
    await reader.begin();
    for (const table of ['users', 'connections', 'applications', 'events', 'api_keys'])
      await reader.execute(`select 1 from ${table} limit 1`);
    const migrating = migrate(db);
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like 'alter table%'`;
    await expect.poll(async () => (await others.em.fork().execute(waits)).length, { timeout: 30_000 }).toBeGreaterThan(0);
    // these queries queue behind the migration, and fail with a lock timeout unless the migration releases and retries its lock
    for (const table of ['users', 'connections', 'applications']) await others.em.fork().execute(`select count(*) from ${table}`);
    await reader.rollback();
    expect(await migrating).toEqual(remaining);
    expect(await differences(others)).toBe('');
    for (const database of [db, others]) await database.close();
  });
});

describe.skipIf(databaseKind === 'postgresql')('the embedded database', () => {
  test('runs one transaction at a time, and closes after the transaction has completed', async () => {
    const db = await openDatabaseWithoutMigrating('memory://');
    await migrate(db);
    const begun = Promise.withResolvers<void>();
    const insert = db.em.transactional(async (em) => {
      begun.resolve();
      await em.execute('select pg_sleep(0.2)');
      return em.execute('select 1 as done');
    });
    await begun.promise;
    await db.close();
    expect(await insert).toEqual([{ done: 1 }]);
  });
});
