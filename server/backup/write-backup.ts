import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { IsolationLevel } from '@mikro-orm/core';
import { readMigrationState } from '../database/migrate/read-migration-state.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { replaceFileAtomically } from '../files/replace-file-atomically.ts';
import { BackupError } from './backup-error.ts';
import {
  backupFormatVersion,
  createBackupHmac,
  computeBackupKeyFingerprint,
  formatBackupStructureLine,
  type TableEnd,
} from './backup-format.ts';
import {
  countNewlines,
  backupPostgresqlSettings,
  countTableRows,
  readTableRowsAsBackupLines,
  readTableDefinitions,
  getUntypedQueryBuilder,
  type TableDefinition,
} from './read-and-checksum-table-rows.ts';

export type BackupOptions = {
  /** The backup key returned by `deriveKeys`. */
  readonly key: Buffer;
  readonly now: Date;
  /** Called after each chunk with the number of rows written so far and the total number of rows. */
  readonly onRows: (done: number, of: number) => void;
};
/** Number of tables and rows in a backup, and its file size in bytes. */
export type BackupSummary = { readonly tables: number; readonly rows: number; readonly bytes: number };

/**
 * Writes a consistent snapshot of the database to a new file while servers keep running, using a constant amount of memory. The file
 * appears only once it is complete, and only its owner can read it.
 */
export async function writeBackup(db: Database, file: string, parts: BackupOptions): Promise<BackupSummary> {
  if (existsSync(file)) throw new BackupError(`${file} already exists, and a backup never overwrites a file: choose another name`);
  const em = db.em.fork();
  em.setSessionContext({ variables: backupPostgresqlSettings });
  // all tables are read from one snapshot; PGlite needs no snapshot, because it has a single connection
  await em.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  try {
    const contents = await readContents(db, em);
    const authenticatedLines = appendSeal(backupLines(em, contents, parts), parts.key);
    await replaceFileAtomically(file, (temporaryPath) =>
      pipeline(authenticatedLines, createGzip(), createWriteStream(temporaryPath, { mode: 0o600, flush: true })),
    );
    const { tables, rows } = contents;
    return { tables: tables.length, rows, bytes: (await stat(file)).size };
  } finally {
    await em.rollback();
  }
}

type Contents = {
  readonly migrations: readonly string[];
  readonly tables: readonly (TableDefinition & { readonly rows: number })[];
  readonly rows: number;
};

async function readContents(db: Database, em: EntityManager): Promise<Contents> {
  const { applied, unknown } = await readMigrationState(em);
  if (applied.length === 0) throw new BackupError('the database is empty: there is nothing to back up');
  if (unknown.length > 0)
    throw new BackupError(`a newer release has migrated the database (${unknown.join(', ')}): create the backup with that release`);
  const tables: (TableDefinition & { rows: number })[] = [];
  for (const table of await readTableDefinitions(db, em)) tables.push({ ...table, rows: await countTableRows(em, table) });
  return { migrations: applied, tables, rows: tables.reduce((sum, { rows }) => sum + rows, 0) };
}

async function* backupLines(
  em: EntityManager,
  { migrations, tables, rows }: Contents,
  { key, now, onRows }: BackupOptions,
): AsyncGenerator<string> {
  yield formatBackupStructureLine({
    format: 'mandate-backup',
    version: backupFormatVersion,
    created_at: now.toISOString(),
    migrations: [...migrations],
    secret_check: computeBackupKeyFingerprint(key),
    tables: tables.length,
    rows,
  });
  let done = 0;
  for (const table of tables) {
    const columns = table.columns.map(({ name }) => name);
    yield formatBackupStructureLine({ table: table.name, columns, rows: table.rows });
    const hash = createHash('sha256');
    for await (const lines of readTableRowsAsBackupLines(em, table, columns)) {
      hash.update(lines);
      yield lines;
      done += countNewlines(lines);
      onRows(done, rows);
    }
    yield formatBackupStructureLine({ end_of: table.name, sha256: hash.digest('hex'), sequences: await readSequences(em, table) });
  }
}

/** Reads the sequence states, so that a restored database never reuses the numbers of deleted rows. */
async function readSequences(em: EntityManager, { columns }: TableDefinition): Promise<TableEnd['sequences']> {
  const sequences: TableEnd['sequences'] = {};
  for (const { name, sequence } of columns) {
    if (sequence === null) continue;
    const state = getUntypedQueryBuilder(em)
      .selectFrom(sequence)
      .select((eb) => [eb.cast<string>('last_value', 'text').as('value'), eb.ref('is_called').$castTo<boolean>().as('called')]);
    const row = await state.executeTakeFirst();
    if (row) sequences[name] = row;
  }
  return sequences;
}

async function* appendSeal(lines: AsyncIterable<string>, key: Buffer): AsyncGenerator<string> {
  const seal = createBackupHmac(key);
  for await (const chunk of lines) {
    seal.update(chunk);
    yield chunk;
  }
  yield formatBackupStructureLine({ seal: seal.digest('base64url') });
}
