import type { User as UserBody } from '@mandate/contract';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { canUseScope } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';
import { userFromRow, userColumnsSql } from './user-response.ts';
import { User } from './user.entity.ts';

// The permission is part of the query, so that an account the caller may not read is not found.
const readUser = prepareStatement<UserBody>('read_user', `select ${userColumnsSql} from users where id = $1 and (id = $2 or $3)`);

/** Returns a user: with `users.read` the principal's own account, with `users.manage` any account. */
export async function findUser(em: EntityManager, principal: Principal, id: number): Promise<UserBody> {
  const ownId = canUseScope(principal, 'users.read') ? principal.user?.id : undefined;
  const [row] = await readUser(em, [id, ownId ?? null, canUseScope(principal, 'users.manage')]);
  if (!row) throw userNotFound(id);
  return userFromRow(row);
}

/** Returns a user whom the principal may change, locked until the transaction ends. */
export async function findUserForUpdate(em: EntityManager, principal: Principal, id: number): Promise<User> {
  const isPermitted = canUseScope(principal, 'users.manage') || canUseScope(principal, 'users.administer') || principal.user?.id === id;
  const user = isPermitted ? await em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (!user) throw userNotFound(id);
  return user;
}

const userNotFound = (id: number): Problem => createProblem('not_found', { detail: `User ${id} was not found.` });
