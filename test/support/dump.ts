import type { Database } from '../../server/database/orm.ts';

/** Every row of every table, as text. */
export async function dumpOf(db: Database): Promise<string> {
  const em = db.em.fork();
  const tables = await em.execute<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const rows: string[] = [];
  for (const { name } of tables)
    rows.push(...(await em.execute<{ row: string }[]>(`select t::text as row from "${name}" t`)).map(({ row }) => row));
  return rows.join('\n');
}
