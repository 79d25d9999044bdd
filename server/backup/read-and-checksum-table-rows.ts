import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import {
  closeRowCursor,
  queryTableDefinitionsAsJson,
  fetchRowsFromCursor,
  openTableRowCursor,
  quoteSqlIdentifier,
} from './read-and-insert-table-rows.sql.ts';

const columnSchema = z.object({
  name: z.string(),
  /** Type in PostgreSQL's notation, such as `character(3)` or `timestamp(3) with time zone`. */
  type: z.string(),
  /** Quoted name of the sequence, if the column is a serial or identity column. */
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

/** Returns Mandate's tables in the database, sorted so that referenced tables come first. */
export async function readTableDefinitions(db: Database, em: EntityManager): Promise<TableDefinition[]> {
  const [row] = await queryTableDefinitionsAsJson(em);
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

/** PostgreSQL settings that give values the same text format on every server, in every database and for every role. */
export const backupPostgresqlSettings = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
};

/** Returns a query builder that accepts any table or sequence name, because a backup reads all tables and sequences. */
export const getUntypedQueryBuilder = (em: EntityManager) => em.getKysely<Record<string, Record<string, unknown>>>();

export async function countTableRows(em: EntityManager, { name }: Pick<TableDefinition, 'name'>): Promise<number> {
  const counted = getUntypedQueryBuilder(em)
    .selectFrom(name)
    .select(({ fn }) => fn.countAll<number>().as('count'));
  return (await counted.executeTakeFirst())?.count ?? 0;
}

/** Maximum number of characters and of rows that are held in memory at a time. A single row can have more characters. */
const maxChunkCharacters = 1 << 20;
const maxChunkRows = 1_000;

/** Reads a table's rows as backup lines, in primary key order, chunk by chunk. Requires a transaction. */
export async function* readTableRowsAsBackupLines(
  em: EntityManager,
  table: TableDefinition,
  columns: readonly string[],
): AsyncGenerator<string> {
  await openTableRowCursor(em, table.name, columns, orderByKey(table));
  let count = 50;
  for (;;) {
    const rows = await fetchRowsFromCursor(em, count);
    if (rows.length === 0) break;
    const lines = rows.map(({ line }) => `${line}\n`).join('');
    yield lines;
    // rows in some tables are a thousand times larger than rows in others
    count = Math.max(1, Math.min(maxChunkRows, count * 2, Math.floor((maxChunkCharacters * rows.length) / lines.length)));
  }
  await closeRowCursor(em);
}

/**
 * Returns an ORDER BY list for the primary key. Text is sorted by byte value ("C" collation), so that the order is the same in every
 * database.
 */
function orderByKey({ columns, key }: TableDefinition): string {
  const columnTypes = new Map(columns.map(({ name, type }) => [name, type]));
  return key
    .map((name) =>
      /^(text|char)/.test(columnTypes.get(name) ?? '') ? `${quoteSqlIdentifier(name)} collate "C"` : quoteSqlIdentifier(name),
    )
    .join(', ');
}

/** Returns the SHA-256 checksum of a table's rows in the database. */
export async function checksumTableRows(
  em: EntityManager,
  table: TableDefinition,
  columns: readonly string[],
  onRows: (count: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  for await (const lines of readTableRowsAsBackupLines(em, table, columns)) {
    hash.update(lines);
    onRows(countNewlines(lines));
  }
  return hash.digest('hex');
}

export function countNewlines(lines: string): number {
  let count = 0;
  for (let index = lines.indexOf('\n'); index !== -1; index = lines.indexOf('\n', index + 1)) count += 1;
  return count;
}
