import type { User as UserBody } from '@mandate/contract';
import { LockMode } from '@mikro-orm/core';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem, type Problem } from '../http/problem-details/problem.ts';
import { toUser, userColumns } from './user-body.ts';
import { User } from './user.entity.ts';

// The permission is part of the query, so that an account the caller may not read is not found.
const readUser = statement<UserBody>('read_user', `select ${userColumns} from users where id = $1 and (id = $2 or $3)`);

/** Returns a user: with `users.read` the principal's own account, with `users.manage` any account. */
export async function findUser(em: Em, principal: Principal, id: number): Promise<UserBody> {
  const ownId = may(principal, 'users.read') ? principal.user?.id : undefined;
  const [row] = await readUser(em, [id, ownId ?? null, may(principal, 'users.manage')]);
  if (!row) throw userNotFound(id);
  return toUser(row);
}

/** Returns a user whom the principal may change, locked until the transaction ends. */
export async function lockUser(em: Em, principal: Principal, id: number): Promise<User> {
  const isPermitted = may(principal, 'users.manage') || may(principal, 'users.administer') || principal.user?.id === id;
  const user = isPermitted ? await em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (!user) throw userNotFound(id);
  return user;
}

const userNotFound = (id: number): Problem => problem('not_found', { detail: `User ${id} was not found.` });
