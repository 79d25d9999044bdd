import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import {
  type PaymentProvider,
  type ProviderPaymentRequest,
  ProviderUnavailableError,
} from '../../../server/payments/providers/payment-provider.ts';
import { createStripeProvider } from '../../../server/payments/providers/stripe-provider.ts';
import { createTestProvider } from '../../../server/payments/providers/test-provider.ts';
import { startFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts';

let fake: FakeStripe;
beforeAll(async () => {
  fake = await startFakeStripe();
});
afterAll(() => fake.close());

const stripe = (): Promise<PaymentProvider> => createStripeProvider({ secretKey: 'sk_test_1', webhookSecret: 'whsec_1', api: fake.api });

const request = (methodToken: string | undefined, given: Partial<ProviderPaymentRequest> = {}): ProviderPaymentRequest => ({
  orderId: 7,
  attempt: 1,
  amount: 1234,
  currency: 'EUR',
  customer: { id: 3, email: 'anna@example.com' },
  idempotencyKey: randomUUID(),
  ...(methodToken !== undefined && { methodToken }),
  ...given,
});

/** What every provider promises. `undefined`: it has no such payments. */
const providers = [
  {
    name: 'manual',
    open: () => Promise.resolve(manualProvider),
    ok: undefined,
    declined: undefined,
    lost: undefined,
    waits: undefined,
    begins: 'pending',
  },
  {
    name: 'test',
    open: () => Promise.resolve(createTestProvider()),
    ok: 'test_ok',
    declined: 'test_declined',
    lost: 'test_timeout',
    waits: 'test_requires_action',
    begins: 'requires_action',
  },
  { name: 'stripe', open: stripe, ok: 'pm_ok', declined: 'pm_declined', lost: 'pm_lost', waits: 'pm_action', begins: 'requires_action' },
] as const;

describe.each(providers)('$name', ({ name, open, ok, declined, lost, waits, begins }) => {
  let provider: PaymentProvider;
  beforeAll(async () => {
    provider = await open();
  });

  test('says its name', () => {
    expect(provider.name).toBe(name);
  });

  test('makes one payment of one key, and another one of another', async () => {
    const asked = request(waits);
    const [first, again, other] = [await provider.create(asked), await provider.create(asked), await provider.create(request(waits))];
    expect(again).toEqual(first);
    expect(other.reference).not.toBe(first.reference);
    expect(first).toMatchObject({ status: begins, amountReceived: 0 });
  });

  test('cancels what waits for the customer, and says so when asked again', async () => {
    const asked = request(waits);
    const { reference } = await provider.create(asked);
    const key = `${asked.idempotencyKey}-cancel`;
    expect((await provider.cancel(reference ?? '', key)).status).toBe('canceled');
    expect((await provider.cancel(reference ?? '', key)).status).toBe('canceled');
    const afterwards = provider.isPolled ? (await provider.retrieve(reference ?? '')).status : 'canceled';
    expect(afterwards).toBe('canceled');
  });

  test.runIf(ok)('receives the whole amount, in its currency', async () => {
    const made = await provider.create(request(ok));
    expect(made).toMatchObject({ status: 'succeeded', amountReceived: 1234, currency: 'EUR' });
    expect(await provider.retrieve(made.reference ?? '')).toEqual(made);
  });

  test.runIf(ok)('does not cancel what has succeeded, and says what it is', async () => {
    const { reference } = await provider.create(request(ok));
    expect(await provider.cancel(reference ?? '', randomUUID())).toMatchObject({ status: 'succeeded', amountReceived: 1234 });
  });

  test.runIf(declined)('says why a card is declined', async () => {
    const made = await provider.create(request(declined));
    expect(made).toMatchObject({ status: 'failed', amountReceived: 0, failure: { code: expect.any(String), message: expect.any(String) } });
    expect(made.reference).not.toBeNull();
  });

  test.runIf(lost)('when its answer is lost, the same key gives the payment that was made', async () => {
    const asked = request(lost);
    await expect(provider.create(asked)).rejects.toThrow(ProviderUnavailableError);
    const made = await provider.create(asked);
    expect([made.status, await provider.create(asked)]).toEqual(['succeeded', made]);
  });

  test('pays back once for one key', async () => {
    const { reference } = await provider.create(request(ok));
    const refund = { refundId: 1, amount: 100, currency: 'EUR', reason: 'other', idempotencyKey: randomUUID() } as const;
    const [first, again] = [await provider.refund(reference ?? '', refund), await provider.refund(reference ?? '', refund)];
    expect(again).toEqual(first);
    expect(await provider.retrieveRefund(first.reference ?? '')).toEqual(first);
  });
});

describe('stripe besides', () => {
  test('without a method of payment, the customer goes on with a client secret', async () => {
    const provider = await stripe();
    const made = await provider.create(request(undefined));
    expect(made).toMatchObject({
      status: 'pending',
      nextAction: { type: 'sdk', url: null, client_secret: expect.stringContaining('_secret') },
    });
    fake.complete(made.reference ?? '');
    expect(await provider.retrieve(made.reference ?? '')).toMatchObject({ status: 'succeeded', amountReceived: 1234 });
  });

  test('tries again with the same key when Stripe fails', async () => {
    const [provider, asked] = [await stripe(), request('pm_ok')];
    const before = fake.intents().length;
    fake.failNext(1);
    expect((await provider.create(asked)).status).toBe('succeeded');
    expect(fake.requests.filter(({ key }) => key === asked.idempotencyKey)).toHaveLength(2);
    expect(fake.intents()).toHaveLength(before + 1);
  });

  test('says that it is not available when Stripe keeps failing', async () => {
    fake.failNext(3);
    await expect((await stripe()).retrieve('pi_any')).rejects.toThrow(ProviderUnavailableError);
  });

  test('says when what is asked for makes no sense, and leaves nothing', async () => {
    const made = await (await stripe()).create(request('pm_nothing'));
    expect(made).toMatchObject({ reference: null, status: 'failed', failure: { code: 'unknown' } });
    expect(made.failure?.message).not.toContain('pm_nothing');
  });

  test.each([
    ['pm_declined', 'insufficient_funds'],
    ['pm_expired', 'expired_card'],
  ])('%s is %s', async (method, code) => {
    expect((await (await stripe()).create(request(method))).failure?.code).toBe(code);
  });

  test.each([
    ['JPY', 500, 500],
    ['ISK', 500, 50_000],
    ['EUR', 500, 500],
  ])('counts %s as Stripe does', async (currency, amount, atStripe) => {
    const made = await (await stripe()).create(request('pm_ok', { currency, amount }));
    expect(fake.intents().at(-1)?.amount).toBe(atStripe);
    expect(made).toMatchObject({ amountReceived: amount, currency });
  });

  test('a refund that Stripe refuses has failed', async () => {
    const provider = await stripe();
    const { reference } = await provider.create(request('pm_ok'));
    const refund = { refundId: 1, amount: 5000, currency: 'EUR', reason: 'duplicate', idempotencyKey: randomUUID() } as const;
    expect(await provider.refund(reference ?? '', refund)).toMatchObject({ status: 'failed', failureCode: 'charge_already_refunded' });
  });
});

describe('events of Stripe', () => {
  const body = (object: object) => JSON.stringify({ id: 'evt_1', object: 'event', type: 'payment_intent.succeeded', data: { object } });
  const signed = async (text: string, given: { secret?: string; timestamp?: number } = {}): Promise<Headers> => {
    const { default: Stripe } = await import('stripe');
    const { secret = 'whsec_1', timestamp = Math.floor(Date.now() / 1000) } = given;
    const header = new Stripe('sk_test_1').webhooks.generateTestHeaderString({ payload: text, secret, timestamp });
    return new Headers({ 'stripe-signature': header });
  };
  const parse = async (text: string, headers: Headers) => (await stripe()).parseEvents?.(Buffer.from(text), headers);

  test.each([
    [{ id: 'pi_1', object: 'payment_intent' }, [{ id: 'evt_1', type: 'payment_intent.succeeded', subject: 'payment', reference: 'pi_1' }]],
    [{ id: 're_1', object: 'refund' }, [{ id: 'evt_1', type: 'payment_intent.succeeded', subject: 'refund', reference: 're_1' }]],
    [{ id: 'cus_1', object: 'customer' }, []],
  ])('%j', async (object, events) => {
    expect(await parse(body(object), await signed(body(object)))).toEqual(events);
  });

  test('signed by somebody else, tampered with, or ten minutes old are refused', async () => {
    const text = body({ id: 'pi_1', object: 'payment_intent' });
    const refused = { name: 'BadSignature' };
    await expect(parse(text, await signed(text, { secret: 'whsec_2' }))).rejects.toMatchObject(refused);
    await expect(parse(text.replace('pi_1', 'pi_2'), await signed(text))).rejects.toMatchObject(refused);
    await expect(parse(text, await signed(text, { timestamp: Math.floor(Date.now() / 1000) - 600 }))).rejects.toMatchObject(refused);
    await expect(parse(text, new Headers())).rejects.toMatchObject(refused);
  });
});
