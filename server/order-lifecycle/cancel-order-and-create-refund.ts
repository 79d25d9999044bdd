import { LockMode } from '@mikro-orm/core';
import type { Order as OrderBody, OrderCancellation } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { formatPrincipalKey, type Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { openPaymentStatuses, Payment } from '../payments/payment.entity.ts';
import { createPendingRefundAndRestock, calculateRefundableAmount } from '../refunds/create-pending-refund-and-restock.ts';
import { findOrderWithoutPermissionCheck } from '../orders/find-order.ts';
import type { Order } from '../orders/order-and-order-item.entity.ts';
import { returnAllItemsOfOrdersToStock } from '../orders/return-order-items-to-stock.ts';
import { lockAccessibleOrder } from '../orders/lock-accessible-order.ts';
import { Shipment } from '../shipments/shipment.entity.ts';

type CancellationResult = { readonly order: OrderBody; readonly refundId: number | undefined };

/**
 * Cancels an order, puts its goods back into stock and creates a refund of the paid amount. The provider is called after the transaction.
 * The caller must have canceled any open payment at its provider, so that customers cannot pay for released goods.
 */
export async function cancelOrderAndCreateRefund(
  em: EntityManager,
  principal: Principal,
  id: number,
  input: OrderCancellation,
  now: Date,
): Promise<CancellationResult> {
  const order = await lockAccessibleOrder(em, principal, id);
  const own = order.user.id === principal.user?.id;
  const { reason = own ? 'customer' : 'staff', note } = input;
  if (reason !== 'customer' && !canUseScope(principal, 'orders.manage'))
    throw createProblem('forbidden', { detail: 'A reason other than `customer` requires the `orders.manage` scope and a staff account.' });
  order.cancel(reason, now);
  const unfinished = await findUnfinishedPart(em, id);
  if (unfinished)
    throw createProblem('invalid_transition', { detail: translatable`A ${{ kind: unfinished }} for the order is in progress.` });
  if (note !== undefined) order.note = note;
  await em.flush();
  const refundId = await createFullRefund(em, order, formatPrincipalKey(principal), now);
  await returnAllItemsOfOrdersToStock(em, [id]);
  const body = await findOrderWithoutPermissionCheck(em, id);
  await recordEvent(em, 'order.canceled', body, order.user.id);
  return { order: body, refundId };
}

async function findUnfinishedPart(em: EntityManager, orderId: number): Promise<'payment' | 'shipment' | undefined> {
  if ((await em.count(Payment, { order: orderId, status: { $in: openPaymentStatuses } })) > 0) return 'payment';
  return (await em.count(Shipment, { order: orderId, status: 'pending' })) > 0 ? 'shipment' : undefined;
}

async function createFullRefund(em: EntityManager, order: Order, actor: string, now: Date): Promise<number | undefined> {
  const where = { order, status: 'succeeded', surplus: false } as const;
  const payment = await em.findOne(Payment, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  const amount = payment ? await calculateRefundableAmount(em, payment) : 0;
  if (!payment || amount === 0) return undefined;
  return (await createPendingRefundAndRestock(em, order, payment, { amount, reason: 'order_canceled', actor }, now)).id;
}
