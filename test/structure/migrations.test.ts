import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { findMigrationFaults, readMigrations, listCreatedTables, type ParsedMigration } from '../support/migration-rules.ts';

/** Migrations before this timestamp belong to the first release, so no processes of an earlier release can be running. */
const firstRelease = '20261201000000';

let db: Database;
let migrations: ParsedMigration[];
beforeAll(async () => {
  db = await openDatabaseWithoutMigrating('memory://');
  migrations = await readMigrations(db);
});
afterAll(() => db.close());

describe('migrations for running processes of the previous release', () => {
  test('every existing migration is safe', () => {
    const existing: string[] = [];
    const faults = migrations.map((migration) => {
      const found = migration.name < firstRelease ? [] : findMigrationFaults(migration, existing);
      existing.push(...listCreatedTables(migration));
      return [migration.name, ...found];
    });
    expect(faults.filter(([, ...found]) => found.length > 0)).toEqual([]);
    expect(existing.length).toBeGreaterThan(30);
  });

  const existing = ['orders', 'users', 'order_items'];
  const faults = (statements: readonly string[], more: Partial<ParsedMigration> = {}): string =>
    findMigrationFaults({ name: 'planted', statements, transactional: true, ...more }, existing).join('; ');

  test.each([
    ['alter table orders add column gift boolean not null default false'],
    ['alter table "orders" add "gift_note" text null'],
    [`alter table orders add constraint a check (note <> 'drop table') not valid`],
    ['alter table orders validate constraint a'],
    ['alter table orders add constraint a unique using index b'],
    ['create table notes (order_id bigint not null references orders (id))'],
    ['create function mandate_place_order_v2() returns int as $$ select 1 $$ language sql'],
    ['insert into users (name) select name from users where false'],
  ])('findMigrationFaults accepts %s', (sql) => {
    expect(faults([sql])).toBe('');
  });
  test('findMigrationFaults accepts removal of unused objects, a single concurrent index, and new tables with indexes', () => {
    expect(faults(['alter table orders drop column note'], { unusedSince: '0.2.0' })).toBe('');
    expect(faults(['create index concurrently a on orders (id)'], { transactional: false })).toBe('');
    expect(faults(['create table a (b int not null)', 'create index c on a (b)', 'alter table a add constraint d check (b > 0)'])).toBe('');
  });

  test.each([
    ['alter table orders drop column note', 'drops an object'],
    ['drop table order_items', 'drops an object'],
    ['drop function mandate_place_order_v1', 'drops an object'],
    ['alter table orders rename column note to remark', 'renames'],
    ['alter table orders rename to purchases', 'renames'],
    ['alter table orders alter column version type bigint', 'changes a type'],
    ['alter table orders alter "version" set data type bigint', 'changes a type'],
    ['alter table orders alter column note set not null', 'requires a value'],
    ['alter table "orders" add "gift" boolean not null', 'omit'],
    ['alter table orders add column gift boolean not null', 'omit'],
    ['alter table orders add constraint a check (total > 0)', 'not valid'],
    ['alter table orders add constraint a foreign key (x) references y (id)', 'not valid'],
    ['alter table orders add constraint a unique (reference)', 'create the index concurrently first'],
    ['create index a on orders (note)', 'create the index concurrently'],
    ['create unique index a on orders (note)', 'create the index concurrently'],
    ['create index concurrently a on orders (note)', 'put the statement alone'],
    ['alter table orders add column a int null; alter table users add column a int null', 'orders and users in one transaction'],
  ])('findMigrationFaults rejects %s', (sql, reason) => {
    expect(faults(sql.split('; '))).toContain(reason);
  });
});
