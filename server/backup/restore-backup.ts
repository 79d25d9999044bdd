import { migrationLock } from '../database/migrate/run-migrations.ts';
import { migrationState } from '../database/migrate/migration-state.ts';
import type { Database, Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { BackupError } from './backup-error.ts';
import type { Header, TableBegin, TableEnd } from './backup-format.ts';
import { readBackup } from './read-backup.ts';
import { countRows, fixTextForms, quoted, readTables, sumOfRows, type Table } from './tables.ts';

export type RestoreParts = {
  /** Of `deriveKeys`, for backups. */
  readonly key: Buffer;
  readonly onProgress: (stage: 'restore' | 'compare', done: number, of: number) => void;
};

/**
 * Puts a backup into a database that has nothing of ours yet, of either kind. The tables are made as they were when it was taken, filled,
 * read again and compared with the sums in the backup, and only then migrated to this release. All of it is one transaction.
 * @param header of `verifyBackup`, which says that the file is whole
 * @returns what was applied after the backup was restored, because this release is newer
 */
export async function restoreBackup(db: Database, file: string, header: Header, { key, onProgress }: RestoreParts): Promise<string[]> {
  await db.migrator.getPending(); // makes the migrator's own table, which it cannot do beside the transaction
  const em = db.em.fork();
  await em.begin();
  try {
    await em.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
    await refuseUnlessEmpty(db, em, file, header);
    const transaction: unknown = em.getTransactionContext();
    await db.migrator.up({ migrations: header.migrations, transaction });
    await fixTextForms(em);
    const restoring = new Restoring(em, await readTables(db, em));
    await restoring.removeRows();
    for await (const part of readBackup(file, { key, onBytes: (done, of) => onProgress('restore', done, of) })) {
      if ('begins' in part) restoring.begin(part.begins);
      else if ('rows' in part) await restoring.insert(part.rows);
      else if ('ends' in part) await restoring.end(part.ends);
    }
    await restoring.compare((done) => onProgress('compare', done, header.rows));
    const migrated = await db.migrator.up({ transaction });
    await em.commit();
    await em.execute('analyze');
    return migrated.map(({ name }) => name);
  } catch (error) {
    await em.rollback().catch(() => undefined); // it is undone in any case, and why is worth more than that
    throw error;
  }
}

async function refuseUnlessEmpty(db: Database, em: Em, file: string, { migrations }: Header): Promise<void> {
  if ((await readTables(db, em)).length > 0)
    throw new BackupError('the database is in use already: restore into a new one, then let the server use that');
  const known = new Set((await migrationState(em)).pending);
  const newer = migrations.filter((name) => !known.has(name));
  if (newer.length > 0) throw new BackupError(`${file} was made by a newer release (${newer.join(', ')}): restore it with that release`);
}

type Filled = { readonly table: Table; readonly columns: readonly string[]; readonly sha256: string };

class Restoring {
  readonly #em: Em;
  readonly #tables: readonly Table[];
  readonly #filled: Filled[] = [];
  #columns: readonly string[] = [];
  #table: Table | undefined;
  #insert: ReturnType<typeof statement> | undefined;

  constructor(em: Em, tables: readonly Table[]) {
    this.#em = em;
    this.#tables = tables;
  }

  /** Those that migrations put in: the backup has them as they became. */
  async removeRows(): Promise<void> {
    for (const table of this.#tables.toReversed())
      if ((await countRows(this.#em, table)) > 0) await this.#em.execute(`delete from ${quoted(table.name)}`);
  }

  begin({ table: name, columns }: TableBegin): void {
    const table = this.#tables.find((each) => each.name === name);
    const known = new Map(table?.columns.map((column) => [column.name, column.type]));
    const strange = columns.filter((column) => !known.has(column));
    if (!table || strange.length > 0)
      throw new BackupError(
        `the backup has something that its migrations do not make: ${[name, ...strange].join('.')}. Was the database changed by hand?`,
      );
    const values = columns.map((column, index) => `(line->>${index})::${known.get(column)}`).join(', ');
    this.#table = table;
    this.#columns = columns;
    this.#insert = statement(
      `restore_${name}`,
      `insert into ${quoted(name)} (${columns.map(quoted).join(', ')}) overriding system value
       select ${values} from jsonb_array_elements($1::text::jsonb) as line`,
    );
  }

  async insert(rows: readonly string[]): Promise<void> {
    await this.#insert?.(this.#em, [`[${rows.join(',')}]`]);
  }

  async end({ sha256, sequences }: TableEnd): Promise<void> {
    const table = this.#table;
    if (!table) return;
    for (const { name, sequence } of table.columns) {
      const stands = sequences[name];
      if (sequence === null || !stands) continue;
      await this.#em.execute('select setval(?::text::regclass, ?::text::bigint, ?)', [sequence, stands.value, stands.called]);
    }
    this.#filled.push({ table, columns: this.#columns, sha256 });
  }

  /** What lies in the tables now is what the backup says, row by row. */
  async compare(onRows: (done: number) => void): Promise<void> {
    let done = 0;
    for (const { table, columns, sha256 } of this.#filled) {
      const sum = await sumOfRows(this.#em, table, columns, (count) => onRows((done += count)));
      if (sum !== sha256) throw new BackupError(`${table.name} is not what the backup says after it was restored: nothing was kept`);
    }
  }
}
