import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { checkConnectionPooler, PoolerError } from '../connection/connection-pooler.ts';
import { migrationState } from './migration-state.ts';
import { isPostgresql, openDatabase, type Database, type Opening } from '../database.ts';
import { sqlState } from '../sql-errors.ts';
import { waitForDatabase, type DatabaseWait } from '../connection/wait-for-database.ts';

/** Any number, as long as nobody else locks the same one: this is what "Mandate is migrating" is called in PostgreSQL. */
export const migrationLock = 7_262_633;

export type MigratedOpening = Pick<Opening, 'onPool' | 'preparedStatements' | 'storage'> & {
  /** PostgreSQL without a connection pooler, for migrations; by default they use the same URL as everything else. */
  readonly directUrl?: string | undefined;
  /** Default: a PostgreSQL that is not available is an error at once. */
  readonly wait?: DatabaseWait;
};

const noWait: DatabaseWait = { seconds: 0, log: { warn: () => undefined } };

/** Opens the database with every migration applied. */
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
  await withPatientDatabase(directUrl, async (db, pool) => {
    await waitForDatabase(db, { variable: isDirect ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL', url: directUrl }, wait);
    if (!isDirect) await checkConnectionPooler(pool, preparedStatements);
    await migrate(db);
  });
  if (isDirect)
    await withPatientDatabase(url, async (db, pool) => {
      await waitForDatabase(db, { variable: 'DATABASE_URL', url }, wait);
      await checkConnectionPooler(pool, preparedStatements);
      await expectMigrated(db);
    });
  return openDatabase(url, { onPool, preparedStatements });
}

/** A slow migration, and another process that waits for it, must not run into the time limits of requests. */
async function withPatientDatabase(url: string, work: (db: Database, pool: Pool) => Promise<void>): Promise<void> {
  const { promise: opened, resolve: onPool } = Promise.withResolvers<Pool>();
  const db = await openDatabase(url, { timeouts: 'none', connectionsMax: 3, preparedStatements: false, onPool });
  try {
    await work(db, await opened);
  } finally {
    await db.close();
  }
}

async function expectMigrated(db: Database): Promise<void> {
  if ((await migrationState(db.em.fork())).pending.length > 0)
    throw new PoolerError('DATABASE_DIRECT_URL is not the database of DATABASE_URL: set both to the same database');
}

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
