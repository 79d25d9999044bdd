import { lockMigrations } from '../database/migrate/lock-migrations.sql.ts';
import { readMigrationState } from '../database/migrate/read-migration-state.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { BackupError } from './backup-error.ts';
import type { BackupHeader, TableStart, TableEnd } from './backup-format.ts';
import { readBackup } from './read-and-verify-backup.ts';
import {
  countTableRows,
  backupPostgresqlSettings,
  readTableDefinitions,
  checksumTableRows,
  getUntypedQueryBuilder,
  type TableDefinition,
} from './read-and-checksum-table-rows.ts';
import { prepareRowInsertion, setSequenceValue, updatePlannerStatistics } from './read-and-insert-table-rows.sql.ts';

export type RestoreOptions = {
  /** The backup key returned by `deriveKeys`. */
  readonly key: Buffer;
  readonly onProgress: (stage: 'restore' | 'compare', done: number, of: number) => void;
};

/**
 * Restores a backup into an empty PostgreSQL or embedded database. One transaction creates the tables as they were at the time of the
 * backup, inserts the rows, compares the rows with the backup's checksums, and then migrates to the current schema.
 * @param header result of `verifyBackupAndReadHeader`, which has verified the file
 * @returns the names of newer migrations that were applied after the restore
 */
export async function restoreBackupAndMigrate(
  db: Database,
  file: string,
  header: BackupHeader,
  { key, onProgress }: RestoreOptions,
): Promise<string[]> {
  await db.migrator.getPending(); // creates the migrator's own table, which is impossible during the transaction
  const em = db.em.fork();
  em.setSessionContext({ variables: backupPostgresqlSettings });
  await em.begin();
  try {
    await lockMigrations(em);
    await assertEmptyDatabase(db, em, file, header);
    const transaction: unknown = em.getTransactionContext();
    await db.migrator.up({ migrations: header.migrations, transaction });
    const restorer = new TableRestorer(em, await readTableDefinitions(db, em));
    await restorer.removeRows();
    for await (const part of readBackup(file, { key, onBytes: (done, of) => onProgress('restore', done, of) })) {
      if ('begins' in part) restorer.begin(part.begins);
      else if ('rows' in part) await restorer.insert(part.rows);
      else if ('ends' in part) await restorer.end(part.ends);
    }
    await restorer.compare((done) => onProgress('compare', done, header.rows));
    const migrated = await db.migrator.up({ transaction });
    await em.commit();
    await updatePlannerStatistics(em);
    return migrated.map(({ name }) => name);
  } catch (error) {
    await em.rollback().catch(() => undefined); // the original error matters more, and the transaction is rolled back in any case
    throw error;
  }
}

async function assertEmptyDatabase(db: Database, em: EntityManager, file: string, { migrations }: BackupHeader): Promise<void> {
  if ((await readTableDefinitions(db, em)).length > 0)
    throw new BackupError('the database is not empty: restore into a new one, then start the server with it');
  const known = new Set((await readMigrationState(em)).pending);
  const newer = migrations.filter((name) => !known.has(name));
  if (newer.length > 0) throw new BackupError(`${file} was created by a newer release (${newer.join(', ')}): restore it with that release`);
}

type RestoredTable = { readonly table: TableDefinition; readonly columns: readonly string[]; readonly sha256: string };

class TableRestorer {
  readonly #em: EntityManager;
  readonly #tables: readonly TableDefinition[];
  readonly #restored: RestoredTable[] = [];
  #columns: readonly string[] = [];
  #table: TableDefinition | undefined;
  #insert: ReturnType<typeof prepareRowInsertion> | undefined;

  constructor(em: EntityManager, tables: readonly TableDefinition[]) {
    this.#em = em;
    this.#tables = tables;
  }

  /** Deletes the rows that migrations inserted, because the backup contains the current state of these rows. */
  async removeRows(): Promise<void> {
    for (const table of this.#tables.toReversed())
      if ((await countTableRows(this.#em, table)) > 0) await getUntypedQueryBuilder(this.#em).deleteFrom(table.name).execute();
  }

  begin({ table: name, columns }: TableStart): void {
    const table = this.#tables.find((each) => each.name === name);
    const known = new Map(table?.columns.map((column) => [column.name, column.type]));
    const unknownColumns = columns.filter((column) => !known.has(column));
    if (!table || unknownColumns.length > 0)
      throw new BackupError(
        `the backup contains something that its migrations do not create: ${[name, ...unknownColumns].join('.')}. Was the database changed manually?`,
      );
    this.#table = table;
    this.#columns = columns;
    this.#insert = prepareRowInsertion(
      name,
      columns.map((column) => ({ name: column, type: known.get(column) })),
    );
  }

  async insert(rows: readonly string[]): Promise<void> {
    await this.#insert?.(this.#em, [`[${rows.join(',')}]`]);
  }

  async end({ sha256, sequences }: TableEnd): Promise<void> {
    const table = this.#table;
    if (!table) return;
    for (const { name, sequence } of table.columns) {
      const state = sequences[name];
      if (sequence === null || !state) continue;
      await setSequenceValue(this.#em, sequence, state.value, state.called);
    }
    this.#restored.push({ table, columns: this.#columns, sha256 });
  }

  /** Compares each table's restored rows with the checksum in the backup. */
  async compare(onRows: (done: number) => void): Promise<void> {
    let done = 0;
    for (const { table, columns, sha256 } of this.#restored) {
      const sum = await checksumTableRows(this.#em, table, columns, (count) => onRows((done += count)));
      if (sum !== sha256) throw new BackupError(`${table.name} differs from the backup after the restore: everything was rolled back`);
    }
  }
}
