import type { PaymentCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { readDatabaseTime } from '../database/time/read-database-time.sql.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { Order } from '../orders/order-and-order-item.entity.ts';
import { lockAccessibleOrder } from '../orders/lock-accessible-order.ts';
import { paymentWithoutProviderDetailsFromEntity } from '../payments/payment-from-entity.ts';
import { isOpenPaymentStatus, Payment } from '../payments/payment.entity.ts';
import {
  undefinedIfProviderUnavailable,
  type PaymentProvider,
  type PaymentProviders,
  requirePaymentProvider,
} from '../payments/providers/payment-provider.ts';
import { enforceLimitsAndCountPaymentTowardBudget } from './enforce-limits-and-count-payment-toward-budget.ts';
import { applyPaymentOutcomeInNewTransaction } from './apply-payment-outcome.ts';

const longReservationMs = 7 * 24 * 60 * 60_000;
/** Delay, in milliseconds, before the server first checks whether the provider call succeeded. */
const firstCheckMs = 30_000;

/** Creates a pending payment for an order. The provider is called after the transaction, so that no lock is held during the call. */
export async function checkLimitsAndCreatePendingPayment(
  em: EntityManager,
  providers: PaymentProviders,
  principal: Principal,
  orderId: number,
  input: PaymentCreate,
): Promise<Payment> {
  const provider = providers.get(input.provider);
  if (!provider) throw unknownProvider(providers);
  assertTokenKnown(provider, input.method_token);
  const order = await lockAccessibleOrder(em, principal, orderId, 'payments.manage');
  const earlier = await em.find(Payment, { order: orderId }, { fields: ['status'], disableIdentityMap: true });
  const open = earlier.some(({ status }) => isOpenPaymentStatus(status));
  const now = await readDatabaseTime(em); // the database clock is used, because it also set the expiry of the reservation
  assertPayable(order, open, now);
  await enforceLimitsAndCountPaymentTowardBudget(em, principal, order, now);
  if (provider.reservation === 'long') order.extendReservation(new Date(order.createdAt.getTime() + longReservationMs));
  const { method_token: methodToken, return_url: returnUrl } = input;
  const payment = em.create(Payment, {
    order,
    attempt: earlier.length + 1,
    provider: provider.name,
    status: 'pending',
    amount: order.total,
    currency: order.currency,
    request: { ...(methodToken !== undefined && { methodToken }), ...(returnUrl !== undefined && { returnUrl }) },
    nextCheckAt: new Date(now.getTime() + firstCheckMs),
  });
  await em.flush();
  await recordEvent(em, 'payment.created', paymentWithoutProviderDetailsFromEntity(payment), order.user.id);
  return payment;
}

/**
 * Submits a payment to its provider and stores the outcome. If the provider is unavailable, the payment stays pending and is retried later.
 */
export async function submitPaymentToProvider(em: EntityManager, providers: PaymentProviders, id: number, now: Date): Promise<void> {
  const payment = await em.fork().findOneOrFail(Payment, { id }, { populate: ['order.user'] });
  const order = payment.order.unwrap();
  const customer = order.user.unwrap();
  const outcome = await undefinedIfProviderUnavailable(
    requirePaymentProvider(providers, payment.provider).create({
      ...payment.request,
      orderId: order.id,
      attempt: payment.attempt,
      amount: payment.amount,
      currency: payment.currency,
      customer: { id: customer.id, email: customer.email },
      idempotencyKey: payment.providerKey,
    }),
  );
  if (outcome) await applyPaymentOutcomeInNewTransaction(em, providers, payment, outcome, now);
}

function assertPayable(order: Order, open: boolean, now: Date): void {
  if (order.paymentStatus !== 'unpaid') throw createProblem('already_paid', { detail: 'Nothing is left to pay.' });
  if (open)
    throw createProblem('payment_in_progress', { detail: 'Wait until the payment in progress is completed, or cancel the payment.' });
  if (order.status !== 'pending')
    throw createProblem('invalid_transition', {
      detail: translatable`The order is ${{ status: order.status }}, so it cannot be paid for.`,
    });
  if (order.expiresAt && order.expiresAt <= now) {
    throw createProblem('invalid_transition', { detail: 'The stock reservation has expired. Place the order again.' });
  }
}

function assertTokenKnown({ name, methodTokens }: PaymentProvider, token: string | undefined): void {
  if (token === undefined || !methodTokens || methodTokens.includes(token)) return;
  throw createInvalidRequestProblem({
    in: 'body',
    pointer: '#/method_token',
    code: 'invalid_value',
    detail: translatable`The ${{ name }} provider does not support the token ${{ token }}. Supported tokens: ${{ tokens: methodTokens.join(', ') }}.`,
    allowed: [...methodTokens],
  });
}

const unknownProvider = (providers: PaymentProviders) =>
  createInvalidRequestProblem({
    in: 'body',
    pointer: '#/provider',
    code: 'invalid_value',
    detail: 'This shop does not use this payment provider.',
    allowed: [...providers.keys()],
  });
