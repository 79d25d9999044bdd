import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import {
  type PaymentProvider,
  type ProviderPaymentRequest,
  PaymentProviderUnavailableError,
} from '../../../server/payments/providers/payment-provider.ts';
import { createStripeProvider } from '../../../server/payments/providers/stripe-provider.ts';
import { createTestProvider } from '../../../server/payments/providers/test-provider.ts';
import { startFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts';

let fakeStripe: FakeStripe;
beforeAll(async () => {
  fakeStripe = await startFakeStripe();
});
afterAll(() => fakeStripe.close());

const stripe = (): Promise<PaymentProvider> =>
  createStripeProvider({ secretKey: 'sk_test_1', webhookSecret: 'whsec_1', api: fakeStripe.apiOptions });

const request = (methodToken: string | undefined, overrides: Partial<ProviderPaymentRequest> = {}): ProviderPaymentRequest => ({
  orderId: 7,
  attempt: 1,
  amount: 1234,
  currency: 'EUR',
  customer: { id: 3, email: 'anna@example.com' },
  idempotencyKey: randomUUID(),
  ...(methodToken !== undefined && { methodToken }),
  ...overrides,
});

/** All providers, with the tokens that select a payment's outcome. `undefined` means that the provider does not support the outcome. */
const providers = [
  {
    name: 'manual',
    open: () => Promise.resolve(manualProvider),
    ok: undefined,
    declined: undefined,
    timeout: undefined,
    actionRequired: undefined,
    initialStatus: 'pending',
  },
  {
    name: 'test',
    open: () => Promise.resolve(createTestProvider()),
    ok: 'test_ok',
    declined: 'test_declined',
    timeout: 'test_timeout',
    actionRequired: 'test_requires_action',
    initialStatus: 'requires_action',
  },
  {
    name: 'stripe',
    open: stripe,
    ok: 'pm_ok',
    declined: 'pm_declined',
    timeout: 'pm_lost',
    actionRequired: 'pm_action',
    initialStatus: 'requires_action',
  },
] as const;

describe.each(providers)('$name', ({ name, open, ok, declined, timeout, actionRequired, initialStatus }) => {
  let provider: PaymentProvider;
  beforeAll(async () => {
    provider = await open();
  });

  test('returns its name', () => {
    expect(provider.name).toBe(name);
  });

  test('creates one payment per idempotency key', async () => {
    const paymentRequest = request(actionRequired);
    const [first, again, other] = [
      await provider.create(paymentRequest),
      await provider.create(paymentRequest),
      await provider.create(request(actionRequired)),
    ];
    expect(again).toEqual(first);
    expect(other.reference).not.toBe(first.reference);
    expect(first).toMatchObject({ status: initialStatus, amountReceived: 0 });
  });

  test('cancels a payment that requires customer action, even if the call is repeated', async () => {
    const paymentRequest = request(actionRequired);
    const { reference } = await provider.create(paymentRequest);
    const key = `${paymentRequest.idempotencyKey}-cancel`;
    expect((await provider.cancel(reference ?? '', key)).status).toBe('canceled');
    expect((await provider.cancel(reference ?? '', key)).status).toBe('canceled');
    const afterwards = provider.isPolled ? (await provider.retrieve(reference ?? '')).status : 'canceled';
    expect(afterwards).toBe('canceled');
  });

  test.runIf(ok)('receives the full amount in the requested currency', async () => {
    const payment = await provider.create(request(ok));
    expect(payment).toMatchObject({ status: 'succeeded', amountReceived: 1234, currency: 'EUR' });
    expect(await provider.retrieve(payment.reference ?? '')).toEqual(payment);
  });

  test.runIf(ok)('does not cancel a successful payment, and returns its status', async () => {
    const { reference } = await provider.create(request(ok));
    expect(await provider.cancel(reference ?? '', randomUUID())).toMatchObject({ status: 'succeeded', amountReceived: 1234 });
  });

  test.runIf(declined)('returns the reason for a declined card', async () => {
    const payment = await provider.create(request(declined));
    expect(payment).toMatchObject({
      status: 'failed',
      amountReceived: 0,
      failure: { code: expect.any(String), message: expect.any(String) },
    });
    expect(payment.reference).not.toBeNull();
  });

  test.runIf(timeout)('returns the existing payment for the same key after a lost response', async () => {
    const paymentRequest = request(timeout);
    await expect(provider.create(paymentRequest)).rejects.toThrow(PaymentProviderUnavailableError);
    const payment = await provider.create(paymentRequest);
    expect([payment.status, await provider.create(paymentRequest)]).toEqual(['succeeded', payment]);
  });

  test('refunds once per idempotency key', async () => {
    const { reference } = await provider.create(request(ok));
    const refund = { refundId: 1, amount: 100, currency: 'EUR', reason: 'other', idempotencyKey: randomUUID() } as const;
    const [first, again] = [await provider.refund(reference ?? '', refund), await provider.refund(reference ?? '', refund)];
    expect(again).toEqual(first);
    expect(await provider.retrieveRefund(first.reference ?? '')).toEqual(first);
  });
});

describe('Stripe', () => {
  test('returns a client secret for a payment without a payment method', async () => {
    const provider = await stripe();
    const payment = await provider.create(request(undefined));
    expect(payment).toMatchObject({
      status: 'pending',
      nextAction: { type: 'sdk', url: null, client_secret: expect.stringContaining('_secret') },
    });
    fakeStripe.completePayment(payment.reference ?? '');
    expect(await provider.retrieve(payment.reference ?? '')).toMatchObject({ status: 'succeeded', amountReceived: 1234 });
  });

  test('retries with the same key when Stripe fails', async () => {
    const [provider, paymentRequest] = [await stripe(), request('pm_ok')];
    const before = fakeStripe.listIntents().length;
    fakeStripe.failNextRequests(1);
    expect((await provider.create(paymentRequest)).status).toBe('succeeded');
    expect(fakeStripe.requests.filter(({ key }) => key === paymentRequest.idempotencyKey)).toHaveLength(2);
    expect(fakeStripe.listIntents()).toHaveLength(before + 1);
  });

  test('reports Stripe as unavailable after repeated failures', async () => {
    fakeStripe.failNextRequests(3);
    await expect((await stripe()).retrieve('pi_any')).rejects.toThrow(PaymentProviderUnavailableError);
  });

  test('reports an invalid request as a failed payment without a reference', async () => {
    const payment = await (await stripe()).create(request('pm_nothing'));
    expect(payment).toMatchObject({ reference: null, status: 'failed', failure: { code: 'unknown' } });
    expect(payment.failure?.message).not.toContain('pm_nothing');
  });

  test.each([
    ['pm_declined', 'insufficient_funds'],
    ['pm_expired', 'expired_card'],
  ])('%s fails with %s', async (method, code) => {
    expect((await (await stripe()).create(request(method))).failure?.code).toBe(code);
  });

  test.each([
    ['JPY', 500, 500],
    ['ISK', 500, 50_000],
    ['EUR', 500, 500],
  ])('converts %s to the minor unit of Stripe', async (currency, amount, atStripe) => {
    const payment = await (await stripe()).create(request('pm_ok', { currency, amount }));
    expect(fakeStripe.listIntents().at(-1)?.amount).toBe(atStripe);
    expect(payment).toMatchObject({ amountReceived: amount, currency });
  });

  test('a refund that Stripe rejects fails', async () => {
    const provider = await stripe();
    const { reference } = await provider.create(request('pm_ok'));
    const refund = { refundId: 1, amount: 5000, currency: 'EUR', reason: 'duplicate', idempotencyKey: randomUUID() } as const;
    expect(await provider.refund(reference ?? '', refund)).toMatchObject({ status: 'failed', failureCode: 'charge_already_refunded' });
  });
});

describe('Stripe events', () => {
  const body = (object: object) => JSON.stringify({ id: 'evt_1', object: 'event', type: 'payment_intent.succeeded', data: { object } });
  const signed = async (text: string, overrides: { secret?: string; timestamp?: number } = {}): Promise<Headers> => {
    const { default: Stripe } = await import('stripe');
    const { secret = 'whsec_1', timestamp = Math.floor(Date.now() / 1000) } = overrides;
    const header = new Stripe('sk_test_1').webhooks.generateTestHeaderString({ payload: text, secret, timestamp });
    return new Headers({ 'stripe-signature': header });
  };
  const parse = async (text: string, headers: Headers) => (await stripe()).parseEvents?.(Buffer.from(text), headers);

  test.each([
    [{ id: 'pi_1', object: 'payment_intent' }, [{ id: 'evt_1', type: 'payment_intent.succeeded', subject: 'payment', reference: 'pi_1' }]],
    [{ id: 're_1', object: 'refund' }, [{ id: 'evt_1', type: 'payment_intent.succeeded', subject: 'refund', reference: 're_1' }]],
    [{ id: 'cus_1', object: 'customer' }, []],
  ])('converts %j', async (object, events) => {
    expect(await parse(body(object), await signed(body(object)))).toEqual(events);
  });

  test('rejects events with a foreign, missing or old signature or a changed body', async () => {
    const text = body({ id: 'pi_1', object: 'payment_intent' });
    const badSignature = { name: 'InvalidProviderSignatureError' };
    await expect(parse(text, await signed(text, { secret: 'whsec_2' }))).rejects.toMatchObject(badSignature);
    await expect(parse(text.replace('pi_1', 'pi_2'), await signed(text))).rejects.toMatchObject(badSignature);
    await expect(parse(text, await signed(text, { timestamp: Math.floor(Date.now() / 1000) - 600 }))).rejects.toMatchObject(badSignature);
    await expect(parse(text, new Headers())).rejects.toMatchObject(badSignature);
  });
});
