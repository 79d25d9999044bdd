import type { Order } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { orderFromRow } from './order-from-row.ts';
import { queryAccessibleOrderRow } from './query-accessible-order-row.sql.ts';

/** Returns an order with its lines, if the principal may read it. */
export async function findOrder(em: EntityManager, principal: Principal, id: number): Promise<Order> {
  const requiredClientId = getClientIdIfRestrictedToOwnOrders(principal) ?? null;
  const row = await queryAccessibleOrderRow(em, [
    id,
    principal.user?.id ?? null,
    canUseScope(principal, 'orders.manage'),
    requiredClientId,
  ]);
  if (!row) throw createProblem('not_found', { detail: translatable`Order ${{ id }} was not found.` });
  return orderFromRow(row, row.items);
}

/** Returns an order with its lines without checking permissions, for events and for responses to authorized changes. */
export async function findOrderWithoutPermissionCheck(em: EntityManager, id: number): Promise<Order> {
  const row = await queryAccessibleOrderRow(em, [id, null, true, null]);
  if (!row) throw new Error(`order ${id} does not exist`);
  return orderFromRow(row, row.items);
}
