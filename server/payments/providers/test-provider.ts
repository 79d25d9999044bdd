import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { testMethodTokens } from '@mandate/contract';
import { z } from 'zod';
import { BadSignature, type PaymentProvider, type PaymentRequest, type ProviderPayment, ProviderUnavailable } from './payment-provider.ts';

type Outcome = keyof typeof testMethodTokens;
type Status = ProviderPayment['status'];

const isOutcome = (token: string): token is Outcome => Object.hasOwn(testMethodTokens, token);

/** How it begins, and what it has become when somebody asks again. */
const courses: Record<Outcome, readonly [begin: Status, end: Status]> = {
  test_ok: ['succeeded', 'succeeded'],
  test_declined: ['failed', 'failed'],
  test_requires_action: ['requires_action', 'succeeded'],
  test_processing_then_ok: ['processing', 'succeeded'],
  test_timeout: ['succeeded', 'succeeded'],
  test_duplicate_webhook: ['processing', 'succeeded'],
  test_out_of_order_webhook: ['processing', 'succeeded'],
  test_late_success: ['pending', 'pending'],
};

/** What the provider sends, as it would come in over HTTP. */
export type Report = { readonly body: string; readonly headers: Record<string, string> };

export type TestProvider = PaymentProvider & {
  /** What the provider has to say about a payment, in the order it says it. */
  reports(reference: string): Report[];
};

const signatureHeader = 'test-signature';
const report = z.object({ id: z.string(), type: z.string(), reference: z.string() });

/** A provider without money: every payment does what its token says. Its references tell all there is to know, so it forgets nothing in a restart. */
export function testProvider(): TestProvider {
  const key = randomBytes(32);
  const [answered, canceled] = [new Set<string>(), new Set<string>()];
  const sign = (body: string | Uint8Array): string => createHmac('sha256', key).update(body).digest('hex');

  const cancel = (reference: string): ProviderPayment => {
    const payment = paymentOf(reference, 'begin');
    if (payment.status !== 'pending' && payment.status !== 'requires_action') return paymentOf(reference, 'end');
    canceled.add(reference);
    return { ...payment, status: 'canceled' };
  };
  return {
    name: 'test',
    asks: true,
    hold: 'short',
    methodTokens: Object.keys(testMethodTokens),
    async create(request) {
      const reference = referenceOf(request);
      // The payment is made, and the answer is lost.
      const lost = request.methodToken === 'test_timeout' && !answered.has(reference);
      answered.add(reference);
      if (lost) throw new ProviderUnavailable('the test provider did not answer');
      const payment = paymentOf(reference, 'begin');
      if (payment.status !== 'requires_action') return payment;
      return {
        ...payment,
        nextAction: { type: 'redirect', url: request.returnUrl ?? 'https://bank.example/confirm', client_secret: null },
      };
    },
    async retrieve(reference) {
      const late = outcomeOf(reference) === 'test_late_success';
      if (late && canceled.has(reference)) return { ...paymentOf(reference, 'end'), status: 'succeeded', ...amountOf(reference) };
      return canceled.has(reference) ? cancel(reference) : paymentOf(reference, 'end');
    },
    cancel: async (reference) => cancel(reference),
    refund: async (_reference, { idempotencyKey }) => ({ reference: `test_refund_${idempotencyKey}`, status: 'succeeded' }),
    retrieveRefund: async (reference) => ({ reference, status: 'succeeded' }),
    async parseEvents(raw, headers) {
      const [given, expected] = [headers.get(signatureHeader) ?? '', sign(raw)].map((text) => Buffer.from(text));
      if (!given || !expected || given.length !== expected.length || !timingSafeEqual(given, expected)) throw new BadSignature();
      const { id, type, reference } = report.parse(JSON.parse(Buffer.from(raw).toString()));
      return [{ id, type, subject: 'payment', reference }];
    },
    reports: (reference) =>
      reportsOf(reference).map(([number, type]) => {
        const body = JSON.stringify({ id: `${reference}-${number}`, type, reference } satisfies z.infer<typeof report>);
        return { body, headers: { [signatureHeader]: sign(body), 'content-type': 'application/json' } };
      }),
  };
}

// A payment that was started before tokens were checked can have an unknown one.
const referenceOf = ({ methodToken = 'test_requires_action', amount, currency, idempotencyKey }: PaymentRequest): string =>
  `${isOutcome(methodToken) ? methodToken : 'test_declined'}.${amount}.${currency}.${idempotencyKey}`;

function outcomeOf(reference: string): Outcome {
  const [outcome = ''] = reference.split('.');
  if (!isOutcome(outcome)) throw new Error('not a payment of the test provider');
  return outcome;
}

function amountOf(reference: string): Pick<ProviderPayment, 'amountReceived' | 'currency'> {
  const [, amount = '', currency = ''] = reference.split('.');
  return { amountReceived: Number(amount), currency };
}

function paymentOf(reference: string, stage: 'begin' | 'end'): ProviderPayment {
  const status = courses[outcomeOf(reference)][stage === 'begin' ? 0 : 1];
  const received = status === 'succeeded' ? amountOf(reference) : { ...amountOf(reference), amountReceived: 0 };
  return {
    reference,
    status,
    ...received,
    ...(status === 'failed' && { failure: { code: 'card_declined', message: 'The card was declined.' } }),
  };
}

function reportsOf(reference: string): (readonly [number: number, type: string])[] {
  switch (outcomeOf(reference)) {
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
