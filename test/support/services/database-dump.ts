import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

/** Returns all rows of all tables as a single text. */
export const dumpDatabase = async (db: Database): Promise<string> => (await readAllRows(db)).join('\n');

/** Returns all rows of all tables except `except` as text, sorted, each with its table name as prefix. */
export async function readAllRows(db: Database, except: readonly string[] = []): Promise<string[]> {
  const em = db.em.fork();
  const tables = await em.execute<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const rows: string[] = [];
  for (const { name } of tables.filter((table) => !except.includes(table.name)))
    rows.push(...(await em.execute<{ row: string }[]>(`select t::text as row from "${name}" t`)).map(({ row }) => `${name} ${row}`));
  return rows.toSorted();
}
