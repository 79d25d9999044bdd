import { afterEach, describe, expect, test } from 'vitest';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { readAllRows } from '../support/services/database-dump.ts';
import { createMigratedDatabase, databaseKind } from '../support/services/database.ts';

const opened: Database[] = [];
async function openDatabase(): Promise<Database> {
  const db = await createMigratedDatabase();
  opened.push(db);
  return db;
}
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

const readValue = async (db: Database, expression: string): Promise<unknown> =>
  (await db.em.fork().execute<{ value: unknown }[]>(`select ${expression} as value`))[0]?.value;
const readStartTime = (db: Database): Promise<unknown> => readValue(db, 'pg_postmaster_start_time()::text');
const insertUser = (db: Database): Promise<{ id: number }[]> =>
  db.em.fork().execute(`insert into users (name, email, role) values ('Ann', 'ann@example.com', 'customer') returning id`);

/**
 * Opens a database, changes it and closes it, and then opens another database, which can be the same one again. Returns the start times
 * that PostgreSQL reports in the two databases.
 */
async function reopenAfter(change: (db: Database) => Promise<unknown>): Promise<{ db: Database; startTimes: readonly unknown[] }> {
  const first = await openDatabase();
  const startTime = await readStartTime(first);
  await change(first);
  await first.close();
  const db = await openDatabase();
  return { db, startTimes: [startTime, await readStartTime(db)] };
}

describe.skipIf(databaseKind !== 'pglite')('a closed PGlite database', () => {
  test('is used again, without the rows, sequence values and session settings of its previous use', async () => {
    const migratedRows = await readAllRows(await openDatabase());
    await opened.pop()?.close();
    const { db, startTimes } = await reopenAfter(async (previous) => {
      await insertUser(previous);
      await previous.em.fork().execute('delete from event_sequence');
      await previous.em.fork().execute(`set timezone = 'Asia/Tokyo'`);
      await previous.em.fork().execute('begin');
    });
    expect(startTimes[1]).toBe(startTimes[0]);
    expect(await readAllRows(db)).toEqual(migratedRows);
    expect(await readValue(db, `current_setting('timezone')`)).not.toBe('Asia/Tokyo');
    expect(await insertUser(db)).toEqual([{ id: 1 }]);
  });

  test.each([
    'create table extra (id integer)',
    'alter table users disable trigger all',
    'alter table users alter column name drop not null',
    'drop index users_email_unique',
    'create role reader',
    'analyze users',
    `create or replace function place_order_v1() returns void language sql as ''`,
  ])('is not used again after `%s`', async (statement) => {
    const { db, startTimes } = await reopenAfter(async (previous) => {
      await insertUser(previous);
      await previous.em.fork().execute(statement);
    });
    expect(startTimes[1]).not.toBe(startTimes[0]);
    expect(await insertUser(db)).toEqual([{ id: 1 }]);
  });

  test('is used by one caller at a time', async () => {
    const [first, second] = [await openDatabase(), await openDatabase()];
    await insertUser(first);
    expect(await readValue(second, '(select count(*)::int from users)')).toBe(0);
  });
});
