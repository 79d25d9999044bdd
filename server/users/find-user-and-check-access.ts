import type { User as UserBody } from '@mandate/contract';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { canUseScope, requireAnyScope } from '../http/middleware/authorize-by-scope.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { userFromEntity } from './user-from-entity.ts';
import { User } from './user.entity.ts';

/** Returns a user. With `users.read`, only the principal's own account is found; with `users.manage`, any account is found. */
export async function findUserOrThrow(em: EntityManager, principal: Principal, id: number): Promise<UserBody> {
  const ownId = canUseScope(principal, 'users.read') ? principal.user?.id : undefined;
  // The query checks the permission, so that accounts that the caller may not read are not found.
  const readable = canUseScope(principal, 'users.manage') ? {} : { id: ownId ?? null };
  const user = await em.findOne(User, { $and: [{ id }, readable] }, { disableIdentityMap: true });
  if (!user) throw userNotFound(id);
  return userFromEntity(user);
}

/** Returns the user on whose behalf the token acts. */
export const findCurrentUserOrThrow = async (em: EntityManager, id: number): Promise<UserBody> =>
  userFromEntity(await em.findOneOrFail(User, { id }, { disableIdentityMap: true }));

/** Returns a user whom the principal may change, locked until the transaction ends. */
export async function findUserForUpdateOrThrow(em: EntityManager, principal: Principal, id: number): Promise<User> {
  const isPermitted = canUseScope(principal, 'users.manage') || canUseScope(principal, 'users.administer') || principal.user?.id === id;
  const user = isPermitted ? await em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (!user) throw userNotFound(id);
  return user;
}

/**
 * Verifies that the principal may see the sessions, connected applications and API keys of another user. For the accounts of staff and
 * administrators, this requires an administrator with `users.administer`.
 * @throws {Problem} `not_found`, `forbidden` or `insufficient_scope`
 */
export async function assertSessionsAppsAndKeysReadable(em: EntityManager, principal: Principal, id: number): Promise<void> {
  const user = await em.findOne(User, { id }, { fields: ['role'], disableIdentityMap: true });
  if (!user) throw userNotFound(id);
  if (user.role === 'customer') requireAnyScope(principal, 'users.manage', 'users.administer');
  else requireAnyScope(principal, 'users.administer');
}

const userNotFound = (id: number): Problem => createProblem('not_found', { detail: translatable`User ${{ id }} was not found.` });
