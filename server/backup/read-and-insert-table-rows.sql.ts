import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

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

// Written in SQL because a backup contains the tables as they exist in the database, regardless of what the entities declare.
export const queryTableDefinitionsAsJson = (em: EntityManager): Promise<{ tables: string }[]> => em.execute(describeTablesSql);

// Written in SQL because MikroORM does not support cursors.
/** Opens a cursor that reads a table's rows as JSON arrays of text. */
export function openTableRowCursor(em: EntityManager, table: string, columns: readonly string[], orderBySql: string): Promise<unknown> {
  const values = columns.map((name) => `${quoteSqlIdentifier(name)}::text`).join(', ');
  return em.execute(
    `declare backup_rows no scroll cursor for select to_json(array[${values}])::text as line from ${quoteSqlIdentifier(table)} order by ${orderBySql}`,
  );
}

// Written in SQL because MikroORM does not support cursors.
export const fetchRowsFromCursor = (em: EntityManager, count: number): Promise<{ line: string }[]> =>
  em.execute(`fetch ${count} from backup_rows`);

// Written in SQL because MikroORM does not support cursors.
export const closeRowCursor = (em: EntityManager): Promise<unknown> => em.execute('close backup_rows');

// Written in SQL because MikroORM cannot insert values in their text format.
/**
 * Prepares the statement that inserts a backup's rows into a table. `$1` is a JSON array of rows; each row is an array of values in text
 * format.
 */
export const prepareRowInsertion = (table: string, columns: readonly { readonly name: string; readonly type: string | undefined }[]) =>
  prepareStatement(
    `restore_${table}`,
    `insert into ${quoteSqlIdentifier(table)} (${columns.map(({ name }) => quoteSqlIdentifier(name)).join(', ')}) overriding system value
     select ${columns.map(({ type }, index) => `(line->>${index})::${type}`).join(', ')} from jsonb_array_elements($1::text::jsonb) as line`,
  );

// Written in SQL because MikroORM has no function for sequences.
export const setSequenceValue = (em: EntityManager, sequence: string, value: string, isCalled: boolean): Promise<unknown> =>
  em.execute('select setval(?::text::regclass, ?::text::bigint, ?)', [sequence, value, isCalled]);

// Written in SQL because MikroORM has no function for planner statistics.
export const updatePlannerStatistics = (em: EntityManager): Promise<unknown> => em.execute('analyze');

export const quoteSqlIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
