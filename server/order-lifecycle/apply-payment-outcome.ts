import { LockMode, sql } from '@mikro-orm/core';
import type { EventType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvents } from '../events/record-event.ts';
import { findOrderWithoutPermissionCheck } from '../orders/find-order.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { submitOrPollRefund } from '../refunds/submit-or-poll-refund.ts';
import { createPendingRefundAndRestock } from '../refunds/create-pending-refund-and-restock.ts';
import { paymentWithoutProviderDetailsFromEntity } from '../payments/payment-from-entity.ts';
import { isOpenPaymentStatus, openPaymentStatuses, Payment } from '../payments/payment.entity.ts';
import {
  type PaymentProvider,
  type PaymentProviders,
  type PaymentStateAtProvider,
  requirePaymentProvider,
} from '../payments/providers/payment-provider.ts';

/** Maximum time, in milliseconds, for which an order's goods stay reserved after its bank transfer has failed or been canceled. */
const shortReservationMs = 30 * 60_000;

/** The provider received a different amount or currency than requested. Staff must resolve the mismatch. */
export class PaymentAmountMismatchError extends Error {
  override readonly name = 'PaymentAmountMismatchError';
}

const eventTypes: Partial<Record<Payment['status'], EventType>> = {
  requires_action: 'payment.requires_action',
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  canceled: 'payment.canceled',
};

type PaymentAndOrderIds = { readonly id: number; readonly order: { readonly id: number } };

/**
 * Applies the outcome that the provider reports for a payment, in a separate transaction. If the order no longer needs the payment, this
 * function then submits a refund.
 */
export async function applyPaymentOutcomeInNewTransaction(
  em: EntityManager,
  providers: PaymentProviders,
  ids: PaymentAndOrderIds,
  outcome: PaymentStateAtProvider,
  now: Date,
): Promise<void> {
  const refundId = await em.fork().transactional((inner) => applyPaymentOutcomeInTransaction(inner, providers, ids, outcome, now));
  if (refundId !== undefined) await submitOrPollRefund(em, providers, refundId);
}

/** Applies a payment's outcome within a transaction. Returns the ID of the refund to submit after the commit, if any. */
export async function applyPaymentOutcomeInTransaction(
  em: EntityManager,
  providers: PaymentProviders,
  ids: PaymentAndOrderIds,
  outcome: PaymentStateAtProvider,
  now: Date,
): Promise<number | undefined> {
  const { order, payment, hasOtherOpenPayments } = await lockOrderAndPayments(em, ids);
  const provider = requirePaymentProvider(providers, payment.provider);
  assertAmountMatches(payment, outcome);
  const changed = payment.applyOutcome(outcome, now);
  if (!provider.isPolled) payment.nextCheckAt = null;
  if (changed && payment.status === 'succeeded') markOrderPaid(order, payment, now);
  if (changed) shortenReservation(order, payment, provider, now);
  await em.flush();
  if (!changed) return undefined;
  const paysOrder = payment.status === 'succeeded' && !payment.surplus && order.status === 'paid';
  await recordPaymentEvents(em, order, payment, paysOrder);
  if (payment.status !== 'succeeded') return undefined;
  if (hasOtherOpenPayments) await checkOtherOpenPaymentsNow(em, order, payment, now);
  if (paysOrder) return undefined;
  const reason = payment.surplus ? 'duplicate' : 'order_canceled';
  const refund = await createPendingRefundAndRestock(em, order, payment, { amount: payment.amount, reason, actor: 'mandate/' }, now);
  return refund.id;
}

type LockedPayment = { readonly order: Order; readonly payment: Payment; readonly hasOtherOpenPayments: boolean };

/** Locks the order and then its payments. All code acquires these locks in the same sequence. */
async function lockOrderAndPayments(em: EntityManager, { id, order: { id: orderId } }: PaymentAndOrderIds): Promise<LockedPayment> {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const order = await em.findOneOrFail(Order, { id: orderId }, locked);
  const payments = await em.find(Payment, { order: orderId }, { orderBy: { id: 'asc' }, ...locked });
  const payment = payments.find((one) => one.id === id);
  if (!payment) throw new Error(`payment ${id} does not belong to order ${orderId}`);
  return { order, payment, hasOtherOpenPayments: payments.some((one) => one !== payment && isOpenPaymentStatus(one.status)) };
}

async function recordPaymentEvents(em: EntityManager, order: Order, payment: Payment, paysOrder: boolean): Promise<void> {
  const type = eventTypes[payment.status];
  const ofPayment = type ? [{ type, subject: paymentWithoutProviderDetailsFromEntity(payment) }] : [];
  const ofOrder = paysOrder ? [{ type: 'order.paid', subject: await findOrderWithoutPermissionCheck(em, order.id) } as const] : [];
  await recordEvents(em, [...ofPayment, ...ofOrder], order.user.id);
}

/** Schedules an immediate check of the order's other open payments, which cancels them because this payment succeeded. */
async function checkOtherOpenPaymentsNow(em: EntityManager, order: Order, { id }: Payment, now: Date): Promise<void> {
  const others = { order: order.id, id: { $ne: id }, status: { $in: openPaymentStatuses } };
  // The time of the next check is not part of the API representation, so updating it does not change the version.
  const values = { nextCheckAt: now, version: sql`version` };
  await em.nativeUpdate(Payment, others, values);
}

function assertAmountMatches(payment: Payment, { status, amountReceived, currency }: PaymentStateAtProvider): void {
  if (status !== 'succeeded' || (amountReceived === payment.amount && currency === payment.currency)) return;
  throw new PaymentAmountMismatchError(
    `payment ${payment.id} asked for ${payment.amount} ${payment.currency}, and the provider received ${amountReceived} ${currency}`,
  );
}

function markOrderPaid(order: Order, payment: Payment, now: Date): void {
  if (order.paymentStatus !== 'unpaid') payment.surplus = true;
  else if (order.status === 'pending') order.markPaid(now);
  else order.markPaidLate(now);
}

/** After a bank transfer has failed or been canceled, shortens the long reservation that the transfer required. */
function shortenReservation(order: Order, payment: Payment, provider: PaymentProvider, now: Date): void {
  const isOver = payment.status === 'canceled' || payment.status === 'failed';
  if (isOver && provider.reservation === 'long') order.shortenReservation(new Date(now.getTime() + shortReservationMs));
}
