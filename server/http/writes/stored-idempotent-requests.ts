import { LockMode, type QueryResult, raw } from '@mikro-orm/core';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { secondsFromNowSql } from '../../database/time/seconds-from-now-sql.ts';
import { readDatabaseTime } from '../../database/time/read-database-time.sql.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';

/** The primary key of a stored request. */
export type KeyScope = readonly [caller: string, operation: string, key: string];

type StoredResponse = {
  /** `null` if the request has started but has no response yet. */
  readonly status: number | null;
  readonly location: string | null;
  readonly body: string | null;
};

export type StoredRequest = StoredResponse & {
  readonly requestHash: string;
  /** Whether the request still has no response after `staleAfterMs` and is therefore considered abandoned. */
  readonly isStale: boolean;
};

/** How long the response to a request with an idempotency key is stored, in seconds. */
export const idempotencyRetentionSeconds = 24 * 60 * 60;
/**
 * Time after which a request without a response is considered abandoned. If an abandoned request completes after all, the client receives
 * the response that was stored first.
 */
const staleAfterMs = 5_000;

const primaryKey = ([caller, operation, key]: KeyScope) => ({ caller, operation, key });

/**
 * Claims the key for a request and returns true, or returns false if another request has already claimed the key. Waits while a concurrent
 * request with the same key is in progress. A key older than 24 hours is treated as new.
 */
export async function claimIdempotencyKey(em: EntityManager, keyScope: KeyScope, requestHash: string): Promise<boolean> {
  const insert = em.createQueryBuilder(IdempotencyKey).insert({ ...primaryKey(keyScope), requestHash });
  const { affectedRows }: QueryResult = await insert
    .onConflict(['caller', 'operation', 'key'])
    .merge({ requestHash, createdAt: raw('now()') })
    .where({ createdAt: { $lt: secondsFromNowSql(-idempotencyRetentionSeconds) } })
    .execute();
  return affectedRows > 0;
}

export async function findStoredIdempotentRequest(em: EntityManager, keyScope: KeyScope): Promise<StoredRequest | undefined> {
  const stored = await em.findOne(IdempotencyKey, primaryKey(keyScope), { disableIdentityMap: true });
  if (!stored) return undefined;
  const { requestHash, status = null, location = null, body = null, createdAt } = stored;
  const isStale = status === null && (await readDatabaseTime(em)).getTime() - createdAt.getTime() > staleAfterMs;
  return { requestHash, status, location, body, isStale };
}

export const storeIdempotentResponse = (em: EntityManager, keyScope: KeyScope, response: StoredResponse): Promise<number> =>
  em.nativeUpdate(IdempotencyKey, primaryKey(keyScope), response);

/** Stores the final response; returns false if another request with the key has already stored a response. */
export const storeFinalResponseIfUnfinished = async (em: EntityManager, keyScope: KeyScope, body: string): Promise<boolean> =>
  (await em.nativeUpdate(IdempotencyKey, { ...primaryKey(keyScope), status: null }, { status: 201, body })) > 0;

/** Maximum number of rows per transaction, so that each transaction is short. */
const batchSize = 1_000;

/**
 * Deletes one batch of expired keys and returns their number. Keys that a request has locked are skipped, and a later call deletes them.
 */
export const deleteExpiredIdempotencyKeysBatch = (em: EntityManager, now: Date): Promise<number> =>
  em.transactional(async (inner) => {
    const isExpired = { createdAt: { $lt: new Date(now.getTime() - idempotencyRetentionSeconds * 1000) } };
    const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, disableIdentityMap: true } as const;
    const expired = await inner.find(IdempotencyKey, isExpired, { fields: ['key'], limit: batchSize, ...skipLocked });
    const groups = Map.groupBy(expired, ({ caller, operation }) => JSON.stringify([caller, operation])).values();
    const conditions = [...groups].flatMap((rows) =>
      rows.slice(0, 1).map(({ caller, operation }) => ({ caller, operation, key: { $in: rows.map(({ key }) => key) } })),
    );
    return conditions.length === 0 ? 0 : inner.nativeDelete(IdempotencyKey, { $or: conditions });
  });
