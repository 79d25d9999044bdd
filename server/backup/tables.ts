import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';

const column = z.object({
  name: z.string(),
  /** As PostgreSQL writes it: `character(3)`, `timestamp(3) with time zone`. */
  type: z.string(),
  /** The sequence that gives its values, quoted where it has to be. */
  sequence: z.string().nullable(),
});
const table = z.object({
  name: z.string(),
  columns: z.array(column),
  /** The columns of its primary key, in its order. */
  key: z.array(z.string()),
  /** The tables whose rows have to be there before its own. */
  refers_to: z.array(z.string()),
});
export type Table = z.infer<typeof table>;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const describeTables = `
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

/** The tables of this product as they are in the database, each after those that its rows refer to. */
export async function readTables(db: Database, em: Em): Promise<Table[]> {
  const [row] = await em.execute<{ tables: string }[]>(describeTables);
  const ours = new Set([...db.getMetadata().getAll().values()].map(({ tableName }) => tableName));
  const tables = z.array(table).parse(JSON.parse(row?.tables ?? '[]'));
  return inOrderOfReference(tables.filter(({ name }) => ours.has(name)));
}

function inOrderOfReference(tables: readonly Table[]): Table[] {
  const [left, placed] = [new Set(tables), new Map<string, Table>()];
  while (left.size > 0) {
    const next = [...left].filter(({ refers_to: names }) => names.every((name) => placed.has(name)));
    if (next.length === 0) throw new Error(`tables refer to each other in a circle: ${[...left].map(({ name }) => name).join(', ')}`);
    for (const each of next) {
      left.delete(each);
      placed.set(each.name, each);
    }
  }
  return [...placed.values()];
}

/** In a transaction: every value has one text form from now on, whatever the server, the role and the database prefer. */
export async function fixTextForms(em: Em): Promise<void> {
  const settings = { timezone: 'UTC', datestyle: 'ISO, YMD', intervalstyle: 'postgres', bytea_output: 'hex', extra_float_digits: '1' };
  for (const [name, value] of Object.entries(settings)) await em.execute(`set local ${name} to '${value}'`);
}

export async function countRows(em: Em, { name }: Pick<Table, 'name'>): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(`select count(*) as count from ${quoted(name)}`);
  return row?.count ?? 0;
}

/** So much of a table is in memory at a time, in characters, unless a single row is larger; and so many rows at the most. */
const portionSize = 1 << 20;
const portionRowsMax = 1_000;

/** The rows of a table as lines of a backup, in the order of its key, a portion at a time. In a transaction. */
export async function* readRows(em: Em, from: Table, columns: readonly string[]): AsyncGenerator<string> {
  const values = columns.map((name) => `${quoted(name)}::text`).join(', ');
  await em.execute(
    `declare backup_rows no scroll cursor for select to_json(array[${values}])::text as line from ${quoted(from.name)} order by ${orderOf(from)}`,
  );
  let count = 50;
  for (;;) {
    const rows = await em.execute<{ line: string }[]>(`fetch ${count} from backup_rows`);
    if (rows.length === 0) break;
    const lines = rows.map(({ line }) => `${line}\n`).join('');
    yield lines;
    // rows of one table can be a thousand times larger than those of another
    count = Math.max(1, Math.min(portionRowsMax, count * 2, Math.floor((portionSize * rows.length) / lines.length)));
  }
  await em.execute('close backup_rows');
}

/** The same on every database: texts are compared by their bytes, not by the rules of a language. */
function orderOf({ columns, key }: Table): string {
  const typeOf = new Map(columns.map(({ name, type }) => [name, type]));
  return key.map((name) => (/^(text|char)/.test(typeOf.get(name) ?? '') ? `${quoted(name)} collate "C"` : quoted(name))).join(', ');
}

/** SHA-256 of the rows as they are in the database. */
export async function sumOfRows(em: Em, from: Table, columns: readonly string[], onRows: (count: number) => void): Promise<string> {
  const hash = createHash('sha256');
  for await (const lines of readRows(em, from, columns)) {
    hash.update(lines);
    onRows(countLines(lines));
  }
  return hash.digest('hex');
}

export function countLines(lines: string): number {
  let count = 0;
  for (let at = lines.indexOf('\n'); at !== -1; at = lines.indexOf('\n', at + 1)) count += 1;
  return count;
}
