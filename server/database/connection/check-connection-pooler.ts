import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { isDatabaseUnreachableError } from '../errors/database-error-predicates.ts';
import { isBehindConnectionPooler } from './connection-timeouts-and-pooler-detection.ts';

/** Thrown if the server cannot work through the connection pooler. The message states which settings to change. */
export class ConnectionPoolerError extends Error {
  override readonly name = 'ConnectionPoolerError';
}

/** If the pooler provides no connection within this time, its pool is too small. */
const connectionTimeoutMs = 2_500;
const maxRounds = 10;
/** No further round of the check starts after this time, so that the check does not take too long if round trips to the pooler are slow. */
const maxDurationMs = 1_000;

const noPreparedStatements =
  'The connection pooler at DATABASE_URL does not support prepared statements, as PgBouncer in transaction mode before version 1.21 or with max_prepared_statements=0: set DATABASE_PREPARED_STATEMENTS=off';
const noTransactions =
  'The connection pooler at DATABASE_URL does not support transactions, as PgBouncer in statement mode: set pool_mode to session or transaction in the pooler';
const tooFewConnections =
  'The connection pooler at DATABASE_URL does not provide a second connection to PostgreSQL: raise default_pool_size in the pooler to at least 10 for each server process';

/**
 * If `pool` is connected to a connection pooler, checks whether the server can work through that pooler.
 * @throws {ConnectionPoolerError} if the server cannot work through the pooler
 */
export async function detectPoolerAndAssertCompatible(pool: Pool, preparedStatements: boolean): Promise<'direct' | 'pooler'> {
  const client = await pool.connect();
  let failed = true;
  try {
    if (isBehindConnectionPooler(client)) await checkWithSecondClient(pool, client, preparedStatements);
    failed = false;
    return isBehindConnectionPooler(client) ? 'pooler' : 'direct';
  } finally {
    client.release(failed);
  }
}

async function checkWithSecondClient(pool: Pool, client: PoolClient, preparedStatements: boolean): Promise<void> {
  const other = pool.connect();
  try {
    await withTimeout(other.then((connected) => alternate(client, connected, preparedStatements)));
  } finally {
    // a pending connection is closed as soon as the pooler provides it
    void other.then((connected) => connected.release(true)).catch(() => undefined);
  }
}

/**
 * Uses two clients alternately. In transaction mode, a pooler gives a client any free connection. While the second client is in a
 * transaction, the first client therefore soon gets a connection that lacks its prepared statement.
 */
async function alternate(client: PoolClient, other: PoolClient, preparedStatements: boolean): Promise<void> {
  const name = preparedStatements ? `check_pooler_${randomBytes(6).toString('hex')}` : '';
  const probe = { name, text: 'select 1', values: [] };
  const started = performance.now();
  for (let round = 1; round <= maxRounds && (round <= 2 || performance.now() - started < maxDurationMs); round += 1) {
    // the query runs twice, because some poolers assign connections round-robin
    for (const _ of [1, 2]) await client.query(probe).catch(failWith(noPreparedStatements));
    await begin(other).catch(failWith(noTransactions));
    await client.query(probe).catch(failWith(noPreparedStatements));
    await other.query('rollback');
  }
}

/** Begins a transaction. BEGIN itself is deferred, so another statement must follow. */
async function begin(client: PoolClient): Promise<void> {
  await client.query('begin');
  await client.query('select 1');
}

const failWith =
  (message: string) =>
  (cause: unknown): never => {
    throw isConnectionLost(cause) ? cause : new ConnectionPoolerError(message, { cause });
  };

/**
 * Returns whether the connection was lost. PgBouncer reports its own errors with the code for protocol errors, which otherwise means a lost
 * connection.
 */
const isConnectionLost = (error: unknown): boolean =>
  isDatabaseUnreachableError(error) && !(error instanceof Error && 'code' in error && error.code === '08P01');

async function withTimeout(work: Promise<void>): Promise<void> {
  const stop = new AbortController();
  const timeout = sleep(connectionTimeoutMs, undefined, { signal: stop.signal }).then(() => {
    throw new ConnectionPoolerError(tooFewConnections);
  });
  timeout.catch(() => undefined);
  try {
    await Promise.race([work, timeout]);
  } finally {
    stop.abort();
    work.catch(() => undefined);
  }
}
