import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Payment } from '../payments/payment.entity.ts';
import { undefinedIfProviderUnavailable, type PaymentProviders, requirePaymentProvider } from '../payments/providers/payment-provider.ts';
import { applyPaymentOutcomeInNewTransaction } from './apply-payment-outcome.ts';

// A payment that is processing cannot be canceled. A payment without a reference is still being created at its provider.
const cancelable = { status: { $in: ['pending', 'requires_action'] }, providerReference: { $ne: null } } as const;

/**
 * Cancels a payment at its provider and stores the outcome. Returns false if the payment cannot be canceled. Must not run in a transaction.
 */
export const cancelPaymentAtProvider = async (em: EntityManager, providers: PaymentProviders, id: number, now: Date): Promise<boolean> =>
  cancelAll(em, providers, await em.find(Payment, { ...cancelable, id }, { disableIdentityMap: true }), now);

/** Like `cancelPaymentAtProvider`, but for the open payment of an order. */
export const cancelOrderPaymentAtProvider = async (
  em: EntityManager,
  providers: PaymentProviders,
  orderId: number,
  now: Date,
): Promise<boolean> =>
  cancelAll(em, providers, await em.find(Payment, { ...cancelable, order: orderId }, { disableIdentityMap: true }), now);

/**
 * Marks an order's open payment as canceled without calling its provider. Only dry runs, whose transactions are rolled back, may use this
 * function.
 */
export const cancelPaymentInDryRun = (em: EntityManager, orderId: number): Promise<number> =>
  em.nativeUpdate(Payment, { ...cancelable, order: orderId }, { status: 'canceled' });

/** Like `cancelPaymentAtProvider`, but for the open payments of up to `limit` orders whose reservation has expired. */
export async function cancelPaymentsOfExpiredOrders(
  em: EntityManager,
  providers: PaymentProviders,
  now: Date,
  limit: number,
): Promise<boolean> {
  const ofExpiredOrder = { ...cancelable, order: { status: 'pending', expiresAt: { $lte: now } } } as const;
  const payments = await em.find(Payment, ofExpiredOrder, { orderBy: { order: { expiresAt: 'asc' } }, limit, disableIdentityMap: true });
  return cancelAll(em, providers, payments, now);
}

/** Attempts to cancel all given payments, even if some cancellations fail, and then throws the errors. */
async function cancelAll(em: EntityManager, providers: PaymentProviders, payments: readonly Payment[], now: Date): Promise<boolean> {
  const errors: unknown[] = [];
  for (const payment of payments) await cancelOne(em, providers, payment, now).catch((error: unknown) => errors.push(error));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} payments could not be canceled`);
  return payments.length > 0;
}

async function cancelOne(em: EntityManager, providers: PaymentProviders, payment: Payment, now: Date): Promise<void> {
  const { provider, providerReference: reference, providerKey: key } = payment;
  if (reference == null) return;
  const outcome = await undefinedIfProviderUnavailable(requirePaymentProvider(providers, provider).cancel(reference, `${key}-cancel`));
  if (outcome) await applyPaymentOutcomeInNewTransaction(em, providers, payment, outcome, now);
}
