import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../server/schema/open-database.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { faultsOfMigration, readMigrations, tablesMadeBy, type MigrationText } from '../support/migration-rules.ts';

/** Migrations before this moment make the tables of the first release, which no process was there to use. */
const firstRelease = '20261201000000';

let db: Database;
let migrations: MigrationText[];
beforeAll(async () => {
  db = await openDatabase('memory://');
  migrations = await readMigrations(db);
});
afterAll(() => db.close());

describe('a migration lets processes of the release before go on', () => {
  test('each of those that there are', () => {
    const existing: string[] = [];
    const faults = migrations.map((migration) => {
      const found = migration.name < firstRelease ? [] : faultsOfMigration(migration, existing);
      existing.push(...tablesMadeBy(migration));
      return [migration.name, ...found];
    });
    expect(faults.filter(([, ...found]) => found.length > 0)).toEqual([]);
    expect(existing.length).toBeGreaterThan(30);
  });

  const existing = ['orders', 'users', 'order_items'];
  const faults = (statements: readonly string[], more: Partial<MigrationText> = {}): string =>
    faultsOfMigration({ name: 'planted', statements, transactional: true, ...more }, existing).join('; ');

  test.each([
    ['alter table orders add column gift boolean not null default false'],
    ['alter table "orders" add "gift_note" text null'],
    [`alter table orders add constraint a check (note <> 'drop table') not valid`],
    ['alter table orders validate constraint a'],
    ['alter table orders add constraint a unique using index b'],
    ['create table notes (order_id bigint not null references orders (id))'],
    ['create function mandate_place_order_v2() returns int as $$ select 1 $$ language sql'],
    ['insert into users (name) select name from users where false'],
  ])('%s', (sql) => {
    expect(faults([sql])).toBe('');
  });
  test('what takes away, once nothing uses it; an index, alone', () => {
    expect(faults(['alter table orders drop column note'], { unusedSince: '0.2.0' })).toBe('');
    expect(faults(['create index concurrently a on orders (id)'], { transactional: false })).toBe('');
    expect(faults(['create table a (b int not null)', 'create index c on a (b)', 'alter table a add constraint d check (b > 0)'])).toBe('');
  });

  test.each([
    ['alter table orders drop column note', 'removes something'],
    ['drop table order_items', 'removes something'],
    ['drop function mandate_place_order_v1', 'removes something'],
    ['alter table orders rename column note to remark', 'renames'],
    ['alter table orders rename to purchases', 'renames'],
    ['alter table orders alter column version type bigint', 'changes a type'],
    ['alter table orders alter "version" set data type bigint', 'changes a type'],
    ['alter table orders alter column note set not null', 'demands a value'],
    ['alter table "orders" add "gift" boolean not null', 'leave out'],
    ['alter table orders add column gift boolean not null', 'leave out'],
    ['alter table orders add constraint a check (total > 0)', 'not valid'],
    ['alter table orders add constraint a foreign key (x) references y (id)', 'not valid'],
    ['alter table orders add constraint a unique (reference)', 'create it concurrently before'],
    ['create index a on orders (note)', 'create it concurrently'],
    ['create unique index a on orders (note)', 'create it concurrently'],
    ['create index concurrently a on orders (note)', 'goes alone'],
    ['alter table orders add column a int null; alter table users add column a int null', 'orders and users at once'],
  ])('and not %s', (sql, why) => {
    expect(faults(sql.split('; '))).toContain(why);
  });
});
