import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { isDatabaseUnavailable } from '../errors/availability-errors.ts';
import { rowsOf } from '../queries/dynamic-query.ts';
import type { ReadList } from './read-routing.ts';
import type { Database, Em } from '../entity-manager/entity-manager.ts';

/** For so long a list waits for the replica to have what it must have; then the primary answers it. */
const waitMs = 100;
const lookEveryMs = 5;
/** A replica that was behind is left alone for a moment, and one that failed for longer: not every list finds out anew. */
const behindMs = 1_000;
const awayMs = 5_000;
/** A replica that takes longer to say how far it is, or to answer a list, has most likely gone without a word. */
const positionMs = 1_000;
const answerMs = 5_000;

type ReplicaLog = { warn(details: object, message: string): void; info(message: string): void };

// What is written without waiting for the disk is not sent to replicas before it is flushed. Where all commits are such, it is waited for.
const committed = sql<{ position: number }>`
  select ((case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end)
          - '0/0'::pg_lsn)::bigint as position`;
const replayed = sql<{ position: number | null }>`select (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint as position`;
const identity = sql<{ identity: string; standby: boolean }>`
  select system_identifier || '/' || current_database() as identity, pg_is_in_recovery() as standby from pg_control_system()`;

/** It is there, and no copy of this database that goes on. */
class NoReplicaError extends Error {
  override readonly name = 'NoReplicaError';
}

/**
 * Lists from a streaming replica, which never show less than the primary would: the primary is asked how far it has committed (once
 * for all lists that begin at the same moment), and the replica answers when it has come as far. So everybody sees what they have
 * written, by whichever process. While the replica is behind, away, or none at all, the primary answers.
 */
export class Replica {
  /** How many lists each of them has answered. */
  readonly counts = { replica: 0, primary: 0 };
  readonly #primary: Em;
  readonly #replica: Em;
  readonly #log: ReplicaLog;
  /** Whether it was found to be a replica of this primary, since it last failed. */
  #known = false;
  #away = false;
  #avoidUntil = 0;

  constructor(primary: Database, replica: Database, log: ReplicaLog) {
    [this.#primary, this.#replica, this.#log] = [primary.em, replica.em, log];
  }

  readonly read: ReadList = async (list) => {
    if (performance.now() < this.#avoidUntil || !(await this.#isCurrent())) return this.#fromPrimary(list);
    try {
      const result = await inTime(list(this.#copy()), answerMs);
      this.counts.replica += 1;
      return result;
    } catch (error) {
      this.#avoid(error);
      return this.#fromPrimary(list);
    }
  };

  #fromPrimary<Result>(list: (em: Em) => Promise<Result>): Promise<Result> {
    this.counts.primary += 1;
    return list(this.#primary);
  }

  async #isCurrent(): Promise<boolean> {
    const [[primary], reached] = await Promise.all([
      rowsOf(this.#primary, committed),
      inTime(this.#position(), this.#known ? positionMs : answerMs).catch((error: unknown) => this.#avoid(error)),
    ]);
    if (reached === undefined || primary === undefined) return false;
    if (reached >= primary.position) return true;
    try {
      return await inTime(this.#reaches(primary.position), positionMs);
    } catch (error) {
      this.#avoid(error);
      return false;
    }
  }

  async #reaches(position: number): Promise<boolean> {
    for (const until = performance.now() + waitMs; performance.now() < until; await sleep(lookEveryMs))
      if ((await this.#position()) >= position) return true;
    this.#avoidUntil = performance.now() + behindMs;
    return false;
  }

  /** Asked anew every time: one that was started again may have to come as far as it was a second time. */
  async #position(): Promise<number> {
    if (!this.#known) await this.#identify();
    const [row] = await rowsOf(this.#copy(), replayed);
    if (this.#away) this.#log.info('the replica is back: lists are read from it again');
    this.#away = false;
    return row?.position ?? Number.NEGATIVE_INFINITY;
  }

  /** Without looking at the context: that of a request is on the primary. */
  #copy = (): Em => this.#replica.fork({ disableContextResolution: true });

  /** Positions of another database would mean nothing here. */
  async #identify(): Promise<void> {
    const [[primary], [replica]] = await Promise.all([rowsOf(this.#primary, identity), rowsOf(this.#copy(), identity)]);
    if (replica?.standby !== true || primary?.identity !== replica.identity)
      throw new NoReplicaError('the database at DATABASE_REPLICA_URL is no streaming replica of the one at DATABASE_URL');
    this.#known = true;
  }

  #avoid(error: unknown): undefined {
    if (!isFaultOfReplica(error)) throw error;
    [this.#known, this.#avoidUntil] = [false, performance.now() + awayMs];
    if (!this.#away) this.#log.warn({ err: error }, 'lists are read from the primary: the replica cannot be used');
    this.#away = true;
  }
}

const isFaultOfReplica = (error: unknown): boolean =>
  error instanceof NoReplicaError || error instanceof TooLateError || isDatabaseUnavailable(error);

class TooLateError extends Error {
  override readonly name = 'TooLateError';
}

async function inTime<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  const stop = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: stop.signal }).then(() => {
    throw new TooLateError('the replica did not answer in time');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
    work.catch(() => undefined);
  }
}
