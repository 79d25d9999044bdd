import type { User as UserBody } from '@mandate/contract';
import { LockMode } from '@mikro-orm/core';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem, type Problem } from '../http/problem-details/problem.ts';
import { toUser, userColumns } from './user-body.ts';
import { User } from './user.entity.ts';

// The owner is part of the question: somebody else's account is not found.
const readUser = statement<UserBody>('read_user', `select ${userColumns} from users where id = $1 and (id = $2 or $3)`);

/** The user, if the principal may see it with a scope for its own things or one for everybody's. */
export async function findUser(em: Em, principal: Principal, id: number): Promise<UserBody> {
  const ownId = may(principal, 'users.read') ? principal.user?.id : undefined;
  const [row] = await readUser(em, [id, ownId ?? null, may(principal, 'users.manage')]);
  if (!row) throw unknownUser(id);
  return toUser(row);
}

/** The user for a change, held until the transaction ends. */
export async function lockUser(em: Em, principal: Principal, id: number): Promise<User> {
  const reachable = may(principal, 'users.manage') || may(principal, 'users.administer') || principal.user?.id === id;
  const user = reachable ? await em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (!user) throw unknownUser(id);
  return user;
}

const unknownUser = (id: number): Problem => problem('not_found', { detail: `User ${id} was not found.` });
