import { expect, test } from 'vitest';
import { InvalidProviderSignatureError, PaymentProviderUnavailableError } from '../../../server/payments/providers/payment-provider.ts';
import { createTestProvider, type TestProvider } from '../../../server/payments/providers/test-provider.ts';

const request = {
  orderId: 7,
  attempt: 1,
  amount: 1_234,
  currency: 'EUR',
  customer: { id: 3, email: 'anna@example.com' },
  idempotencyKey: 'key',
} as const;
const parseEvents = async (provider: TestProvider, body: string, headers: Readonly<Record<string, string>>) =>
  (await provider.parseEvents?.(Buffer.from(body), new Headers(headers))) ?? [];
const referenceOf = (token: string): string => `${token}.1234.EUR.key`;

test.each([
  ['test_ok', 'succeeded', 'succeeded'],
  ['test_declined', 'failed', 'failed'],
  ['test_requires_action', 'requires_action', 'succeeded'],
  ['test_processing_then_ok', 'processing', 'succeeded'],
  ['test_duplicate_webhook', 'processing', 'succeeded'],
  ['test_out_of_order_webhook', 'processing', 'succeeded'],
  ['test_late_success', 'pending', 'pending'],
  ['unknown', 'failed', 'failed'],
])('a payment with the token %s is %s, and later %s', async (methodToken, initial, final) => {
  const provider = createTestProvider();
  const payment = await provider.create({ ...request, methodToken });
  const received = (status: string) => ({ status, currency: 'EUR', amountReceived: status === 'succeeded' ? 1_234 : 0 });
  expect(payment).toMatchObject(received(initial));
  expect(await provider.retrieve(payment.reference ?? '')).toMatchObject(received(final));
  expect([payment.nextAction !== undefined, payment.failure?.code]).toEqual([
    initial === 'requires_action',
    initial === 'failed' ? 'card_declined' : undefined,
  ]);
});

test('a payment without a token requires an action on the requested page or, if there is none, on an example page', async () => {
  const provider = createTestProvider();
  const nextActions = [await provider.create({ ...request, returnUrl: 'https://shop.example/paid' }), await provider.create(request)];
  expect(nextActions.map(({ nextAction }) => nextAction)).toEqual([
    { type: 'redirect', url: 'https://shop.example/paid', client_secret: null },
    { type: 'redirect', url: 'https://bank.example/confirm', client_secret: null },
  ]);
});

test('the response to a payment with the token test_timeout is lost once', async () => {
  const provider = createTestProvider();
  const create = () => provider.create({ ...request, methodToken: 'test_timeout' });
  await expect(create()).rejects.toThrow(PaymentProviderUnavailableError);
  expect(await create()).toMatchObject({ reference: referenceOf('test_timeout'), status: 'succeeded' });
});

test('a payment can be canceled while it is pending or needs an action', async () => {
  const provider = createTestProvider();
  const cancel = async (token: string) => (await provider.cancel(referenceOf(token), 'key')).status;
  expect([await cancel('test_requires_action'), await cancel('test_late_success')]).toEqual(['canceled', 'canceled']);
  expect([await cancel('test_processing_then_ok'), await cancel('test_ok'), await cancel('test_declined')]).toEqual([
    'succeeded',
    'succeeded',
    'failed',
  ]);
  expect((await provider.retrieve(referenceOf('test_requires_action'))).status).toBe('canceled');
  // the money arrives although the payment was canceled
  expect(await provider.retrieve(referenceOf('test_late_success'))).toMatchObject({ status: 'succeeded', amountReceived: 1_234 });
});

test.each([
  ['test_ok', ['1 succeeded']],
  ['test_duplicate_webhook', ['1 succeeded', '1 succeeded']],
  ['test_out_of_order_webhook', ['2 succeeded', '1 processing']],
])('the signed webhooks for a payment with the token %s are %j', async (token, expected) => {
  const provider = createTestProvider();
  const reference = referenceOf(token);
  const events = await Promise.all(provider.webhooksFor(reference).map(({ body, headers }) => parseEvents(provider, body, headers)));
  expect(events.flat()).toEqual(
    expected.map((event) => {
      const [number = '', type = ''] = event.split(' ');
      return { id: `${reference}-${number}`, type, subject: 'payment', reference };
    }),
  );
});

test('a webhook without a valid signature is rejected', async () => {
  const provider = createTestProvider();
  const [webhook] = provider.webhooksFor(referenceOf('test_ok'));
  const body = webhook?.body ?? '';
  const signature = webhook?.headers['test-signature'] ?? '';
  const parse = (text: string, headers: Record<string, string>) => parseEvents(provider, text, headers);
  expect(await parse(body, { 'test-signature': signature })).toHaveLength(1);
  await expect(parse(body, {})).rejects.toThrow(InvalidProviderSignatureError);
  await expect(parse(body, { 'test-signature': `${signature}0` })).rejects.toThrow(InvalidProviderSignatureError);
  await expect(parse(body, { 'test-signature': '0'.repeat(signature.length) })).rejects.toThrow(InvalidProviderSignatureError);
  await expect(parse(`${body} `, { 'test-signature': signature })).rejects.toThrow(InvalidProviderSignatureError);
});

test('a reference of another provider is an error, and the provider is polled', async () => {
  const provider = createTestProvider();
  await expect(provider.retrieve('pi_1')).rejects.toThrow('not a payment of the test provider');
  expect([provider.isPolled, provider.reservation, provider.methodTokens?.includes('test_ok')]).toEqual([true, 'short', true]);
});

test('a refund succeeds, and has one reference for each idempotency key', async () => {
  const provider = createTestProvider();
  const refund = { refundId: 1, amount: 100, currency: 'EUR', reason: 'damaged', idempotencyKey: 'refund-1' } as const;
  const expected = { reference: 'test_refund_refund-1', status: 'succeeded' };
  expect(await provider.refund(referenceOf('test_ok'), refund)).toEqual(expected);
  expect(await provider.retrieveRefund('test_refund_refund-1')).toEqual(expected);
});
