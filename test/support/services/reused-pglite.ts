import { readFile } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import { PgliteConnection } from '@mikro-orm/pglite';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

type ReusablePglite = {
  readonly pglite: PGlite;
  readonly close: () => Promise<void>;
  /** State of the system catalogs before the first use. */
  readonly catalogs: string;
  /** The rows of each table that was not empty, as JSON. */
  readonly rows: readonly TableRows[];
  /** The last value of each sequence that had been used, as JSON. */
  readonly sequences: string;
  uses: number;
};
type TableRows = { readonly name: string; readonly rows: string };

/** Maximum number of times that one database is used, because its WAL and the dead rows in its system catalogs accumulate in memory. */
const maxUses = 25;
const maxWalBytes = 32 * 1024 * 1024;

let idle: ReusablePglite | undefined;

/**
 * Opens a migrated, empty PGlite database. Creating a database takes about a second, because PGlite unpacks the template into memory and
 * starts with empty caches. Therefore, a closed database is emptied and reused, unless its schema was changed.
 * @param template path of the dump of a migrated database
 */
export async function openMigratedPglite(template: string): Promise<Database> {
  const reusable = await takeIdle();
  const db = await openDatabaseWithoutMigrating(
    'memory://',
    reusable ? { embedded: reusable.pglite } : { template: new Blob([await readFile(template)]) },
  );
  const used = reusable ?? (await prepareReuse(db));
  const close = db.close.bind(db);
  const connection = db.em.getConnection();
  let isClosed = false;
  db.close = async () => {
    await close();
    if (isClosed) return;
    isClosed = true;
    // after `close`, a delayed query must not reach the database, which another test may be using
    connection.ensureConnection = () => Promise.reject(new Error('the database is closed'));
    used.uses += 1;
    if (idle ?? used.uses >= maxUses) await used.close();
    else idle = used;
  };
  return db;
}

async function takeIdle(): Promise<ReusablePglite | undefined> {
  const taken = idle;
  idle = undefined;
  if (taken === undefined) return undefined;
  try {
    await restore(taken);
    return taken;
  } catch {
    // a test has broken the database, or has changed its schema
    await taken.close();
    return undefined;
  }
}

async function prepareReuse(db: Database): Promise<ReusablePglite> {
  const connection = db.em.getConnection();
  if (!(connection instanceof PgliteConnection)) throw new Error('memory:// is PGlite');
  const pglite = await connection.getNativeClient();
  const close = pglite.close.bind(pglite);
  pglite.close = async () => undefined; // `db.close()` must not close PGlite, because it is reused
  const rows: TableRows[] = [];
  for (const name of await listUsedTables(pglite)) {
    const [row] = (await pglite.query<{ rows: string }>(`select json_agg(t)::text as rows from ${name} t`)).rows;
    rows.push({ name, rows: row?.rows ?? '[]' });
  }
  const { rows: used } = await pglite.query(
    'select seqrelid::int as id, pg_sequence_last_value(seqrelid)::text as last from pg_sequence where pg_sequence_last_value(seqrelid) is not null',
  );
  return { pglite, close, rows, sequences: JSON.stringify(used), catalogs: await readCatalogs(pglite), uses: 0 };
}

/** Returns the quoted names of all tables that contain rows, or have contained rows since they were last truncated. */
async function listUsedTables(pglite: PGlite): Promise<string[]> {
  const { rows } = await pglite.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0 order by 1`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Undoes all changes that a test has made to the rows, the sequences and the session.
 * @throws {Error} if the system catalogs were changed
 */
async function restore({ pglite, catalogs, rows, sequences }: ReusablePglite): Promise<void> {
  await pglite.exec('rollback');
  await pglite.exec('discard all');
  if ((await readCatalogs(pglite)) !== catalogs) throw new Error('the schema was changed');
  await pglite.exec('set session_replication_role = replica'); // disables triggers, which may reject the truncation
  const used = await listUsedTables(pglite);
  if (used.length > 0) await pglite.exec(`truncate ${used.join(', ')} cascade`);
  for (const table of rows)
    await pglite.query(`insert into ${table.name} overriding system value select * from json_populate_recordset(null::${table.name}, $1)`, [
      table.rows,
    ]);
  await pglite.query(
    `select setval(seqrelid, coalesce(before.last, seqstart), before.last is not null)
     from pg_sequence left join json_to_recordset($1) as before(id int, last bigint) on before.id = seqrelid::int`,
    [sequences],
  );
  await pglite.exec('reset session_replication_role');
  const { rows: wal } = await pglite.query('select from pg_control_checkpoint() where pg_current_wal_insert_lsn() - redo_lsn > $1', [
    maxWalBytes,
  ]);
  if (wal.length > 0) await pglite.exec('checkpoint');
}

/**
 * System catalogs. Every change to the schema, a role or the statistics creates a row version in one of these catalogs, with a new
 * transaction ID.
 */
const versionedCatalogs = [
  'attribute',
  'attrdef',
  'authid',
  'constraint',
  'database',
  'db_role_setting',
  'event_trigger',
  'extension',
  'index',
  'namespace',
  'proc',
  'rewrite',
  'sequence',
  'statistic',
  'statistic_ext',
  'trigger',
  'type',
].map((name) => `select '${name}', count(*), max(xmin::text::bigint) from pg_${name}`);
// truncating a table also creates a new row version in `pg_class`
const tableDefinitions = `select 'class', count(*), sum(hashtext(concat_ws(' ', relname, relkind, relacl, reloptions, relpersistence))) from pg_class`;

async function readCatalogs(pglite: PGlite): Promise<string> {
  const { rows } = await pglite.query([...versionedCatalogs, tableDefinitions].join(' union all '), [], { rowMode: 'array' });
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
