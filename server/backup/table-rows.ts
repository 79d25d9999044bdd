import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager.ts';

const columnSchema = z.object({
  name: z.string(),
  /** PostgreSQL's notation: `character(3)`, `timestamp(3) with time zone`. */
  type: z.string(),
  /** The sequence of a serial or identity column, as a quoted name. */
  sequence: z.string().nullable(),
});
const tableSchema = z.object({
  name: z.string(),
  columns: z.array(columnSchema),
  /** The columns of the primary key, in order. */
  key: z.array(z.string()),
  /** Tables whose rows must be inserted first, because of foreign keys. */
  refers_to: z.array(z.string()),
});
export type TableDefinition = z.infer<typeof tableSchema>;

export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const describeTablesSql = `
  select coalesce(json_agg(json_build_object(
    'name', c.relname,
    'columns', (select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                         'sequence', pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname)) order by a.attnum), '[]')
                  from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''),
    'key', (select coalesce(json_agg(a.attname order by k.position), '[]')
              from pg_index i cross join unnest(i.indkey) with ordinality as k (number, position)
              join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
             where i.indrelid = c.oid and i.indisprimary),
    'refers_to', (select coalesce(json_agg(distinct f.relname), '[]')
                    from pg_constraint r join pg_class f on f.oid = r.confrelid
                   where r.conrelid = c.oid and r.contype = 'f' and f.oid <> c.oid)
  ) order by c.relname collate "C"), '[]')::text as tables
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind in ('r', 'p')`;

/** Returns Mandate's tables in the database, sorted so that referenced tables come first. */
export async function readTableDefinitions(db: Database, em: EntityManager): Promise<TableDefinition[]> {
  const [row] = await em.execute<{ tables: string }[]>(describeTablesSql);
  const ours = new Set([...db.getMetadata().getAll().values()].map(({ tableName }) => tableName));
  const tables = z.array(tableSchema).parse(JSON.parse(row?.tables ?? '[]'));
  return sortByReference(tables.filter(({ name }) => ours.has(name)));
}

function sortByReference(tables: readonly TableDefinition[]): TableDefinition[] {
  const [remaining, sorted] = [new Set(tables), new Map<string, TableDefinition>()];
  while (remaining.size > 0) {
    const next = [...remaining].filter(({ refers_to: names }) => names.every((name) => sorted.has(name)));
    if (next.length === 0) throw new Error(`circular foreign keys between tables: ${[...remaining].map(({ name }) => name).join(', ')}`);
    for (const each of next) {
      remaining.delete(each);
      sorted.set(each.name, each);
    }
  }
  return [...sorted.values()];
}

/** Sets text formats for the current transaction, so that values are formatted identically for every server, role and database. */
export async function setBackupTextFormats(em: EntityManager): Promise<void> {
  const settings = { timezone: 'UTC', datestyle: 'ISO, YMD', intervalstyle: 'postgres', bytea_output: 'hex', extra_float_digits: '1' };
  for (const [name, value] of Object.entries(settings)) await em.execute(`set local ${name} to '${value}'`);
}

export async function countRows(em: EntityManager, { name }: Pick<TableDefinition, 'name'>): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(`select count(*) as count from ${quoteIdentifier(name)}`);
  return row?.count ?? 0;
}

/** Upper bounds for the part of a table that is held in memory, in characters (unless a single row is larger) and in rows. */
const maxChunkCharacters = 1 << 20;
const maxChunkRows = 1_000;

/** Reads a table's rows as backup lines, in primary key order, chunk by chunk. Requires a transaction. */
export async function* readBackupRows(em: EntityManager, table: TableDefinition, columns: readonly string[]): AsyncGenerator<string> {
  const values = columns.map((name) => `${quoteIdentifier(name)}::text`).join(', ');
  await em.execute(
    `declare backup_rows no scroll cursor for select to_json(array[${values}])::text as line from ${quoteIdentifier(table.name)} order by ${orderByKey(table)}`,
  );
  let count = 50;
  for (;;) {
    const rows = await em.execute<{ line: string }[]>(`fetch ${count} from backup_rows`);
    if (rows.length === 0) break;
    const lines = rows.map(({ line }) => `${line}\n`).join('');
    yield lines;
    // rows of some tables are a thousand times larger than those of others
    count = Math.max(1, Math.min(maxChunkRows, count * 2, Math.floor((maxChunkCharacters * rows.length) / lines.length)));
  }
  await em.execute('close backup_rows');
}

/** Sorts text by bytes ("C" collation), so that the order is the same in every database. */
function orderByKey({ columns, key }: TableDefinition): string {
  const columnTypes = new Map(columns.map(({ name, type }) => [name, type]));
  return key
    .map((name) => (/^(text|char)/.test(columnTypes.get(name) ?? '') ? `${quoteIdentifier(name)} collate "C"` : quoteIdentifier(name)))
    .join(', ');
}

/** Returns the SHA-256 checksum of the rows in the database. */
export async function checksumRows(
  em: EntityManager,
  table: TableDefinition,
  columns: readonly string[],
  onRows: (count: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  for await (const lines of readBackupRows(em, table, columns)) {
    hash.update(lines);
    onRows(countLines(lines));
  }
  return hash.digest('hex');
}

export function countLines(lines: string): number {
  let count = 0;
  for (let index = lines.indexOf('\n'); index !== -1; index = lines.indexOf('\n', index + 1)) count += 1;
  return count;
}
