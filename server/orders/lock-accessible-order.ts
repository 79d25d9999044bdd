import { LockMode } from '@mikro-orm/core';
import type { Scope } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { buildAccessibleOrdersFilter } from './check-order-access-and-build-filters.ts';
import { Order } from './order-and-order-item.entity.ts';

/**
 * Reads an order and locks its row until the transaction ends.
 * @throws {Problem} `not_found` when the order does not exist or the principal may not change it
 */
export async function lockAccessibleOrder(
  em: EntityManager,
  principal: Principal,
  id: number,
  scopeForAllOrders: Scope = 'orders.manage',
): Promise<Order> {
  const where = { id, ...buildAccessibleOrdersFilter(principal, scopeForAllOrders) };
  const order = await em.findOne(Order, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!order) throw createProblem('not_found', { detail: translatable`Order ${{ id }} was not found.` });
  return order;
}
