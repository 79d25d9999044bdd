import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { checkConnectionPooler, PoolerError } from '../connection/connection-pooler.ts';
import { migrationState } from './migration-state.ts';
import { isPostgresql, openDatabase, type Database, type Opening } from '../database.ts';
import { sqlState } from '../sql-errors.ts';
import { waitForDatabase, type DatabaseWait } from '../connection/wait-for-database.ts';

/** Arbitrary id of the advisory lock for migrations. */
export const migrationLock = 7_262_633;

export type MigratedOpening = Pick<Opening, 'onPool' | 'preparedStatements' | 'storage'> & {
  /** URL of PostgreSQL without a connection pooler, for migrations (default: the URL of the database). */
  readonly directUrl?: string | undefined;
  /** By default, an unavailable PostgreSQL is an error immediately. */
  readonly wait?: DatabaseWait;
};

const noWait: DatabaseWait = { seconds: 0, log: { warn: () => undefined } };

/** Opens the database after applying all pending migrations. */
export async function openMigratedDatabase(url: string, opening: MigratedOpening = {}): Promise<Database> {
  const { directUrl = url, wait = noWait, preparedStatements = true, onPool } = opening;
  if (!isPostgresql(url)) {
    const db = await openDatabase(url, { storage: opening.storage });
    await migrate(db).catch(async (error: unknown) => {
      await db.close();
      throw error;
    });
    return db;
  }
  const isDirect = directUrl !== url;
  await withMigrationDatabase(directUrl, async (db, pool) => {
    await waitForDatabase(db, { variable: isDirect ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL', url: directUrl }, wait);
    if (!isDirect) await checkConnectionPooler(pool, preparedStatements);
    await migrate(db);
  });
  if (isDirect)
    await withMigrationDatabase(url, async (db, pool) => {
      await waitForDatabase(db, { variable: 'DATABASE_URL', url }, wait);
      await checkConnectionPooler(pool, preparedStatements);
      await assertMigrated(db);
    });
  return openDatabase(url, { onPool, preparedStatements });
}

/** Without timeouts: slow migrations, and other processes that wait for them, must not fail because of the timeouts for requests. */
async function withMigrationDatabase(url: string, work: (db: Database, pool: Pool) => Promise<void>): Promise<void> {
  const { promise: opened, resolve: onPool } = Promise.withResolvers<Pool>();
  const db = await openDatabase(url, { timeouts: 'none', connectionsMax: 3, preparedStatements: false, onPool });
  try {
    await work(db, await opened);
  } finally {
    await db.close();
  }
}

async function assertMigrated(db: Database): Promise<void> {
  if ((await migrationState(db.em.fork())).pending.length > 0)
    throw new PoolerError('DATABASE_DIRECT_URL is not the database of DATABASE_URL: set both to the same database');
}

/**
 * While a migration waits for a lock on a table (for example, during a backup), all requests for that table wait behind it. So it
 * gives up soon, lets them pass and tries again.
 */
const lockTimeout = '1s';
const retryDelayMs = 2_000;
const maxAttempts = 300;
const lockNotAvailable = '55P03';

/** Applies pending migrations, exactly once even if several processes start at the same time. Returns the names of those applied. */
export async function migrate(db: Database): Promise<string[]> {
  const lock = db.em.fork();
  const isShared = db.driver.getPlatform().supportsMultipleStatements(); // PostgreSQL; PGlite has one process and one connection
  if (isShared) {
    await lock.begin();
    await lock.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
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
      if (sqlState(error) !== lockNotAvailable || attempt === maxAttempts) throw error;
      await sleep(retryDelayMs);
    }
  }
}

/** Applies one migration per transaction: a migration that holds one table and waits for another could deadlock with a request. */
async function apply(db: Database, name: string): Promise<void> {
  const em = db.em.fork();
  await em.begin();
  try {
    await em.execute(`set local lock_timeout to '${lockTimeout}'`);
    const transaction: unknown = em.getTransactionContext();
    await db.migrator.up({ migrations: [name], transaction });
    await em.commit();
  } catch (error) {
    await em.rollback().catch(() => undefined); // the original error matters more, and it is rolled back in any case
    throw error;
  }
}
