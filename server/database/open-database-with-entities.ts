import { EventEmitter, once } from 'node:events';
import type { PGlite } from '@electric-sql/pglite';
import { Migrator, TSMigrationGenerator } from '@mikro-orm/migrations';
import { MikroORM, TransactionContext, type AbstractSqlDriver, type SqlOptions } from '@mikro-orm/sql';
import type { ClientBase, Pool } from 'pg';
import { lockPgliteDirectory } from './embedded/pglite-directory-lock.ts';
import { walLimitStartParameters } from './embedded/limit-wal-size.ts';
import { isNewPgliteDirectory, createPgliteDirectoryIfNew } from './embedded/create-pglite-directory.ts';
import { assertSupportedPgLibrary } from './connection/assert-supported-pg-library.ts';
import { deferAndPipelineClientQueries } from './connection/defer-and-pipeline-client-queries.ts';
import {
  createUnresponsiveConnectionKiller,
  releaseToPoolWhenConnectionEnds,
  setPoolInt8Parser,
} from './connection/pg-pool-workarounds.ts';
import { removePgliteTableRowArrayParsers } from './embedded/remove-pglite-table-row-array-parsers.ts';
import { rejectPgliteWritesOnLowDiskSpace } from './storage/reject-pglite-writes-on-low-disk-space.ts';
import { getRequestEntityManager } from './entity-manager/request-entity-manager.ts';
import { assertDiskSpaceToOpenDatabase, DiskSpaceMonitor } from './storage/disk-space-monitor.ts';
import { isPostgresqlUrl } from './connection/is-postgresql-url.ts';
import type { MessageObserver } from './connection/create-pipelined-statement-sender.ts';
import type { Database, EntityManager } from './entity-manager/entity-manager-type.ts';
import { isDatabaseResponsive } from './is-database-responsive.ts';
import {
  setConnectionTimeoutsAndDetectPooler,
  getPooledTransactionTimeoutStatement,
  type TimeoutSettings,
} from './connection/connection-timeouts-and-pooler-detection.ts';

type Options = SqlOptions<AbstractSqlDriver, EntityManager>;
export type OpenOptions = {
  readonly entities: NonNullable<Options['entities']>;
  /** A migrated PGlite database, as returned by `dumpDataDir`, from which the new database is created. */
  readonly template?: Blob;
  /** An open PGlite database to use instead of creating one. `close` leaves this database open. */
  readonly embedded?: PGlite;
  /** `none` disables the timeouts, for example for migrations, which may run and wait indefinitely. */
  readonly timeouts?: 'none';
  /** Statement timeout in milliseconds; changed only by tests. */
  readonly statementMs?: number;
  readonly connectionsMax?: number;
  /** If `false`, statements are sent without names, for poolers that do not support prepared statements (default: `true`). */
  readonly preparedStatements?: boolean | undefined;
  /** Receives the PostgreSQL connection pool before its first connection is opened. */
  readonly onPool?: ((pool: Pool) => void) | undefined;
  /** Observes every message to PostgreSQL. */
  readonly onMessage?: MessageObserver | undefined;
  /** Disk space monitor of the embedded database. Without a monitor, low disk space is not logged. */
  readonly storage?: DiskSpaceMonitor | undefined;
};

/** Migrations are forward-only, and a generated `down` migration would recreate every database function incorrectly. */
class ForwardOnlyMigrationGenerator extends TSMigrationGenerator {
  override generateMigrationFile(className: string, diff: { up: string[]; down: string[] }): string {
    return super.generateMigrationFile(className, { ...diff, down: [] });
  }
}

const baseOptions: Options = {
  context: getRequestEntityManager,
  extensions: [Migrator],
  forceUtcTimezone: true,
  discovery: { warnWhenNoEntities: false },
  schemaGenerator: {
    ignoreRoutines: true, // without this option, the schema comparison drops every function
    skipTables: ['product_search', 'product_words', 'order_statistics', 'order_statistics_changes'], // database triggers fill these tables
  },
  migrations: {
    path: `${import.meta.dirname}/migrations`,
    snapshot: false,
    generator: ForwardOnlyMigrationGenerator,
    fileName: (time, name) => `${time}_${name}`,
    silent: true,
  },
};

/**
 * Opens the database with the given entities.
 * @param url `postgres://…`, or a directory (or `memory://`) for PGlite
 */
export async function openDatabaseWithEntities(url: string, options: OpenOptions): Promise<Database> {
  if (isPostgresqlUrl(url)) return open(await postgresql(url, options));
  if (url.includes('://')) return openPglite(url, options);
  const release = lockPgliteDirectory(url);
  try {
    assertDiskSpaceToOpenDatabase(url, isNewPgliteDirectory(url));
    await createPgliteDirectoryIfNew(url);
    const db = await openPglite(url, options, release);
    rejectPgliteWritesOnLowDiskSpace(await getPglite(db), options.storage ?? new DiskSpaceMonitor(url));
    return db;
  } catch (error) {
    release();
    throw error;
  }
}

async function open(options: Options, release?: () => void): Promise<Database> {
  const db = await MikroORM.init<AbstractSqlDriver, EntityManager>({ ...baseOptions, ...options });
  const whenNoneWaits = guardConnectionAcquisition(db.em);
  const close = db.close.bind(db);
  db.close = async () => {
    // PGlite does not wait for running queries when it closes, so this code waits for a query that is queued behind them. If PostgreSQL is
    // unreachable, there are no running queries to wait for.
    await isDatabaseResponsive(db);
    // When Kysely closes, it loses track of a connection that is still being opened, and the pool would wait for that connection forever.
    await whenNoneWaits();
    await close();
    release?.();
  };
  return db;
}

// Drivers are imported on demand, so that a process loads only the driver that it uses.
async function postgresql(url: string, options: OpenOptions): Promise<Options> {
  const { entities, timeouts, statementMs = 15_000, connectionsMax = 10, onPool, onMessage, preparedStatements = true } = options;
  const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
  await assertSupportedPgLibrary();
  // PostgreSQL's own timeout is shorter, so this timeout means that the connection is dead
  const monitor = timeouts === 'none' ? undefined : createUnresponsiveConnectionKiller((statementMs * 4) / 3);
  const timeoutSettings: TimeoutSettings = timeouts === 'none' ? {} : defaultTimeoutSettings(statementMs);
  const driverOptions = {
    // MikroORM ignores URL parameters such as sslmode
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    // TCP keepalive detects idle connections whose server is gone
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client: ClientBase) => setConnectionTimeoutsAndDetectPooler(client, timeoutSettings, preparedStatements),
    onPoolCreated(pool: Pool) {
      onPool?.(pool);
      setPoolInt8Parser(pool, parseExactInt8);
      pool.on('connect', (client) => {
        const observers = [monitor?.(client), onMessage].filter((observer) => observer !== undefined);
        deferAndPipelineClientQueries(client, { preparedStatements, limits: getPooledTransactionTimeoutStatement(client), observers });
      });
      pool.on('connect', releaseToPoolWhenConnectionEnds);
    },
  };
  // ensureDatabase is off, because a mistyped name must not create a database
  return { entities, driver: PostgreSqlDriver, clientUrl: url, pool: { max: connectionsMax }, ensureDatabase: false, driverOptions };
}

const defaultTimeoutSettings = (statementMs: number): TimeoutSettings => ({
  statement_timeout: `${statementMs}ms`,
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '30s',
});

/**
 * PGlite never returns memory to the operating system, so the default `shared_buffers` of 128 MB would increase its memory usage by 100 MB.
 * The file system cache is sufficient.
 */
const memoryParameters = ['-c', 'shared_buffers=32MB'];

async function pglite(url: string, { entities, template, embedded }: OpenOptions): Promise<Options> {
  const [{ PgliteDriver }, { PGlite }, { pg_trgm }] = await Promise.all([
    import('@mikro-orm/pglite'),
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  // `driverOptions` is a function, because MikroORM deep-copies plain options, which breaks a Blob.
  const startParams = [...PGlite.defaultStartParams, ...walLimitStartParameters, ...memoryParameters];
  const driverOptions = (): object => ({
    startParams,
    parsers: { 20: parseExactInt8 },
    extensions: { pg_trgm },
    ...(template && { loadDataDir: template }),
    ...(embedded && { pglite: embedded }),
  });
  return { entities, driver: PgliteDriver, dbName: url, driverOptions };
}

async function openPglite(url: string, options: OpenOptions, release?: () => void): Promise<Database> {
  const db = await open(await pglite(url, options), release);
  removePgliteTableRowArrayParsers(await getPglite(db));
  return db;
}

async function getPglite(db: Database): Promise<PGlite> {
  const { PgliteConnection } = await import('@mikro-orm/pglite');
  const connection = db.em.getConnection();
  if (!(connection instanceof PgliteConnection)) throw new Error('the database is not PGlite');
  return connection.getNativeClient();
}

/** Parses an int8 as a JavaScript number, for both drivers. Throws an error if a JavaScript number cannot represent the value exactly. */
function parseExactInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 out of range: ${text}`);
  return value;
}

/**
 * Returns a function that resolves when no query is waiting for a connection. A query outside its request's transaction would deadlock
 * (always on PGlite, and under load on PostgreSQL), so such a query throws an error instead.
 */
function guardConnectionAcquisition(em: EntityManager): () => Promise<void> {
  let waitingCount = 0;
  const events = new EventEmitter();
  const executor = em.getConnection().getClient().getExecutor();
  const provideConnection = executor.provideConnection.bind(executor);
  executor.provideConnection = async (consumer, options) => {
    if (TransactionContext.getEntityManager()?.isInTransaction()) throw new Error('query outside of the transaction of this request');
    let isWaiting = true;
    waitingCount += 1;
    const markAcquired = (): void => {
      if (!isWaiting) return;
      isWaiting = false;
      waitingCount -= 1;
      if (waitingCount === 0) events.emit('nobody waits');
    };
    try {
      return await provideConnection((connection) => {
        markAcquired();
        return consumer(connection);
      }, options);
    } finally {
      markAcquired();
    }
  };
  const whenNoneWaits = async (): Promise<void> => {
    if (waitingCount === 0) return;
    await once(events, 'nobody waits');
    await whenNoneWaits();
  };
  return whenNoneWaits;
}
