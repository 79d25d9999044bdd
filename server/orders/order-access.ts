import type { Scope } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { may } from '../http/middleware/authorize.ts';
import { problem } from '../http/problem-details/problem.ts';
import type { Principal } from '../http/request/principal.ts';
import type { Position } from '../http/response/pagination.ts';
import { Order } from './order.entity.ts';

/** Returns the filter for the orders that the principal may access: its own, or all orders when it may use `scopeForAllOrders`. */
export const ownOrders = (principal: Principal, scopeForAllOrders: Scope): { user?: number } =>
  may(principal, scopeForAllOrders) ? {} : { user: principal.user?.id ?? 0 };

/** @throws {Problem} `not_found` when the order does not exist or the principal may not access it */
export async function requireOrder(em: Em, principal: Principal, id: number, scopeForAllOrders: Scope): Promise<void> {
  const count = await em.count(Order, { id, ...ownOrders(principal, scopeForAllOrders) });
  if (count === 0) throw problem('not_found', { detail: `Order ${id} was not found.` });
}

/** Returns the filter for resources of an order that follow `position` in a list with the newest first. */
export const belowPosition = (orderId: number, position: Position | undefined): { order: number; id?: { $lt: number } } => ({
  order: orderId,
  ...(position && { id: { $lt: position[1] } }),
});
