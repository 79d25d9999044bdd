import type Stripe from 'stripe';
import { BadSignature, type PaymentProvider, type ProviderPayment, type ProviderRefund, ProviderUnavailable } from './payment-provider.ts';
import { paymentOf, refundOf, subjectOf, toStripeAmount } from './stripe-objects.ts';

export type StripeSettings = {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Where Stripe is, when not at Stripe. */
  readonly api?: { readonly host: string; readonly port: number; readonly protocol: 'http' };
};

const settings = { maxNetworkRetries: 2, timeout: 10_000, telemetry: false } as const;
const stripeReasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;

/** Cards and wallets by PaymentIntents. The `stripe` package is loaded only here, and only by shops that use it. */
export async function openStripe({ secretKey, webhookSecret, api }: StripeSettings): Promise<PaymentProvider> {
  const { default: Client } = await import('stripe');
  const stripe = new Client(secretKey, { ...settings, ...api });
  const failures = failuresOf(Client);
  return {
    name: 'stripe',
    asks: true,
    hold: 'short',
    ...paymentsAt(stripe, failures),
    ...refundsAt(stripe, failures),
    async parseEvents(raw, headers) {
      const event = await stripe.webhooks
        .constructEventAsync(Buffer.from(raw), headers.get('stripe-signature') ?? '', webhookSecret)
        .catch((error: unknown) => {
          throw new BadSignature('not signed by Stripe', { cause: error });
        });
      const subject = subjectOf(event.data.object);
      return subject ? [{ id: event.id, type: event.type, ...subject }] : [];
    },
  };
}

type Failures = ReturnType<typeof failuresOf>;

const failuresOf = ({ errors }: typeof Stripe) => ({
  /** Nobody knows what became of a request without an answer; everything else is an answer. */
  ask: <Answer>(request: Promise<Answer>): Promise<Answer> =>
    request.catch((error: unknown) => {
      const unanswered = [errors.StripeConnectionError, errors.StripeAPIError, errors.StripeRateLimitError, errors.StripeIdempotencyError];
      if (!unanswered.some((kind) => error instanceof kind)) throw error;
      throw new ProviderUnavailable('Stripe does not answer', { cause: error });
    }),
  /** Stripe did not want to; what else goes wrong is thrown on. */
  refused: (error: unknown): Stripe.errors.StripeError => {
    if (error instanceof errors.StripeCardError || error instanceof errors.StripeInvalidRequestError) return error;
    throw error;
  },
});

const paymentsAt = (stripe: Stripe, { ask, refused }: Failures): Pick<PaymentProvider, 'create' | 'retrieve' | 'cancel'> => ({
  create({ orderId, attempt, amount, currency, returnUrl, methodToken, idempotencyKey }) {
    const intent = stripe.paymentIntents.create(
      {
        amount: toStripeAmount(amount, currency),
        currency: currency.toLowerCase(),
        description: `Order ${orderId}`,
        metadata: { order_id: orderId, attempt },
        automatic_payment_methods: { enabled: true, allow_redirects: returnUrl === undefined ? 'never' : 'always' },
        ...(methodToken !== undefined && { payment_method: methodToken, confirm: true }),
        ...(methodToken !== undefined && returnUrl !== undefined && { return_url: returnUrl }),
      },
      { idempotencyKey },
    );
    return ask(intent.then(paymentOf, (error: unknown) => refusedPayment(refused(error), currency)));
  },
  retrieve: (reference) => ask(stripe.paymentIntents.retrieve(reference).then(paymentOf)),
  cancel(reference, idempotencyKey) {
    const canceled = stripe.paymentIntents.cancel(reference, {}, { idempotencyKey }).then(paymentOf, (error: unknown) => {
      // It has gone too far, or is canceled already: what it is now is the answer.
      if (refused(error).code !== 'payment_intent_unexpected_state') throw error;
      return stripe.paymentIntents.retrieve(reference).then(paymentOf);
    });
    return ask(canceled);
  },
});

const refundsAt = (stripe: Stripe, { ask, refused }: Failures): Pick<PaymentProvider, 'refund' | 'retrieveRefund'> => ({
  refund(reference, { refundId, amount, currency, reason, idempotencyKey }) {
    const made = stripe.refunds.create(
      { payment_intent: reference, amount: toStripeAmount(amount, currency), metadata: { refund_id: refundId }, ...reasonOf(reason) },
      { idempotencyKey },
    );
    return ask(
      made.then(refundOf, (error: unknown): ProviderRefund => {
        const { code = 'unknown' } = refused(error);
        return { reference: null, status: 'failed', failureCode: code };
      }),
    );
  },
  retrieveRefund: (reference) => ask(stripe.refunds.retrieve(reference).then(refundOf)),
});

/** A card that is declined leaves a payment at Stripe, a request that makes no sense leaves nothing. */
function refusedPayment(error: Stripe.errors.StripeError, currency: string): ProviderPayment {
  if (error.payment_intent) return paymentOf(error.payment_intent);
  const failure = { code: 'unknown', message: 'The payment provider did not accept this payment.' } as const;
  return { reference: null, status: 'failed', amountReceived: 0, currency, failure };
}

function reasonOf(given: string): { reason?: (typeof stripeReasons)[number] } {
  const reason = stripeReasons.find((name) => name === given);
  return reason === undefined ? {} : { reason };
}
