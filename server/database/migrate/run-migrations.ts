import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../entity-manager/entity-manager-type.ts';
import { getSqlState } from '../errors/sql-error-fields.ts';
import { setTransactionLockTimeout, lockMigrations } from './lock-migrations.sql.ts';

/**
 * While a migration waits for a lock on a table (for example, during a backup), all requests that use the table wait for the migration.
 * Therefore, the migration waits only briefly for a lock, lets these requests proceed and retries later.
 */
const lockTimeout = '1s';
const retryDelayMs = 2_000;
const maxAttempts = 300;
const lockNotAvailable = '55P03';

/** Applies each pending migration exactly once, even if several processes start at the same time. Returns the applied migrations' names. */
export async function migrate(db: Database): Promise<string[]> {
  const lock = db.em.fork();
  const isShared = db.driver.getPlatform().supportsMultipleStatements(); // PGlite has one process and one connection, so it needs no lock
  if (isShared) {
    await lock.begin();
    await lockMigrations(lock);
  }
  try {
    const names = (await db.migrator.getPending()).map(({ name }) => name);
    for (const name of names) await applyWithRetry(db, name);
    return names;
  } finally {
    if (isShared) await lock.rollback();
  }
}

async function applyWithRetry(db: Database, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await apply(db, name);
      return;
    } catch (error) {
      if (getSqlState(error) !== lockNotAvailable || attempt === maxAttempts) throw error;
      await sleep(retryDelayMs);
    }
  }
}

/**
 * Applies one migration per transaction, because a transaction that has locked one table and waits for another table could deadlock with a
 * request.
 */
async function apply(db: Database, name: string): Promise<void> {
  const em = db.em.fork();
  await em.begin();
  try {
    await setTransactionLockTimeout(em, lockTimeout);
    const transaction: unknown = em.getTransactionContext();
    await db.migrator.up({ migrations: [name], transaction });
    await em.commit();
  } catch (error) {
    await em.rollback().catch(() => undefined); // the original error matters more, and the transaction is rolled back in any case
    throw error;
  }
}
