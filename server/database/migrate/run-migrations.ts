import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../entity-manager/entity-manager.ts';
import { sqlState } from '../errors/sql-errors.ts';

/** Any number, as long as nobody else locks the same one: this is what "Mandate is migrating" is called in PostgreSQL. */
export const migrationLock = 7_262_633;

/**
 * While a migration waits for a table that somebody has for long, a backup for instance, every request for that table waits behind it.
 * So it gives up soon, lets them pass, and tries again.
 */
const waitsFor = '1s';
const triesAgainAfterMs = 2_000;
const triesMax = 300;
const lockNotAvailable = '55P03';

/** Applies what is pending, once, however many processes start together; gives the names of what it applied. */
export async function migrate(db: Database): Promise<string[]> {
  const lock = db.em.fork();
  const shared = db.driver.getPlatform().supportsMultipleStatements(); // PostgreSQL; PGlite has one process and one connection
  if (shared) {
    await lock.begin();
    await lock.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
  }
  try {
    const names = (await db.migrator.getPending()).map(({ name }) => name);
    for (const name of names) await applyPatiently(db, name);
    return names;
  } finally {
    if (shared) await lock.rollback();
  }
}

async function applyPatiently(db: Database, name: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await apply(db, name);
      return;
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable || tries === triesMax) throw error;
      await sleep(triesAgainAfterMs);
    }
  }
}

/** Each in a transaction of its own: one that has a table and waits for another could wait for a request that waits for it. */
async function apply(db: Database, name: string): Promise<void> {
  const em = db.em.fork();
  await em.begin();
  try {
    await em.execute(`set local lock_timeout to '${waitsFor}'`);
    const transaction: unknown = em.getTransactionContext();
    await db.migrator.up({ migrations: [name], transaction });
    await em.commit();
  } catch (error) {
    await em.rollback().catch(() => undefined); // it is undone in any case, and why is worth more than that
    throw error;
  }
}
