import type { Scope } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';

/**
 * Returns the user whose orders may be listed: the caller or, with the staff scope, the requested user. `undefined` means all users.
 * @throws Problem `forbidden` if a caller without the staff scope requests another user's orders
 */
export function resolveUserWhoseOrdersAreListed(
  principal: Principal,
  requestedUserId: number | undefined,
  staffScope: Scope = 'orders.manage',
): number | undefined {
  if (canUseScope(principal, staffScope)) return requestedUserId;
  const ownId = principal.user?.id;
  if (ownId === undefined)
    throw createProblem('forbidden', {
      detail: `This token does not act on behalf of a user and lacks the \`${staffScope}\` scope to see the orders of other users.`,
    });
  if (requestedUserId !== undefined && requestedUserId !== ownId)
    throw createProblem('forbidden', { detail: `Orders of other users require the \`${staffScope}\` scope and a staff account.` });
  return ownId;
}
