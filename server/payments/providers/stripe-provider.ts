import type Stripe from 'stripe';
import { importModuleRequiringOptionalPackages } from '../../optional-packages/import-module-requiring-optional-packages.ts';
import {
  InvalidProviderSignatureError,
  type PaymentProvider,
  type PaymentStateAtProvider,
  type RefundStateAtProvider,
  PaymentProviderUnavailableError,
} from './payment-provider.ts';
import {
  paymentStateFromStripeIntent,
  refundStateFromStripeRefund,
  eventSubjectFromStripeObject,
  stripeAmountFromMinorUnits,
} from './convert-stripe-objects.ts';

export type StripeSettings = {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** URL of an alternative Stripe API server, for tests. */
  readonly api?: { readonly host: string; readonly port: number; readonly protocol: 'http' };
};

const settings = { maxNetworkRetries: 2, timeout: 10_000, telemetry: false } as const;
const stripeReasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;

/** Creates the provider for cards and wallets with Stripe PaymentIntents. The `stripe` package is loaded only if Stripe is configured. */
export async function createStripeProvider({ secretKey, webhookSecret, api }: StripeSettings): Promise<PaymentProvider> {
  const { default: Client } = await importModuleRequiringOptionalPackages('STRIPE_SECRET_KEY', 'stripe', () => import('stripe'));
  const stripe = new Client(secretKey, { ...settings, ...api });
  const errorMapping = createErrorMapping(Client);
  return {
    name: 'stripe',
    isPolled: true,
    reservation: 'short',
    ...createPaymentMethods(stripe, errorMapping),
    ...createRefundMethods(stripe, errorMapping),
    async parseEvents(raw, headers) {
      const event = await stripe.webhooks
        .constructEventAsync(Buffer.from(raw), headers.get('stripe-signature') ?? '', webhookSecret)
        .catch((error: unknown) => {
          throw new InvalidProviderSignatureError('not signed by Stripe', { cause: error });
        });
      const subject = eventSubjectFromStripeObject(event.data.object);
      return subject ? [{ id: event.id, type: event.type, ...subject }] : [];
    },
  };
}

type ErrorMapping = ReturnType<typeof createErrorMapping>;

const createErrorMapping = ({ errors }: typeof Stripe) => ({
  /**
   * Throws `PaymentProviderUnavailableError` if the result of a request is unknown. All other errors are responses from Stripe and are
   * rethrown.
   */
  mapErrors: <Result>(request: Promise<Result>): Promise<Result> =>
    request.catch((error: unknown) => {
      const inconclusive = [
        errors.StripeConnectionError,
        errors.StripeAPIError,
        errors.StripeRateLimitError,
        errors.StripeIdempotencyError,
      ];
      if (!inconclusive.some((kind) => error instanceof kind)) throw error;
      throw new PaymentProviderUnavailableError('Stripe does not respond', { cause: error });
    }),
  /** Returns the error if Stripe rejected the request; rethrows all other errors. */
  asRejection: (error: unknown): Stripe.errors.StripeError => {
    if (error instanceof errors.StripeCardError || error instanceof errors.StripeInvalidRequestError) return error;
    throw error;
  },
});

const createPaymentMethods = (
  stripe: Stripe,
  { mapErrors, asRejection }: ErrorMapping,
): Pick<PaymentProvider, 'create' | 'retrieve' | 'cancel'> => ({
  create({ orderId, attempt, amount, currency, returnUrl, methodToken, idempotencyKey }) {
    const intent = stripe.paymentIntents.create(
      {
        amount: stripeAmountFromMinorUnits(amount, currency),
        currency: currency.toLowerCase(),
        description: `Order ${orderId}`,
        metadata: { order_id: orderId, attempt },
        automatic_payment_methods: { enabled: true, allow_redirects: returnUrl === undefined ? 'never' : 'always' },
        ...(methodToken !== undefined && { payment_method: methodToken, confirm: true }),
        ...(methodToken !== undefined && returnUrl !== undefined && { return_url: returnUrl }),
      },
      { idempotencyKey },
    );
    return mapErrors(intent.then(paymentStateFromStripeIntent, (error: unknown) => rejectedPayment(asRejection(error), currency)));
  },
  retrieve: (reference) => mapErrors(stripe.paymentIntents.retrieve(reference).then(paymentStateFromStripeIntent)),
  cancel(reference, idempotencyKey) {
    const canceled = stripe.paymentIntents
      .cancel(reference, {}, { idempotencyKey })
      .then(paymentStateFromStripeIntent, (error: unknown) => {
        // The payment can no longer be canceled, or is already canceled, so its current state is returned.
        if (asRejection(error).code !== 'payment_intent_unexpected_state') throw error;
        return stripe.paymentIntents.retrieve(reference).then(paymentStateFromStripeIntent);
      });
    return mapErrors(canceled);
  },
});

const createRefundMethods = (
  stripe: Stripe,
  { mapErrors, asRejection }: ErrorMapping,
): Pick<PaymentProvider, 'refund' | 'retrieveRefund'> => ({
  refund(reference, { refundId, amount, currency, reason, idempotencyKey }) {
    const created = stripe.refunds.create(
      {
        payment_intent: reference,
        amount: stripeAmountFromMinorUnits(amount, currency),
        metadata: { refund_id: refundId },
        ...toStripeReason(reason),
      },
      { idempotencyKey },
    );
    return mapErrors(
      created.then(refundStateFromStripeRefund, (error: unknown): RefundStateAtProvider => {
        const { code = 'unknown' } = asRejection(error);
        return { reference: null, status: 'failed', failureCode: code };
      }),
    );
  },
  retrieveRefund: (reference) => mapErrors(stripe.refunds.retrieve(reference).then(refundStateFromStripeRefund)),
});

/** Converts a rejected payment. A declined card creates a PaymentIntent at Stripe; an invalid request does not. */
function rejectedPayment(error: Stripe.errors.StripeError, currency: string): PaymentStateAtProvider {
  if (error.payment_intent) return paymentStateFromStripeIntent(error.payment_intent);
  const failure = { code: 'unknown', message: 'The payment provider did not accept this payment.' } as const;
  return { reference: null, status: 'failed', amountReceived: 0, currency, failure };
}

function toStripeReason(given: string): { reason?: (typeof stripeReasons)[number] } {
  const reason = stripeReasons.find((name) => name === given);
  return reason === undefined ? {} : { reason };
}
