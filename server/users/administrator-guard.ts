import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import type { User } from './user.entity.ts';

const selectActiveAdministratorsForUpdate = prepareStatement<{ id: number }>(
  'lock_administrators',
  `select id from users where role = 'admin' and status = 'active' order by id for no key update`,
);

/**
 * Locks all active administrators in the order of their ids. Call it before locking a user whose role or status may change: then two
 * administrators who demote each other cannot deadlock.
 */
export async function lockActiveAdministrators(em: EntityManager): Promise<void> {
  await selectActiveAdministratorsForUpdate(em, []);
}

/** Verifies that another active administrator remains when this user loses the role or the `active` status. */
export async function assertAdministratorRemains(em: EntityManager, user: User): Promise<void> {
  if (user.role !== 'admin' || user.status !== 'active') return;
  const administrators = await selectActiveAdministratorsForUpdate(em, []);
  if (administrators.every(({ id }) => id === user.id))
    throw createProblem('last_administrator', { detail: 'Make another user an administrator first.' });
}
