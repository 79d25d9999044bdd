import { LockMode, sql } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { calculateNextPaymentOrRefundPollTime } from '../payments/calculate-next-payment-or-refund-poll-time.ts';
import { openPaymentStatuses, Payment } from '../payments/payment.entity.ts';
import { cancelPaymentAtProvider } from './cancel-payment-at-provider.ts';
import { undefinedIfProviderUnavailable, type PaymentProviders, requirePaymentProvider } from '../payments/providers/payment-provider.ts';
import { applyPaymentOutcomeInNewTransaction } from './apply-payment-outcome.ts';
import { submitPaymentToProvider } from './create-and-submit-payment.ts';

/**
 * Polls the providers for payments that are still open, for example because the process was killed while creating a payment, or because a
 * provider event was lost. Returns the number of checked payments.
 */
export async function submitPollOrCancelDuePayments(em: EntityManager, providers: PaymentProviders, now: Date): Promise<number> {
  let checked = 0;
  for (let due = await claimDuePayment(em, now); due; due = await claimDuePayment(em, now)) {
    await checkPayment(em, providers, due, now);
    checked += 1;
  }
  return checked;
}

type DuePayment = { readonly payment: Payment; readonly isGivenUp: boolean };

/** Claims a payment that is due for a check, and schedules its next check. Payments that another process is checking are skipped. */
const claimDuePayment = (em: EntityManager, now: Date): Promise<DuePayment | undefined> =>
  em.fork().transactional(async (inner) => {
    const isDue = { status: { $in: openPaymentStatuses }, nextCheckAt: { $lte: now } };
    const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, disableIdentityMap: true } as const;
    const [payment] = await inner.find(Payment, isDue, { orderBy: { nextCheckAt: 'asc' }, limit: 1, ...skipLocked });
    if (!payment) return undefined;
    // The time of the next check is not part of the API representation, so updating it does not change the version.
    const values = { nextCheckAt: calculateNextPaymentOrRefundPollTime(payment.createdAt, now), version: sql`version` };
    await inner.nativeUpdate(Payment, { id: payment.id }, values);
    const order = await inner.findOneOrFail(Order, { id: payment.order.id }, { disableIdentityMap: true });
    const isOrderOpen = order.status === 'pending' && !(order.expiresAt && order.expiresAt <= now);
    return { payment, isGivenUp: payment.status !== 'processing' && !isOrderOpen };
  });

async function checkPayment(em: EntityManager, providers: PaymentProviders, due: DuePayment, now: Date): Promise<void> {
  const { id, provider, providerReference: reference } = due.payment;
  if (reference == null) return submitPaymentToProvider(em, providers, id, now);
  if (due.isGivenUp) return void (await cancelPaymentAtProvider(em, providers, id, now));
  const outcome = await undefinedIfProviderUnavailable(requirePaymentProvider(providers, provider).retrieve(reference));
  if (outcome) await applyPaymentOutcomeInNewTransaction(em, providers, due.payment, outcome, now);
}
