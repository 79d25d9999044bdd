import type { EntityManager } from '../entity-manager/entity-manager-type.ts';
import { prepareStatement } from './prepared-statement.ts';

// Written in SQL because MikroORM does not support advisory locks. The hash of a null key is null; in this case, `$2` itself is the lock
// ID.
const lock = prepareStatement('lock_key', 'select pg_advisory_xact_lock(coalesce(hashtextextended($1, $2), $2))');

/**
 * Serializes transactions that use the same key and namespace. The function waits for the lock, and the transaction holds the lock until it
 * ends.
 */
export const acquireAdvisoryLockForKey = async (em: EntityManager, key: string, namespace: number): Promise<void> =>
  void (await lock(em, [key, namespace]));

/** Like `acquireAdvisoryLockForKey`, but for a lock that is identified only by a number. */
export const acquireAdvisoryLockForNumber = async (em: EntityManager, id: number): Promise<void> => void (await lock(em, [null, id]));
