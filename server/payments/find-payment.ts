import type { Scope } from '@mandate/contract';
import type { Em } from '../database/database.ts';
import { may } from '../http/middleware/authorize.ts';
import type { Position } from '../http/response/pagination.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem.ts';
import { Order } from '../orders/order.entity.ts';
import { Payment } from './payment.entity.ts';

/** Somebody else's is not found: the owner is part of the question, never a check afterwards. */
export async function findPayment(em: Em, principal: Principal, id: number): Promise<Payment> {
  const payment = await em.findOne(Payment, { id, order: ownOrders(principal, 'payments.manage') }, { refresh: true });
  if (!payment) throw problem('not_found', { detail: `Payment ${id} was not found.` });
  return payment;
}

/** What a principal's orders are; all of them for staff with this scope. */
export const ownOrders = (principal: Principal, everybodysScope: Scope): { user?: number } =>
  may(principal, everybodysScope) ? {} : { user: principal.user?.id ?? 0 };

/** That there is such an order, for what belongs to it. */
export async function requireOrder(em: Em, principal: Principal, id: number, everybodysScope: Scope): Promise<void> {
  const count = await em.count(Order, { id, ...ownOrders(principal, everybodysScope) });
  if (count === 0) throw problem('not_found', { detail: `Order ${id} was not found.` });
}

/** Up to `limit + 1` payments of an order, newest first. */
export const listPayments = (em: Em, orderId: number, position: Position | undefined, limit: number): Promise<Payment[]> =>
  em.find(Payment, before(orderId, position), { orderBy: { id: 'desc' }, limit: limit + 1, refresh: true });

/** What belongs to an order, from where the page before ended. */
export const before = (orderId: number, position: Position | undefined): { order: number; id?: { $lt: number } } => ({
  order: orderId,
  ...(position && { id: { $lt: position[1] } }),
});
