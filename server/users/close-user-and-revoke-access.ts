import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import type { RevokeAccess } from '../http/routing/handler-dependencies.ts';
import { assertOtherAdministratorRemains } from './assert-other-administrator-remains.ts';
import { hasOpenOrders } from './has-open-orders.ts';
import { userFromEntity } from './user-from-entity.ts';
import { eraseImportedUserData } from './imported-user.entity.ts';
import type { User } from './user.entity.ts';

/** Closes an account permanently. The caller must have locked the administrators and then the user, in the same transaction. */
export async function closeUserAndRevokeAccess(em: EntityManager, endAccess: RevokeAccess, user: User): Promise<void> {
  await assertOtherAdministratorRemains(em, user);
  await assertNoOpenOrders(em, user.id);
  user.close();
  await em.flush();
  await eraseImportedUserData(em, user.id);
  await endAccess(em, user.id, 'closed');
  await recordEvent(em, 'user.closed', userFromEntity(user), user.id);
}

async function assertNoOpenOrders(em: EntityManager, userId: number): Promise<void> {
  if (await hasOpenOrders(em, userId))
    throw createProblem('open_orders', { detail: 'The user has orders that are neither delivered nor canceled.' });
}
