import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { findOrderWithoutPermissionCheck } from '../orders/find-order.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { Payment } from '../payments/payment.entity.ts';
import {
  undefinedIfProviderUnavailable,
  type PaymentProviders,
  type RefundStateAtProvider,
  requirePaymentProvider,
} from '../payments/providers/payment-provider.ts';
import { refundFromEntity } from './refund-from-entity.ts';
import { Refund } from './refund.entity.ts';

/** Submits a refund, or polls the provider if the refund was already submitted, and stores the outcome. Must not run in a transaction. */
export async function submitOrPollRefund(em: EntityManager, providers: PaymentProviders, id: number): Promise<void> {
  const refund = await em.fork().findOneOrFail(Refund, { id }, { populate: ['payment'] });
  const payment = refund.payment.unwrap();
  if (refund.status !== 'pending') return;
  const provider = requirePaymentProvider(providers, payment.provider);
  const request = {
    refundId: refund.id,
    amount: refund.amount,
    currency: refund.currency,
    reason: refund.reason,
    idempotencyKey: refund.providerKey,
  };
  const response = refund.providerReference
    ? provider.retrieveRefund(refund.providerReference)
    : provider.refund(payment.providerReference ?? '', request);
  const outcome = await undefinedIfProviderUnavailable(response);
  if (outcome) await applyRefundOutcomeInNewTransaction(em, providers, id, outcome);
}

/** Applies the outcome that the provider reports for a refund, in a separate transaction. */
export const applyRefundOutcomeInNewTransaction = (
  em: EntityManager,
  providers: PaymentProviders,
  id: number,
  outcome: RefundStateAtProvider,
): Promise<void> =>
  em.fork().transactional(async (inner) => {
    const refund = await applyRefundOutcomeInTransaction(inner, id, outcome);
    if (!requirePaymentProvider(providers, refund.payment.unwrap().provider).isPolled) refund.nextCheckAt = null;
  });

/** Applies a refund's outcome within a transaction. */
export async function applyRefundOutcomeInTransaction(em: EntityManager, id: number, outcome: RefundStateAtProvider): Promise<Refund> {
  const { order, payment, refund } = await lockRefund(em, id);
  if (!refund.applyOutcome(outcome)) {
    await em.flush();
    return refund;
  }
  if (refund.status === 'succeeded') {
    payment.refundedTotal += refund.amount;
    if (!payment.surplus) order.markRefunded(payment.refundedTotal);
  }
  await em.flush();
  await recordEvent(em, refund.status === 'succeeded' ? 'refund.succeeded' : 'refund.failed', refundFromEntity(refund), order.user.id);
  if (refund.status === 'succeeded' && !payment.surplus) {
    await recordEvent(em, 'order.refunded', await findOrderWithoutPermissionCheck(em, order.id), order.user.id);
  }
  return refund;
}

/** Locks the order, the payment and then the refund. All code acquires these locks in the same sequence. */
async function lockRefund(em: EntityManager, id: number): Promise<{ order: Order; payment: Payment; refund: Refund }> {
  const parents = await em.findOneOrFail(Refund, { id }, { disableIdentityMap: true });
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const order = await em.findOneOrFail(Order, { id: parents.order.id }, locked);
  const payment = await em.findOneOrFail(Payment, { id: parents.payment.id }, locked);
  return { order, payment, refund: await em.findOneOrFail(Refund, { id }, locked) };
}
