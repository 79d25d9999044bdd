import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '../entity-manager/entity-manager-type.ts';

/** Arbitrary id of the advisory lock for migrations. */
export const migrationLockId = 7_262_633;

const pollMs = 200;

// The statements in this file have no parameters, because PostgreSQL keeps the snapshot of a statement with parameters until the
// transaction ends, and CREATE INDEX CONCURRENTLY in a migration waits for every older snapshot.

/**
 * Waits until no other process applies migrations, and holds the lock until the transaction ends. This function polls, because a statement
 * that waits for the lock would also keep its snapshot.
 */
export async function lockMigrations(em: EntityManager): Promise<void> {
  const tryLock = em
    .getKysely()
    .selectNoFrom((eb) => eb.fn<boolean>('pg_try_advisory_xact_lock', [eb.lit(migrationLockId)]).as('is_locked'));
  while (!(await tryLock.executeTakeFirstOrThrow()).is_locked) await sleep(pollMs);
}

// Written in SQL because MikroORM sets transaction settings with parameters.
/** Limits how long each statement in this transaction waits for a lock. */
export const setTransactionLockTimeout = async (em: EntityManager, timeout: `${number}s`): Promise<void> =>
  void (await em.execute(`set local lock_timeout to '${timeout}'`));
