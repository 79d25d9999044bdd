import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import { sqlState } from '../errors/sql-errors.ts';
import { InsufficientStorageError, type StorageReserve } from './storage-reserve.ts';

const readOnlyTransaction = '25006';

/**
 * Makes transactions on PGlite read-only while disk space is low, so that PostgreSQL itself decides which statements write.
 * The space is checked before each statement: one transaction can write more than the reserve.
 */
export function refuseWritesWithoutSpace(database: PGliteInterface, storage: StorageReserve): void {
  const query: PGliteInterface['query'] = database.query.bind(database);
  const transaction: PGliteInterface['transaction'] = database.transaction.bind(database);
  let sessionIsReadOnly = false;

  /** Outside of every transaction: a rollback would undo the setting. */
  const adjustSession = async (): Promise<void> => {
    const isLow = storage.isLow();
    if (isLow === sessionIsReadOnly) return;
    sessionIsReadOnly = isLow;
    await database.exec(`set default_transaction_read_only = ${isLow ? 'on' : 'off'}`);
    // WAL that is no longer needed can be what fills the disk
    if (isLow && storage.hasSegment) await database.exec('checkpoint').catch(() => undefined);
  };

  const guarded: Pick<PGliteInterface, 'query' | 'transaction'> = {
    async query(...statement) {
      await adjustSession();
      return explainRefusal(() => query(...statement));
    },
    async transaction(work) {
      await adjustSession();
      return transaction((begun) => work(guardTransaction(begun, storage)));
    },
  };
  for (const [name, value] of Object.entries(guarded)) Object.defineProperty(database, name, { value });
}

function guardTransaction(begun: Transaction, storage: StorageReserve): Transaction {
  const query: Transaction['query'] = begun.query.bind(begun);
  const guarded: Transaction['query'] = async (...statement) => {
    // before each statement, because a rollback to a savepoint undoes it; in a failed transaction the statement fails as well
    if (storage.isLow()) await query('set transaction_read_only = on').catch(() => undefined);
    return explainRefusal(() => query(...statement));
  };
  return Object.defineProperty(begun, 'query', { value: guarded });
}

async function explainRefusal<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (sqlState(cause) !== readOnlyTransaction) throw cause;
    throw new InsufficientStorageError('writes are refused: too little disk space is free', { cause });
  }
}
