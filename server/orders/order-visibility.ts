import type { Scope } from '@mandate/contract';
import { may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';

/**
 * Returns the user whose orders may be listed: the caller or, with the staff scope, the requested user. `undefined` means all users.
 * @throws Problem `forbidden` if a caller without the staff scope requests orders of another user
 */
export function whoseOrders(
  principal: Principal,
  requestedUserId: number | undefined,
  staffScope: Scope = 'orders.manage',
): number | undefined {
  if (may(principal, staffScope)) return requestedUserId;
  const ownId = principal.user?.id;
  if (ownId === undefined)
    throw problem('forbidden', {
      detail: `This token does not act for a user and lacks the \`${staffScope}\` scope to see the orders of other users.`,
    });
  if (requestedUserId !== undefined && requestedUserId !== ownId)
    throw problem('forbidden', { detail: `Orders of other users require the \`${staffScope}\` scope and a staff account.` });
  return ownId;
}
