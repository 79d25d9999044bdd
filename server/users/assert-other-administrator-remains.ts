import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { lockRows } from '../database/queries/lock-rows.sql.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { User } from './user.entity.ts';

/** Locks all active administrators in ID order and returns their IDs. */
const lockAdministrators = (em: EntityManager): Promise<number[]> =>
  lockRows(em, em.createQueryBuilder(User).select('id').where({ role: 'admin', status: 'active' }).orderBy({ id: 'asc' }));

/**
 * Locks all active administrators in ID order. Call this function before locking a user whose role or status may change, so that two
 * administrators who demote each other at the same time cannot cause a deadlock.
 */
export async function lockActiveAdministratorRows(em: EntityManager): Promise<void> {
  await lockAdministrators(em);
}

/** Verifies that another active administrator remains if this user loses the administrator role or the `active` status. */
export async function assertOtherAdministratorRemains(em: EntityManager, user: User): Promise<void> {
  if (user.role !== 'admin' || user.status !== 'active') return;
  const administrators = await lockAdministrators(em);
  if (administrators.every((id) => id === user.id))
    throw createProblem('last_administrator', { detail: 'Make another user an administrator first.' });
}
