import { LockMode } from '@mikro-orm/core';
import type { EventType } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { orderBody } from '../orders/find-order.ts';
import { Order } from '../orders/order.entity.ts';
import { askForRefund } from '../refunds/submit-refund.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { paymentBody } from '../payments/payment-body.ts';
import { Payment } from '../payments/payment.entity.ts';
import { type PaymentProvider, type PaymentProviders, type ProviderPayment, providerOf } from '../payments/providers/payment-provider.ts';

/** How long an order waits for another payment once one with a long hold is given up. */
const shortHoldMs = 30 * 60_000;

/** What arrived is not what was asked for: somebody has to look. */
export class AmountMismatch extends Error {
  override readonly name = 'AmountMismatch';
}

const orderOfPayment = statement<{ order_id: number }>('order_of_payment', 'select order_id from payments where id = $1');
const askAboutOthers = statement(
  'ask_about_other_payments',
  `update payments set next_check_at = $3 where order_id = $1 and id <> $2 and status in ('pending', 'requires_action', 'processing')`,
);

const events: Partial<Record<Payment['status'], EventType>> = {
  requires_action: 'payment.requires_action',
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  canceled: 'payment.canceled',
};

/** What the provider says of a payment, in a transaction of its own; then, if the money is not wanted any more, it is sent back. */
export async function settlePayment(em: Em, providers: PaymentProviders, id: number, outcome: ProviderPayment, now: Date): Promise<void> {
  const refundId = await em.fork().transactional((inner) => applyOutcome(inner, providers, id, outcome, now));
  if (refundId !== undefined) await askForRefund(em, providers, refundId);
}

/** The same inside a transaction; gives the refund that is to be asked for after it. */
export async function applyOutcome(
  em: Em,
  providers: PaymentProviders,
  id: number,
  outcome: ProviderPayment,
  now: Date,
): Promise<number | undefined> {
  const { order, payment } = await lockPayment(em, id);
  const provider = providerOf(providers, payment.provider);
  refuseOtherAmount(payment, outcome);
  const changed = payment.follow(outcome, now);
  if (!provider.asks) payment.nextCheckAt = null;
  if (changed && payment.status === 'succeeded') receive(order, payment, now);
  if (changed) shortenHold(order, payment, provider, now);
  await em.flush();
  if (!changed) return undefined;
  const type = events[payment.status];
  if (type) await recordEvent(em, type, paymentBody(payment), order.user.id);
  return payment.status === 'succeeded' ? afterSuccess(em, order, payment, now) : undefined;
}

/** The order first, as everywhere. */
async function lockPayment(em: Em, id: number): Promise<{ order: Order; payment: Payment }> {
  const [row] = await orderOfPayment(em, [id]);
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const order = await em.findOneOrFail(Order, { id: row?.order_id ?? 0 }, locked);
  return { order, payment: await em.findOneOrFail(Payment, { id }, locked) };
}

function refuseOtherAmount(payment: Payment, { status, amountReceived, currency }: ProviderPayment): void {
  if (status !== 'succeeded' || (amountReceived === payment.amount && currency === payment.currency)) return;
  throw new AmountMismatch(
    `payment ${payment.id} asked for ${payment.amount} ${payment.currency}, and the provider received ${amountReceived} ${currency}`,
  );
}

function receive(order: Order, payment: Payment, now: Date): void {
  if (order.paymentStatus !== 'unpaid') payment.surplus = true;
  else if (order.status === 'pending') order.markPaid(now);
  else order.markPaidLate(now);
}

/** Goods wait long for a bank transfer, not for the next attempt. */
function shortenHold(order: Order, payment: Payment, provider: PaymentProvider, now: Date): void {
  const givenUp = payment.status === 'canceled' || payment.status === 'failed';
  if (givenUp && provider.hold === 'long') order.holdAtMost(new Date(now.getTime() + shortHoldMs));
}

async function afterSuccess(em: Em, order: Order, payment: Payment, now: Date): Promise<number | undefined> {
  await askAboutOthers(em, [order.id, payment.id, now.toISOString()]);
  if (!payment.surplus && order.status === 'paid') {
    await recordEvent(em, 'order.paid', await orderBody(em, order.id), order.user.id);
    return undefined;
  }
  const reason = payment.surplus ? 'duplicate' : 'order_canceled';
  const refund = await createRefund(em, order, payment, { amount: payment.amount, reason, actor: 'mandate/' }, now);
  return refund.id;
}
