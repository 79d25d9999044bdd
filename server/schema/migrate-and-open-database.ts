import type { Pool } from 'pg';
import { detectPoolerAndAssertCompatible, ConnectionPoolerError } from '../database/connection/check-connection-pooler.ts';
import { isPostgresqlUrl } from '../database/connection/is-postgresql-url.ts';
import { waitForDatabase, type DatabaseWaitOptions } from '../database/connection/wait-for-database.ts';
import type { Database } from '../database/entity-manager/entity-manager-type.ts';
import { readMigrationState } from '../database/migrate/read-migration-state.ts';
import { migrate } from '../database/migrate/run-migrations.ts';
import { openDatabaseWithEntities } from '../database/open-database-with-entities.ts';
import { openDatabaseWithoutMigrating, type OpenDatabaseOptions } from './open-database-without-migrating.ts';

export type MigrateAndOpenOptions = Pick<OpenDatabaseOptions, 'onPool' | 'onMessage' | 'preparedStatements' | 'storage'> & {
  /** PostgreSQL URL that bypasses the connection pooler, for migrations (default: the database URL). */
  readonly directUrl?: string | undefined;
  /** Maximum time to wait for PostgreSQL. By default, opening fails immediately if PostgreSQL is unavailable. */
  readonly wait?: DatabaseWaitOptions;
};

const noWait: DatabaseWaitOptions = { seconds: 0, log: { warn: () => undefined } };

/** Opens the database after applying all pending migrations. */
export async function migrateAndOpenDatabase(url: string, opening: MigrateAndOpenOptions = {}): Promise<Database> {
  const { directUrl = url, wait = noWait, preparedStatements = true, onPool, onMessage } = opening;
  if (!isPostgresqlUrl(url)) {
    const db = await openDatabaseWithoutMigrating(url, { storage: opening.storage });
    await migrate(db).catch(async (error: unknown) => {
      await db.close();
      throw error;
    });
    return db;
  }
  const isDirect = directUrl !== url;
  await withMigrationDatabase(directUrl, async (db, pool) => {
    await waitForDatabase(db, { variable: isDirect ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL', url: directUrl }, wait);
    if (!isDirect) await detectPoolerAndAssertCompatible(pool, preparedStatements);
    await migrate(db);
  });
  if (isDirect)
    await withMigrationDatabase(url, async (db, pool) => {
      await waitForDatabase(db, { variable: 'DATABASE_URL', url }, wait);
      await detectPoolerAndAssertCompatible(pool, preparedStatements);
      await assertMigrated(db);
    });
  return openDatabaseWithoutMigrating(url, { onPool, onMessage, preparedStatements });
}

/**
 * Opens the database without timeouts, because request timeouts must not interrupt slow migrations or processes that wait for a migration.
 */
async function withMigrationDatabase(url: string, work: (db: Database, pool: Pool) => Promise<void>): Promise<void> {
  const { promise: opened, resolve: onPool } = Promise.withResolvers<Pool>();
  // migrations use no entities, and discovering entities would take time
  const db = await openDatabaseWithEntities(url, { entities: [], timeouts: 'none', connectionsMax: 3, preparedStatements: false, onPool });
  try {
    await work(db, await opened);
  } finally {
    await db.close();
  }
}

async function assertMigrated(db: Database): Promise<void> {
  if ((await readMigrationState(db.em.fork())).pending.length > 0)
    throw new ConnectionPoolerError('DATABASE_DIRECT_URL is not the database of DATABASE_URL: set both to the same database');
}
