import { isPostgresql, openDatabase, type Database, type Opening } from './orm.ts';

/** Any number, as long as nobody else locks the same one: this is what "Mandate is migrating" is called in PostgreSQL. */
export const migrationLock = 7_262_633;

/** Opens the database with every migration applied. */
export async function openMigratedDatabase(url: string, opening: Pick<Opening, 'onPool'> = {}): Promise<Database> {
  if (!isPostgresql(url)) {
    const db = await openDatabase(url);
    await migrate(db).catch(async (error: unknown) => {
      await db.close();
      throw error;
    });
    return db;
  }
  // a slow migration, and another process waiting for it, must not run into the timeouts that requests have
  const patient = await openDatabase(url, { timeouts: 'none', connectionsMax: 2 });
  try {
    await migrate(patient);
  } finally {
    await patient.close();
  }
  return openDatabase(url, opening);
}

/** Applies what is pending, once, however many processes start together; gives the names of what it applied. */
export async function migrate(db: Database): Promise<string[]> {
  const lock = db.em.fork();
  const shared = db.driver.getPlatform().supportsMultipleStatements(); // PostgreSQL; PGlite has one process and one connection
  if (shared) {
    await lock.begin();
    await lock.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
  }
  try {
    return (await db.migrator.up()).map((migration) => migration.name);
  } finally {
    if (shared) await lock.rollback();
  }
}
