import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { IsolationLevel } from '@mikro-orm/core';
import { migrationState } from '../database/migrate/migration-state.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { BackupError } from './backup-error.ts';
import { formatVersion, newSeal, secretCheck, toLine, type TableEnd } from './backup-format.ts';
import { countLines, countRows, fixTextForms, readRows, readTables, type Table } from './tables.ts';

export type BackupParts = {
  /** Of `deriveKeys`, for backups. */
  readonly key: Buffer;
  readonly now: Date;
  /** After each portion: rows that are written, of all there are. */
  readonly onRows: (done: number, of: number) => void;
};
/** `bytes` as it lies on the disk. */
export type BackupSummary = { readonly tables: number; readonly rows: number; readonly bytes: number };

/**
 * Writes everything that is in the database at one moment to a new file, while others go on. Memory does not grow with it.
 * The file is there when it is whole, and nobody but its owner can read it.
 */
export async function writeBackup(db: Database, file: string, parts: BackupParts): Promise<BackupSummary> {
  if (existsSync(file)) throw new BackupError(`${file} is there already, and a backup overwrites nothing: name another file`);
  const em = db.em.fork();
  const draft = `${file}.part`;
  // one snapshot for every table; PGlite has one connection, which this is
  await em.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  try {
    await fixTextForms(em);
    const contents = await readContents(db, em);
    const whole = sealed(linesOf(em, contents, parts), parts.key);
    await pipeline(whole, createGzip(), createWriteStream(draft, { mode: 0o600, flush: true }));
    await rename(draft, file);
    const { tables, rows } = contents;
    return { tables: tables.length, rows, bytes: (await stat(file)).size };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await em.rollback();
  }
}

type Contents = {
  readonly migrations: readonly string[];
  readonly tables: readonly (Table & { readonly rows: number })[];
  readonly rows: number;
};

async function readContents(db: Database, em: Em): Promise<Contents> {
  const { applied, unknown } = await migrationState(em);
  if (applied.length === 0) throw new BackupError('the database is empty: there is nothing to back up');
  if (unknown.length > 0)
    throw new BackupError(`a newer release has migrated the database (${unknown.join(', ')}): make the backup with that release`);
  const tables: (Table & { rows: number })[] = [];
  for (const table of await readTables(db, em)) tables.push({ ...table, rows: await countRows(em, table) });
  return { migrations: applied, tables, rows: tables.reduce((sum, { rows }) => sum + rows, 0) };
}

async function* linesOf(em: Em, { migrations, tables, rows }: Contents, { key, now, onRows }: BackupParts): AsyncGenerator<string> {
  yield toLine({
    format: 'mandate-backup',
    version: formatVersion,
    created_at: now.toISOString(),
    migrations: [...migrations],
    secret_check: secretCheck(key),
    tables: tables.length,
    rows,
  });
  let done = 0;
  for (const table of tables) {
    const columns = table.columns.map(({ name }) => name);
    yield toLine({ table: table.name, columns, rows: table.rows });
    const hash = createHash('sha256');
    for await (const lines of readRows(em, table, columns)) {
      hash.update(lines);
      yield lines;
      done += countLines(lines);
      onRows(done, rows);
    }
    yield toLine({ end_of: table.name, sha256: hash.digest('hex'), sequences: await sequencesOf(em, table) });
  }
}

/** They stand at what was given out last, rows that are gone included: no number is given out twice. */
async function sequencesOf(em: Em, { columns }: Table): Promise<TableEnd['sequences']> {
  const sequences: TableEnd['sequences'] = {};
  for (const { name, sequence } of columns) {
    if (sequence === null) continue;
    const [row] = await em.execute<{ value: string; called: boolean }[]>(
      `select last_value::text as value, is_called as called from ${sequence}`,
    );
    if (row) sequences[name] = row;
  }
  return sequences;
}

async function* sealed(lines: AsyncIterable<string>, key: Buffer): AsyncGenerator<string> {
  const seal = newSeal(key);
  for await (const some of lines) {
    seal.update(some);
    yield some;
  }
  yield toLine({ seal: seal.digest('base64url') });
}
