import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { problem } from '../http/problem-details/problem.ts';
import type { User } from './user.entity.ts';

const lockActiveAdministrators = statement<{ id: number }>(
  'lock_administrators',
  `select id from users where role = 'admin' and status = 'active' order by id for no key update`,
);

/** Before the user is locked whose role or status may change: so that two administrators who remove each other wait in one order. */
export async function lockAdministrators(em: Em): Promise<void> {
  await lockActiveAdministrators(em, []);
}

/** Somebody has to be left who can let others in. */
export async function keepAnAdministrator(em: Em, user: User): Promise<void> {
  if (user.role !== 'admin' || user.status !== 'active') return;
  const administrators = await lockActiveAdministrators(em, []);
  if (administrators.every(({ id }) => id === user.id))
    throw problem('last_administrator', { detail: 'Make somebody else administrator first.' });
}
