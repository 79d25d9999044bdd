import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { problem } from '../http/problem-details/problem.ts';
import type { User } from './user.entity.ts';

const selectActiveAdministratorsForUpdate = statement<{ id: number }>(
  'lock_administrators',
  `select id from users where role = 'admin' and status = 'active' order by id for no key update`,
);

/**
 * Locks all active administrators in the order of their ids. Call it before locking a user whose role or status may change: then two
 * administrators who demote each other cannot deadlock.
 */
export async function lockAdministrators(em: Em): Promise<void> {
  await selectActiveAdministratorsForUpdate(em, []);
}

/** Verifies that another active administrator remains when this user loses the role or the `active` status. */
export async function keepAnAdministrator(em: Em, user: User): Promise<void> {
  if (user.role !== 'admin' || user.status !== 'active') return;
  const administrators = await selectActiveAdministratorsForUpdate(em, []);
  if (administrators.every(({ id }) => id === user.id))
    throw problem('last_administrator', { detail: 'Make somebody else administrator first.' });
}
