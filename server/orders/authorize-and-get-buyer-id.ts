import type { OrderInput } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';

/**
 * Returns the ID of the customer for whom an order or a quote is requested.
 * @throws {Problem} `forbidden` if the principal may not order for this customer or may not apply a discount
 */
export function authorizeAndGetBuyerId(
  principal: Principal,
  { user_id: userId, discount_total: discount }: Pick<OrderInput, 'user_id' | 'discount_total'>,
): number {
  const own = principal.user?.id;
  if (discount !== undefined && !canUseScope(principal, 'orders.manage')) {
    throw createProblem('forbidden', { detail: 'Applying a discount requires the `orders.manage` scope and a staff account.' });
  }
  if (userId === undefined && own !== undefined) return own;
  if (!canUseScope(principal, 'orders.manage') && (userId !== own || userId === undefined)) {
    throw createProblem('forbidden', {
      detail: 'Placing an order for another user requires the `orders.manage` scope and a staff account.',
    });
  }
  if (userId !== undefined) return userId;
  throw createInvalidRequestProblem({
    in: 'body',
    pointer: '#/user_id',
    code: 'required',
    detail: 'This token does not act on behalf of a user: send the `user_id` of the customer.',
  });
}
