import type { EntityManager } from '../entity-manager/entity-manager.ts';
import { prepareStatement } from './prepared-statement.ts';

// SQL, because MikroORM has no advisory locks.
const lockKey = prepareStatement('lock_key', 'select pg_advisory_xact_lock(hashtextextended($1, $2))');
const lockId = prepareStatement('lock_id', 'select pg_advisory_xact_lock($1)');

/** Serializes transactions that use the same key and namespace: waits for the others, and holds the lock until the transaction ends. */
export const lockAdvisoryKey = async (em: EntityManager, key: string, namespace: number): Promise<void> =>
  void (await lockKey(em, [key, namespace]));

/** Like `lockAdvisoryKey`, for a lock that is identified only by a number. */
export const lockAdvisoryId = async (em: EntityManager, id: number): Promise<void> => void (await lockId(em, [id]));
