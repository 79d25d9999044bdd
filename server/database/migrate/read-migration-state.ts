import { readdir } from 'node:fs/promises';
import type { EntityManager } from '../entity-manager/entity-manager-type.ts';

export type MigrationState = {
  /** Migrations in the order in which they were applied. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Migrations applied by a newer release. */
  readonly unknown: readonly string[];
};

const migrationsDirectory = new URL('../migrations/', import.meta.url);

/**
 * Compares the migrations in the database with the migrations of this release. This function only reads from the database, whereas
 * MikroORM's migrator would create its own table.
 */
export async function readMigrationState(em: EntityManager): Promise<MigrationState> {
  const known = (await readdir(migrationsDirectory)).flatMap((file) => /^(\d{14}_\w+)\.[jt]s$/.exec(file)?.[1] ?? []).toSorted();
  const applied = await readAppliedMigrations(em);
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

type MigratorTables = {
  readonly pg_tables: { readonly tablename: string; readonly schemaname: string };
  readonly mikro_orm_migrations: { readonly id: number; readonly name: string };
};

/** Reads the migrator's table, if it exists. */
async function readAppliedMigrations(em: EntityManager): Promise<string[]> {
  const db = em.getKysely<MigratorTables>();
  const tables = db.selectFrom('pg_tables').select('tablename').where('tablename', '=', 'mikro_orm_migrations');
  const [table] = await tables.where('schemaname', '=', ({ fn }) => fn<string>('current_schema')).execute();
  if (!table) return [];
  const rows = await db.selectFrom('mikro_orm_migrations').select('name').orderBy('id').execute();
  return rows.map(({ name }) => name);
}
