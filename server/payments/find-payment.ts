import type { Em } from '../database/entity-manager/entity-manager.ts';
import type { Position } from '../http/response/pagination.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { belowPosition, ownOrders } from '../orders/order-access.ts';
import { Payment } from './payment.entity.ts';

/** Returns a payment of an order that the principal may read. The owner is part of the query, so that other payments are not found. */
export async function findPayment(em: Em, principal: Principal, id: number): Promise<Payment> {
  const payment = await em.findOne(Payment, { id, order: ownOrders(principal, 'payments.manage') }, { refresh: true });
  if (!payment) throw problem('not_found', { detail: `Payment ${id} was not found.` });
  return payment;
}

/** Returns the payments of an order, newest first; `limit + 1` rows mean that there is a next page. */
export const listPayments = (em: Em, orderId: number, position: Position | undefined, limit: number): Promise<Payment[]> =>
  em.find(Payment, belowPosition(orderId, position), { orderBy: { id: 'desc' }, limit: limit + 1, refresh: true });
