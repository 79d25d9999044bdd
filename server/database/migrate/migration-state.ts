import { readdir } from 'node:fs/promises';
import type { Em } from '../entity-manager/entity-manager.ts';

export type MigrationState = {
  /** In the order in which they were. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Applied by a newer release. */
  readonly unknown: readonly string[];
};

const directory = new URL('../migrations/', import.meta.url);

/** Which migrations the database has, of those that there are. It changes nothing, where the migrator would make its table. */
export async function migrationState(em: Em): Promise<MigrationState> {
  const known = (await readdir(directory)).flatMap((file) => /^(\d{14}_\w+)\.[jt]s$/.exec(file)?.[1] ?? []).toSorted();
  const [table] = await em.execute<{ there: boolean }[]>(`select to_regclass('mikro_orm_migrations') is not null as there`);
  const rows = table?.there ? await em.execute<{ name: string }[]>('select name from mikro_orm_migrations order by id') : [];
  const applied = rows.map(({ name }) => name);
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}
