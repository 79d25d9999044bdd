import type { Scope } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { Order } from './order-and-order-item.entity.ts';

/**
 * Returns the filter for the orders that the principal may access. A principal that may use `scopeForAllOrders` can access all orders; any
 * other principal can access only the orders of its user. If the user allows the application to access only the orders that it placed, the
 * filter excludes all other orders.
 */
export function buildAccessibleOrdersFilter(principal: Principal, scopeForAllOrders: Scope): { user?: number; clientId?: string } {
  const clientId = getClientIdIfRestrictedToOwnOrders(principal);
  return {
    ...(!canUseScope(principal, scopeForAllOrders) && { user: principal.user?.id ?? 0 }),
    ...(clientId !== undefined && { clientId }),
  };
}

/** @throws {Problem} `not_found` when the order does not exist or the principal may not access it */
export async function assertOrderAccessible(em: EntityManager, principal: Principal, id: number, scopeForAllOrders: Scope): Promise<void> {
  const count = await em.count(Order, { id, ...buildAccessibleOrdersFilter(principal, scopeForAllOrders) });
  if (count === 0) throw createProblem('not_found', { detail: translatable`Order ${{ id }} was not found.` });
}

/** Returns the filter for an order's payments, refunds or shipments that follow `position` in a list sorted from newest to oldest. */
export const buildOrderSubresourcePageFilter = (
  orderId: number,
  position: KeysetPosition | undefined,
): { order: number; id?: { $lt: number } } => ({
  order: orderId,
  ...(position && { id: { $lt: position[1] } }),
});
