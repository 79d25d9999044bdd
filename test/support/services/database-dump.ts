import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

/** Returns all rows of all tables as a single string. */
export const dumpDatabase = async (db: Database): Promise<string> => (await readAllRows(db)).join('\n');

/** Returns the rows of all tables except those in `except`, as sorted text lines that start with the table name. */
export async function readAllRows(db: Database, except: readonly string[] = []): Promise<string[]> {
  const em = db.em.fork();
  const tables = await em.execute<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const queries = tables
    .filter((table) => !except.includes(table.name))
    .map(({ name }) => `select '${name} ' || t::text as row from "${name}" t`);
  return (await em.execute<{ row: string }[]>(queries.join(' union all '))).map(({ row }) => row).toSorted();
}
