import type { Scope } from '@mandate/contract';
import type { Em } from '../database/database.ts';
import { may } from '../http/middleware/authorize.ts';
import type { Position } from '../http/response/pagination.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem.ts';
import { Order } from '../orders/order.entity.ts';
import { Payment } from './payment.entity.ts';

/** Returns a payment of an order that the principal may read. The owner is part of the query, so that other payments are not found. */
export async function findPayment(em: Em, principal: Principal, id: number): Promise<Payment> {
  const payment = await em.findOne(Payment, { id, order: ownOrders(principal, 'payments.manage') }, { refresh: true });
  if (!payment) throw problem('not_found', { detail: `Payment ${id} was not found.` });
  return payment;
}

/** Returns the condition for the orders that the principal may access: all orders with the staff scope, otherwise the principal's. */
export const ownOrders = (principal: Principal, staffScope: Scope): { user?: number } =>
  may(principal, staffScope) ? {} : { user: principal.user?.id ?? 0 };

/** Verifies that the order exists and that the principal may access it. */
export async function requireOrder(em: Em, principal: Principal, id: number, staffScope: Scope): Promise<void> {
  const count = await em.count(Order, { id, ...ownOrders(principal, staffScope) });
  if (count === 0) throw problem('not_found', { detail: `Order ${id} was not found.` });
}

/** Returns the payments of an order, newest first; `limit + 1` rows mean that there is a next page. */
export const listPayments = (em: Em, orderId: number, position: Position | undefined, limit: number): Promise<Payment[]> =>
  em.find(Payment, before(orderId, position), { orderBy: { id: 'desc' }, limit: limit + 1, refresh: true });

/** Returns the condition for rows of an order after the given cursor position, sorted by descending id. */
export const before = (orderId: number, position: Position | undefined): { order: number; id?: { $lt: number } } => ({
  order: orderId,
  ...(position && { id: { $lt: position[1] } }),
});
