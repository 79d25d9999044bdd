import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import { getSqlState } from '../errors/sql-error-fields.ts';
import { InsufficientStorageError, type DiskSpaceMonitor } from './disk-space-monitor.ts';

const readOnlyTransaction = '25006';

/**
 * Makes PGlite transactions read-only while disk space is low, so that PostgreSQL itself rejects statements that write data. The space is
 * checked before each statement, because one transaction can write more than the reserve.
 */
export function rejectPgliteWritesOnLowDiskSpace(database: PGliteInterface, storage: DiskSpaceMonitor): void {
  const query: PGliteInterface['query'] = database.query.bind(database);
  const transaction: PGliteInterface['transaction'] = database.transaction.bind(database);
  let sessionIsReadOnly = false;

  /** The session is changed outside of transactions, because a rollback would revert the setting. */
  const adjustSession = async (): Promise<void> => {
    const isLow = storage.isLow();
    if (isLow === sessionIsReadOnly) return;
    sessionIsReadOnly = isLow;
    await database.exec(`set default_transaction_read_only = ${isLow ? 'on' : 'off'}`);
    // obsolete WAL, which a checkpoint removes, may have filled the disk
    if (isLow && storage.hasSegment) await database.exec('checkpoint').catch(() => undefined);
  };

  const guardedQueries: Pick<PGliteInterface, 'query' | 'transaction'> = {
    async query(...statement) {
      await adjustSession();
      return translateReadOnlyError(() => query(...statement));
    },
    async transaction(work) {
      await adjustSession();
      return transaction((openTransaction) => work(guardTransaction(openTransaction, storage)));
    },
  };
  for (const [name, value] of Object.entries(guardedQueries)) Object.defineProperty(database, name, { value });
}

function guardTransaction(transaction: Transaction, storage: DiskSpaceMonitor): Transaction {
  const query: Transaction['query'] = transaction.query.bind(transaction);
  const guardedQueries: Transaction['query'] = async (...statement) => {
    // The setting is repeated before each statement, because rolling back to a savepoint reverts it.
    // In a failed transaction, `set` fails like any other statement, and its error is ignored.
    if (storage.isLow()) await query('set transaction_read_only = on').catch(() => undefined);
    return translateReadOnlyError(() => query(...statement));
  };
  return Object.defineProperty(transaction, 'query', { value: guardedQueries });
}

async function translateReadOnlyError<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (getSqlState(cause) !== readOnlyTransaction) throw cause;
    throw new InsufficientStorageError('writes are rejected: too little disk space is free', { cause });
  }
}
