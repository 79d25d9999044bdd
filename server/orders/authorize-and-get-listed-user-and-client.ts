import type { Scope } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';

/** Specifies which orders a list can contain. Both properties are required, so that no list can omit a restriction. */
export type ListedUserAndClient = {
  /** The user whose orders are listed; `undefined` means all users. */
  readonly userId: number | undefined;
  /** The client that placed the listed orders; `undefined` means any client. */
  readonly requiredClientId: string | undefined;
};

/**
 * Returns the filter for the orders that a list can contain. If the caller has the staff scope, these are the orders of the requested user
 * or of all users; otherwise, they are the caller's own orders. If the user allows the application to access only the orders that it
 * placed, the list contains no other orders.
 * @throws Problem `forbidden` if a caller without the staff scope requests another user's orders
 */
export const authorizeAndGetListedUserAndClient = (
  principal: Principal,
  requestedUserId: number | undefined,
  staffScope: Scope = 'orders.manage',
): ListedUserAndClient => ({
  userId: resolveListedUser(principal, requestedUserId, staffScope),
  requiredClientId: getClientIdIfRestrictedToOwnOrders(principal),
});

function resolveListedUser(principal: Principal, requestedUserId: number | undefined, staffScope: Scope): number | undefined {
  if (canUseScope(principal, staffScope)) return requestedUserId;
  const ownId = principal.user?.id;
  if (ownId === undefined)
    throw createProblem('forbidden', {
      detail: translatable`This token does not act on behalf of a user and lacks the \`${{ scope: staffScope }}\` scope, which is required to see the orders of other users.`,
    });
  if (requestedUserId !== undefined && requestedUserId !== ownId)
    throw createProblem('forbidden', {
      detail: translatable`Access to the orders of other users requires the \`${{ scope: staffScope }}\` scope and a staff account.`,
    });
  return ownId;
}
