import { readdir } from 'node:fs/promises';
import type { EntityManager } from '../entity-manager/entity-manager.ts';

export type MigrationState = {
  /** Migrations in the order in which they were applied. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Migrations applied by a newer release. */
  readonly unknown: readonly string[];
};

const migrationsDirectory = new URL('../migrations/', import.meta.url);

/** Compares the migrations in the database with those of this release. Changes nothing, whereas MikroORM's migrator would create its table. */
export async function readMigrationState(em: EntityManager): Promise<MigrationState> {
  const known = (await readdir(migrationsDirectory)).flatMap((file) => /^(\d{14}_\w+)\.[jt]s$/.exec(file)?.[1] ?? []).toSorted();
  const [table] = await em.execute<{ table_exists: boolean }[]>(`select to_regclass('mikro_orm_migrations') is not null as table_exists`);
  const rows = table?.table_exists ? await em.execute<{ name: string }[]>('select name from mikro_orm_migrations order by id') : [];
  const applied = rows.map(({ name }) => name);
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}
