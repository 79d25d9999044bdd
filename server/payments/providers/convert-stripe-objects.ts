import type Stripe from 'stripe';
import type { ProviderEvent, PaymentStateAtProvider, RefundStateAtProvider } from './payment-provider.ts';

/** Zero-decimal currencies for which Stripe nevertheless expects amounts with two decimal places. */
const twoDecimalAtStripe = new Set(['ISK', 'UGX']);

export const stripeAmountFromMinorUnits = (amount: number, currency: string): number =>
  twoDecimalAtStripe.has(currency) ? amount * 100 : amount;
const fromStripeAmount = (amount: number, currency: string): number => (twoDecimalAtStripe.has(currency) ? amount / 100 : amount);

/** Converts a Stripe PaymentIntent to the state of a payment. */
export function paymentStateFromStripeIntent(intent: Stripe.PaymentIntent): PaymentStateAtProvider {
  const currency = intent.currency.toUpperCase();
  const status = toStatus(intent);
  const nextAction = toNextAction(intent);
  return {
    reference: intent.id,
    status,
    amountReceived: fromStripeAmount(intent.amount_received, currency),
    currency,
    ...(nextAction && { nextAction }),
    ...(status === 'failed' && { failure: toFailure(intent.last_payment_error) }),
  };
}

function toStatus({ status, last_payment_error: error }: Stripe.PaymentIntent): PaymentStateAtProvider['status'] {
  switch (status) {
    case 'requires_payment_method':
      return error ? 'failed' : 'pending';
    case 'requires_confirmation':
      return 'pending';
    case 'requires_action':
      return 'requires_action';
    case 'succeeded':
      return 'succeeded';
    case 'canceled':
      return 'canceled';
    // Stripe can add statuses. A payment with an unknown status is treated as neither succeeded nor failed.
    default:
      return 'processing';
  }
}

function toNextAction({ status, next_action: next, client_secret: secret }: Stripe.PaymentIntent): PaymentStateAtProvider['nextAction'] {
  const url = next?.redirect_to_url?.url;
  if (url) return { type: 'redirect', url, client_secret: null };
  if (status !== 'requires_payment_method' && status !== 'requires_confirmation' && status !== 'requires_action') return undefined;
  return secret === null ? undefined : { type: 'sdk', url: null, client_secret: secret };
}

const failureCodes = {
  card_declined: 'card_declined',
  insufficient_funds: 'insufficient_funds',
  expired_card: 'expired_card',
  payment_intent_authentication_failure: 'authentication_failed',
  authentication_required: 'authentication_failed',
} as const;

const isKnown = (code: string): code is keyof typeof failureCodes => Object.hasOwn(failureCodes, code);

function toFailure(error: Stripe.PaymentIntent['last_payment_error']): NonNullable<PaymentStateAtProvider['failure']> {
  const code = [error?.decline_code ?? '', error?.code ?? ''].find(isKnown);
  return { code: code ? failureCodes[code] : 'unknown', message: error?.message ?? 'The payment did not succeed.' };
}

/** Converts a Stripe Refund to the state of a refund. */
export function refundStateFromStripeRefund({ id, status, failure_reason: reason }: Stripe.Refund): RefundStateAtProvider {
  if (status === 'succeeded' || status === 'failed' || status === 'canceled') {
    return { reference: id, status, ...(reason !== undefined && { failureCode: reason }) };
  }
  return { reference: id, status: 'pending' };
}

/** Returns the subject of an event, or undefined if the subject is neither a payment nor a refund. */
export function eventSubjectFromStripeObject(object: Stripe.Event.Data.Object): Pick<ProviderEvent, 'subject' | 'reference'> | undefined {
  if (!('object' in object) || !('id' in object) || typeof object.id !== 'string') return undefined;
  if (object.object === 'payment_intent') return { subject: 'payment', reference: object.id };
  if (object.object === 'refund') return { subject: 'refund', reference: object.id };
  return undefined;
}
