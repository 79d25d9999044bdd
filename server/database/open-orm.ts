import { EventEmitter, once } from 'node:events';
import { Migrator, TSMigrationGenerator } from '@mikro-orm/migrations';
import { MikroORM, TransactionContext, type AbstractSqlDriver, type SqlOptions } from '@mikro-orm/sql';
import type { ClientBase, Pool } from 'pg';
import { lockDataDirectory } from './embedded/pglite-directory-lock.ts';
import { walStartParameters } from './embedded/limit-wal-size.ts';
import { isNewDataDirectory, makeDataDirectory } from './embedded/create-pglite-directory.ts';
import { endSilentConnections, giveBackWhenLost, parseInt8, refuseUndoneCommit } from './connection/pool-safety.ts';
import { refuseWritesWithoutSpace } from './storage/reject-writes.ts';
import { ownEm } from './entity-manager/request-entity-manager.ts';
import { sendTogether, takeTogether } from './connection/pipelined-queries.ts';
import { expectSpaceToOpen, StorageReserve } from './storage/storage-reserve.ts';
import { isPostgresql } from './connection/database-url.ts';
import type { Database, Em } from './entity-manager/entity-manager.ts';
import { limitConnection, transactionLimits, type TimeLimits } from './connection/database-timeouts.ts';

type Options = SqlOptions<AbstractSqlDriver, Em>;
export type OpenOptions = {
  readonly entities: NonNullable<Options['entities']>;
  /** A migrated PGlite database to start from, as `dumpDataDir` gave it. */
  readonly template?: Blob;
  /** `none`: for migrations, which may take and wait for as long as they need. */
  readonly timeouts?: 'none';
  /** Another limit for one statement, only to see it met. */
  readonly statementMs?: number;
  readonly connectionsMax?: number;
  /** `false`: no statement has a name, for poolers that do not keep prepared statements. Default: `true`. */
  readonly preparedStatements?: boolean | undefined;
  /** Given the pool of connections to PostgreSQL before the first of them is opened. */
  readonly onPool?: ((pool: Pool) => void) | undefined;
  /** Disk space of the embedded database; by default a shortage is not reported. */
  readonly storage?: StorageReserve | undefined;
};

/** Forward only; and a generated `down` would create every function of the database again, wrongly. */
class UpOnly extends TSMigrationGenerator {
  override generateMigrationFile(className: string, diff: { up: string[]; down: string[] }): string {
    return super.generateMigrationFile(className, { ...diff, down: [] });
  }
}

const shared: Options = {
  context: ownEm,
  extensions: [Migrator],
  forceUtcTimezone: true,
  discovery: { warnWhenNoEntities: false },
  schemaGenerator: {
    ignoreRoutines: true, // else the comparison drops every function it finds
    skipTables: ['product_search', 'product_words'], // derived from products by a trigger, as an index is
  },
  migrations: {
    path: `${import.meta.dirname}/migrations`,
    snapshot: false,
    generator: UpOnly,
    fileName: (time, name) => `${time}_${name}`,
    silent: true,
  },
};

/**
 * Opens the database with the given entities.
 * @param url `postgres://…`, or a directory (or `memory://`) for PGlite
 */
export async function openOrm(url: string, opening: OpenOptions): Promise<Database> {
  if (isPostgresql(url)) return open(await postgresql(url, opening));
  if (url.includes('://')) return open(await pglite(url, opening));
  const release = lockDataDirectory(url);
  try {
    expectSpaceToOpen(url, isNewDataDirectory(url));
    await makeDataDirectory(url);
    const db = await open(await pglite(url, opening), release);
    await guardStorage(db, opening.storage ?? new StorageReserve(url));
    return db;
  } catch (error) {
    release();
    throw error;
  }
}

async function open(options: Options, release?: () => void): Promise<Database> {
  const db = await MikroORM.init<AbstractSqlDriver, Em>({ ...shared, ...options });
  const nobodyWaits = watchConnections(db.em);
  const close = db.close.bind(db);
  db.close = async () => {
    // PGlite does not wait for what it is doing; this waits its turn, and a lost PostgreSQL has nothing to wait for
    await db.em
      .fork()
      .execute('select 1')
      .catch(() => undefined);
    // kysely loses a connection that is still being opened when it ends, and the pool would wait for it for ever
    await nobodyWaits();
    await close();
    release?.();
  };
  return db;
}

// The drivers are imported when they are needed: neither loads the other's code.
async function postgresql(url: string, opening: OpenOptions): Promise<Options> {
  const { entities, timeouts, statementMs = 15_000, connectionsMax = 10, onPool, preparedStatements = true } = opening;
  const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
  const limits: TimeLimits = timeouts === 'none' ? {} : timeLimits(statementMs);
  const driverOptions = {
    // MikroORM ignores the parameters of a URL, such as sslmode
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    // one that nobody uses is asked by TCP whether the other side is still there
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client: ClientBase) => limitConnection(client, limits, preparedStatements),
    onPoolCreated(pool: Pool) {
      pool.on('connect', takeTogether);
      onPool?.(pool);
      parseInt8(pool, int8);
      pool.on('connect', refuseUndoneCommit);
      // PostgreSQL would have ended the statement before
      if (timeouts !== 'none') endSilentConnections(pool, (statementMs * 4) / 3);
      pool.on('connect', (client) => sendTogether(client, { preparedStatements, limits: transactionLimits(client) }));
      pool.on('connect', giveBackWhenLost);
    },
  };
  // a mistyped name must not create a database
  return { entities, driver: PostgreSqlDriver, clientUrl: url, pool: { max: connectionsMax }, ensureDatabase: false, driverOptions };
}

const timeLimits = (statementMs: number): TimeLimits => ({
  statement_timeout: `${statementMs}ms`,
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '30s',
});

/** PGlite never returns memory: with the default of 128 MB, it needs 100 MB more. The cache of the file system is behind it. */
const memoryStartParameters = ['-c', 'shared_buffers=32MB'];

async function pglite(url: string, { entities, template }: OpenOptions): Promise<Options> {
  const [{ PgliteDriver }, { PGlite }, { pg_trgm }] = await Promise.all([
    import('@mikro-orm/pglite'),
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  // a function, because plain options are copied deeply and a copied Blob is none
  const startParams = [...PGlite.defaultStartParams, ...walStartParameters, ...memoryStartParameters];
  const driverOptions = (): object => ({
    startParams,
    parsers: { 20: int8 },
    extensions: { pg_trgm },
    ...(template && { loadDataDir: template }),
  });
  return { entities, driver: PgliteDriver, dbName: url, driverOptions };
}

async function guardStorage(db: Database, storage: StorageReserve): Promise<void> {
  const { PgliteConnection } = await import('@mikro-orm/pglite');
  const connection = db.em.getConnection();
  if (connection instanceof PgliteConnection) refuseWritesWithoutSpace(await connection.getNativeClient(), storage);
}

/** Both drivers give an int8 the same way: as a JavaScript number, or as an error when that would not be exact. */
function int8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 out of range: ${text}`);
  return value;
}

/**
 * Counts who waits for a connection; what it gives resolves when nobody does. Inside a transaction, a query on any other connection waits
 * for itself, for ever on PGlite, under load on PostgreSQL: that is made an error.
 */
function watchConnections(em: Em): () => Promise<void> {
  let waiting = 0;
  const events = new EventEmitter();
  const executor = em.getConnection().getClient().getExecutor();
  const provideConnection = executor.provideConnection.bind(executor);
  executor.provideConnection = async (consumer, options) => {
    if (TransactionContext.getEntityManager()?.isInTransaction()) throw new Error('query beside the transaction of this request');
    let waits = true;
    waiting += 1;
    const given = (): void => {
      if (!waits) return;
      waits = false;
      waiting -= 1;
      if (waiting === 0) events.emit('nobody waits');
    };
    try {
      return await provideConnection((connection) => {
        given();
        return consumer(connection);
      }, options);
    } finally {
      given();
    }
  };
  const nobodyWaits = async (): Promise<void> => {
    if (waiting === 0) return;
    await once(events, 'nobody waits');
    await nobodyWaits();
  };
  return nobodyWaits;
}
