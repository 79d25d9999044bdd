import { setTimeout as sleep } from 'node:timers/promises';
import { isTemporaryDatabaseError } from '../errors/database-error-predicates.ts';
import { readDatabaseIdentity, readWalPosition } from './read-wal-position-and-identity.sql.ts';
import type { RunListQuery } from './primary-only-list-query-runner.ts';
import type { Database, EntityManager } from '../entity-manager/entity-manager-type.ts';

/** How long a list query waits for the replica to catch up before it runs on the primary. */
const replayTimeoutMs = 100;
const pollIntervalMs = 5;
/** How long a lagging or failed replica is skipped, so that not every query waits for the replica. */
const laggingBackoffMs = 1_000;
const downBackoffMs = 5_000;
/** Timeouts for reading the replay position and for a list query. After a timeout, the replica is most likely unreachable. */
const positionTimeoutMs = 1_000;
const queryTimeoutMs = 5_000;

type ReplicaLog = { warn(details: object, message: string): void; info(message: string): void };

/** Thrown if the server at DATABASE_REPLICA_URL is reachable but is not a streaming replica of the primary. */
class NotAReplicaError extends Error {
  override readonly name = 'NotAReplicaError';
}

/**
 * Runs list queries on a streaming replica without stale results. Before a query, this class reads the primary's commit position (once for
 * all queries that start at the same time) and waits until the replica has replayed the WAL up to this position. Therefore, clients always
 * see their own writes, regardless of which process executed the writes. While the replica lags, is unreachable or is not a replica,
 * queries run on the primary.
 */
export class ReplicaWithPrimaryFallback {
  /** Numbers of list queries that ran on the replica and on the primary. */
  readonly counts = { replica: 0, primary: 0 };
  readonly #primary: EntityManager;
  readonly #replica: EntityManager;
  readonly #log: ReplicaLog;
  /** Whether the server has been verified as a replica of this primary since its last failure. */
  #isVerified = false;
  #isDown = false;
  #skipUntil = 0;

  constructor(primary: Database, replica: Database, log: ReplicaLog) {
    [this.#primary, this.#replica, this.#log] = [primary.em, replica.em, log];
  }

  readonly read: RunListQuery = async (list) => {
    if (performance.now() < this.#skipUntil || !(await this.#hasCaughtUp())) return this.#fromPrimary(list);
    try {
      const result = await withTimeout(list(this.#forkReplica()), queryTimeoutMs);
      this.counts.replica += 1;
      return result;
    } catch (error) {
      this.#markDown(error);
      return this.#fromPrimary(list);
    }
  };

  #fromPrimary<Result>(list: (em: EntityManager) => Promise<Result>): Promise<Result> {
    this.counts.primary += 1;
    return list(this.#primary);
  }

  async #hasCaughtUp(): Promise<boolean> {
    const [[primary], replayedPosition] = await Promise.all([
      readWalPosition(this.#primary, []),
      withTimeout(this.#position(), this.#isVerified ? positionTimeoutMs : queryTimeoutMs).catch((error: unknown) => this.#markDown(error)),
    ]);
    if (replayedPosition === undefined || primary?.position == null) return false;
    if (replayedPosition >= primary.position) return true;
    try {
      return await withTimeout(this.#waitForReplay(primary.position), positionTimeoutMs);
    } catch (error) {
      this.#markDown(error);
      return false;
    }
  }

  async #waitForReplay(position: number): Promise<boolean> {
    for (const until = performance.now() + replayTimeoutMs; performance.now() < until; await sleep(pollIntervalMs))
      if ((await this.#position()) >= position) return true;
    this.#skipUntil = performance.now() + laggingBackoffMs;
    return false;
  }

  /** The replay position is queried each time, because a restarted replica may have to replay the same WAL again. */
  async #position(): Promise<number> {
    if (!this.#isVerified) await this.#verifyReplica();
    const [row] = await readWalPosition(this.#forkReplica(), []);
    if (this.#isDown) this.#log.info('the replica is available again: lists are read from it');
    this.#isDown = false;
    return row?.position ?? Number.NEGATIVE_INFINITY;
  }

  /** Without `disableContextResolution`, queries would use the request's entity manager, which belongs to the primary. */
  #forkReplica = (): EntityManager => this.#replica.fork({ disableContextResolution: true });

  /**
   * Verifies that the primary and the replica are the same database, because the WAL positions of different databases cannot be compared.
   */
  async #verifyReplica(): Promise<void> {
    const [[primary], [replica]] = await Promise.all([
      readDatabaseIdentity(this.#primary, []),
      readDatabaseIdentity(this.#forkReplica(), []),
    ]);
    if (replica?.standby !== true || primary?.identity !== replica.identity)
      throw new NotAReplicaError('the database at DATABASE_REPLICA_URL is not a streaming replica of the one at DATABASE_URL');
    this.#isVerified = true;
  }

  #markDown(error: unknown): undefined {
    if (!isReplicaFailure(error)) throw error;
    [this.#isVerified, this.#skipUntil] = [false, performance.now() + downBackoffMs];
    if (!this.#isDown) this.#log.warn({ err: error }, 'lists are read from the primary: the replica cannot be used');
    this.#isDown = true;
  }
}

const isReplicaFailure = (error: unknown): boolean =>
  error instanceof NotAReplicaError || error instanceof ReplicaTimeoutError || isTemporaryDatabaseError(error);

class ReplicaTimeoutError extends Error {
  override readonly name = 'ReplicaTimeoutError';
}

async function withTimeout<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  const stop = new AbortController();
  const timeout = sleep(milliseconds, undefined, { signal: stop.signal }).then(() => {
    throw new ReplicaTimeoutError('the replica did not respond in time');
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    stop.abort();
    work.catch(() => undefined);
  }
}
