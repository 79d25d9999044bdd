import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { testPaymentOutcomeTextsByToken } from '@mandate/contract';
import { z } from 'zod';
import {
  InvalidProviderSignatureError,
  type PaymentProvider,
  type ProviderPaymentRequest,
  type PaymentStateAtProvider,
  PaymentProviderUnavailableError,
} from './payment-provider.ts';

type Outcome = keyof typeof testPaymentOutcomeTextsByToken;
type Status = PaymentStateAtProvider['status'];

const isOutcome = (token: string): token is Outcome => Object.hasOwn(testPaymentOutcomeTextsByToken, token);

/** Status of a test payment after its creation, and its status when it is retrieved later. */
const statusesByOutcome: Record<Outcome, readonly [initial: Status, final: Status]> = {
  test_ok: ['succeeded', 'succeeded'],
  test_declined: ['failed', 'failed'],
  test_requires_action: ['requires_action', 'succeeded'],
  test_processing_then_ok: ['processing', 'succeeded'],
  test_timeout: ['succeeded', 'succeeded'],
  test_duplicate_webhook: ['processing', 'succeeded'],
  test_out_of_order_webhook: ['processing', 'succeeded'],
  test_late_success: ['pending', 'pending'],
};

/** A webhook request from the test provider. */
export type TestWebhook = { readonly body: string; readonly headers: Record<string, string> };

export type TestProvider = PaymentProvider & {
  /** Returns the webhook requests for a payment, in the order in which the provider sends them. */
  webhooksFor(reference: string): TestWebhook[];
};

const signatureHeader = 'test-signature';
const webhookSchema = z.object({ id: z.string(), type: z.string(), reference: z.string() });

/**
 * Creates a provider for tests. The payment method token determines how a payment proceeds. References encode the payment, so a restart
 * does not lose any state.
 */
export function createTestProvider(): TestProvider {
  const key = randomBytes(32);
  const [responded, canceled] = [new Set<string>(), new Set<string>()];
  const sign = (body: string | Uint8Array): string => createHmac('sha256', key).update(body).digest('hex');

  const cancel = (reference: string): PaymentStateAtProvider => {
    const payment = paymentFromReference(reference, 'initial');
    if (payment.status !== 'pending' && payment.status !== 'requires_action') return paymentFromReference(reference, 'final');
    canceled.add(reference);
    return { ...payment, status: 'canceled' };
  };
  return {
    name: 'test',
    isPolled: true,
    reservation: 'short',
    methodTokens: Object.keys(testPaymentOutcomeTextsByToken),
    async create(request) {
      const reference = createReference(request);
      // Simulates a lost response, that is, the payment is created, but the caller receives an error.
      const lost = request.methodToken === 'test_timeout' && !responded.has(reference);
      responded.add(reference);
      if (lost) throw new PaymentProviderUnavailableError('the test provider did not respond');
      const payment = paymentFromReference(reference, 'initial');
      if (payment.status !== 'requires_action') return payment;
      return {
        ...payment,
        nextAction: { type: 'redirect', url: request.returnUrl ?? 'https://bank.example/confirm', client_secret: null },
      };
    },
    async retrieve(reference) {
      const late = outcomeFromReference(reference) === 'test_late_success';
      if (late && canceled.has(reference))
        return { ...paymentFromReference(reference, 'final'), status: 'succeeded', ...amountFromReference(reference) };
      return canceled.has(reference) ? cancel(reference) : paymentFromReference(reference, 'final');
    },
    cancel: async (reference) => cancel(reference),
    refund: async (_reference, { idempotencyKey }) => ({ reference: `test_refund_${idempotencyKey}`, status: 'succeeded' }),
    retrieveRefund: async (reference) => ({ reference, status: 'succeeded' }),
    async parseEvents(raw, headers) {
      const [given, expected] = [headers.get(signatureHeader) ?? '', sign(raw)].map((text) => Buffer.from(text));
      if (!given || !expected || given.length !== expected.length || !timingSafeEqual(given, expected))
        throw new InvalidProviderSignatureError();
      const { id, type, reference } = webhookSchema.parse(JSON.parse(Buffer.from(raw).toString()));
      return [{ id, type, subject: 'payment', reference }];
    },
    webhooksFor: (reference) =>
      webhooksOf(reference).map(([number, type]) => {
        const body = JSON.stringify({ id: `${reference}-${number}`, type, reference } satisfies z.infer<typeof webhookSchema>);
        return { body, headers: { [signatureHeader]: sign(body), 'content-type': 'application/json' } };
      }),
  };
}

// Payments created before the introduction of token validation can have an unknown token.
const createReference = ({ methodToken = 'test_requires_action', amount, currency, idempotencyKey }: ProviderPaymentRequest): string =>
  `${isOutcome(methodToken) ? methodToken : 'test_declined'}.${amount}.${currency}.${idempotencyKey}`;

function outcomeFromReference(reference: string): Outcome {
  const [outcome = ''] = reference.split('.');
  if (!isOutcome(outcome)) throw new Error('not a payment of the test provider');
  return outcome;
}

function amountFromReference(reference: string): Pick<PaymentStateAtProvider, 'amountReceived' | 'currency'> {
  const [, amount = '', currency = ''] = reference.split('.');
  return { amountReceived: Number(amount), currency };
}

function paymentFromReference(reference: string, stage: 'initial' | 'final'): PaymentStateAtProvider {
  const status = statusesByOutcome[outcomeFromReference(reference)][stage === 'initial' ? 0 : 1];
  const received = status === 'succeeded' ? amountFromReference(reference) : { ...amountFromReference(reference), amountReceived: 0 };
  return {
    reference,
    status,
    ...received,
    ...(status === 'failed' && { failure: { code: 'card_declined', message: 'The card was declined.' } }),
  };
}

function webhooksOf(reference: string): (readonly [number: number, type: string])[] {
  switch (outcomeFromReference(reference)) {
    case 'test_duplicate_webhook':
      return [
        [1, 'succeeded'],
        [1, 'succeeded'],
      ];
    case 'test_out_of_order_webhook':
      return [
        [2, 'succeeded'],
        [1, 'processing'],
      ];
    default:
      return [[1, 'succeeded']];
  }
}
