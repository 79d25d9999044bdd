import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { buildOrderSubresourcePageFilter, buildAccessibleOrdersFilter } from '../orders/check-order-access-and-build-filters.ts';
import { Payment } from './payment.entity.ts';

/** Returns a payment, if the principal may read its order. The query checks the permission, so that inaccessible payments are not found. */
export async function findPaymentOrThrow(em: EntityManager, principal: Principal, id: number): Promise<Payment> {
  const payment = await em.findOne(Payment, { id, order: buildAccessibleOrdersFilter(principal, 'payments.manage') }, { refresh: true });
  if (!payment) throw createProblem('not_found', { detail: translatable`Payment ${{ id }} was not found.` });
  return payment;
}

/** Returns an order's payments, newest first; `limit + 1` rows indicate a next page. */
export const listPaymentsOfOrder = (
  em: EntityManager,
  orderId: number,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<Payment[]> =>
  em.find(Payment, buildOrderSubresourcePageFilter(orderId, position), { orderBy: { id: 'desc' }, limit: limit + 1, refresh: true });
