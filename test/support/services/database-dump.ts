import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

/** Returns all rows of all tables as a single string. */
export const dumpDatabase = async (db: Database): Promise<string> => (await readAllRows(db)).join('\n');

/** Returns the rows of all tables except those in `except`, as sorted text lines that start with the table name. */
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
