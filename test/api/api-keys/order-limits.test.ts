import { describe, expect, test } from 'vitest';
import { obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop();

const scopes = ['orders.read', 'orders.write', 'payments.write'] as const;
const monthly = (perPeriod: number) => ({ limits: { currency: 'EUR', per_period: perPeriod, period: 'month' } });

/** Signs up a customer, and creates an API key with the given limits. */
async function createKey(limits: unknown) {
  const { mandate, shop } = till;
  const anna = await signUp(mandate.origin);
  const { access_token: token } = await obtainTokens(mandate.origin, anna, ['api_keys.manage', ...scopes]);
  const body = { name: 'Coffee machine', scopes, order_limits: limits };
  const created = await mandate.callApi('POST', '/api/v1/api-keys', { token, body });
  const product = await shop.createProduct({ price: 10, stock: 1_000_000 });
  const call = (method: string, path: string, input?: unknown, caller = created.body.key): Promise<ApiResponse> =>
    mandate.callApi(method, `/api/v1${path}`, { token: caller, ...(input !== undefined && { body: input }) });
  const orderInput = (quantity: number) => ({ items: [{ product_id: product.id, quantity }], delivery: pickupDelivery });
  return {
    anna,
    token,
    created,
    call,
    /** Orders `quantity` units at 10 cents each. */
    order: (quantity: number, caller?: string) => call('POST', '/orders', orderInput(quantity), caller),
    quote: async (quantity: number): Promise<JsonBody> => (await call('POST', '/quotes', orderInput(quantity))).body,
    authorization: async (): Promise<JsonBody> => (await call('GET', '/authorization')).body,
    listKeys: async (): Promise<JsonBody> => (await call('GET', '/api-keys', undefined, token)).body.data[0],
  };
}

test('a key with a budget can order only within the budget, and canceled orders return their amounts', async () => {
  const key = await createKey(monthly(100));
  expect(key.created.status).toBe(201);
  const { body: first } = await key.order(10);
  const { status, body } = await key.order(1);
  expect([status, body.code, body.detail]).toEqual([
    403,
    'limit_exceeded',
    expect.stringMatching(
      /^This API key allows 1\.00 EUR per month\. 1\.00 EUR has already been spent, .* The limits of an API key cannot be changed\.$/,
    ),
  ]);
  expect((await key.authorization()).budget).toMatchObject({ limit: 100, spent: 100, remaining: 0 });
  expect((await key.call('POST', `/orders/${first.id}/cancellation`, {})).status).toBe(201);
  expect([(await key.order(10)).status, (await key.order(1)).status]).toEqual([201, 403]);
});

test('a key cannot request an approval of an order above a limit, and the problems do not suggest a request', async () => {
  const key = await createKey(monthly(100));
  const { body } = await key.order(11);
  expect([body.code, body.detail.includes('approval'), body.errors[0].approvable]).toEqual(['limit_exceeded', false, undefined]);
  const requested = await key.call('POST', '/approvals', { quote_id: (await key.quote(11)).id });
  expect([requested.status, requested.body.code]).toEqual([403, 'forbidden']);
});

test('lists, GET /authorization and the account page contain the limits', async () => {
  const validUntil = '2037-01-31T12:00:00.000Z';
  const limits = { limits: { currency: 'EUR', per_order: 5000, per_period: 20_000, period: 'month' }, valid_until: validUntil };
  const key = await createKey({ ...limits, actions: ['place'], orders: 'own', time_zone: 'Europe/London' });
  const expected = { ...limits, actions: ['place'], orders: 'own' };
  expect([key.created.body.order_limits, (await key.listKeys()).order_limits]).toEqual([expected, expected]);
  expect(await key.authorization()).toMatchObject({
    authorization_details: [{ type: 'mandate_orders', ...expected }],
    budget: { limit: 20_000, time_zone: 'Europe/London' },
  });
  const { text } = await key.anna.browser.open('/account/api-keys');
  expect(text).toContain('Orders of at most €50.00 each, of at most €200.00 per month in total, and until January 31, 2037');
  expect([
    text.includes('Place orders'),
    text.includes('Cancel orders'),
    text.includes('Only orders that were placed with this key'),
  ]).toEqual([true, false, true]);
});

test('a key without limits can order any amount, and lists show no limits for it', async () => {
  const key = await createKey(undefined);
  expect([key.created.body.order_limits, (await key.listKeys()).order_limits]).toEqual([null, null]);
  expect([(await key.order(50)).status, (await key.authorization()).authorization_details]).toEqual([201, []]);
});

test('a key that is restricted to its own orders cannot access other orders', async () => {
  const key = await createKey({ orders: 'own' });
  const { body: other } = await key.order(1, key.token);
  const { body: own } = await key.order(1);
  expect((await key.call('GET', `/orders/${other.id}`)).body.code).toBe('not_found');
  expect((await key.call('GET', '/orders')).body.data).toMatchObject([{ id: own.id }]);
});

test('a payment for an order that was not placed with the key counts toward the budget', async () => {
  const key = await createKey(monthly(100));
  const { body: first } = await key.order(8, key.token);
  const { body: second } = await key.order(8, key.token);
  const pay = (id: number) => key.call('POST', `/orders/${id}/payments`, { provider: 'test', method_token: 'test_ok' });
  expect([(await pay(first.id)).status, (await pay(second.id)).body.code]).toEqual([201, 'limit_exceeded']);
  expect((await key.authorization()).budget).toMatchObject({ spent: 80 });
});

test('two keys have separate budgets', async () => {
  const [first, second] = [await createKey(monthly(100)), await createKey(monthly(100))];
  expect([(await first.order(10)).status, (await second.order(10)).status]).toEqual([201, 201]);
});

describe('invalid limits are rejected, and no key is created', () => {
  test.each([
    ['a negative amount', { limits: { currency: 'EUR', per_order: -1 } }, '/limits/per_order'],
    ['zero', { limits: { currency: 'EUR', per_order: 0 } }, '/limits/per_order'],
    ['a fraction', { limits: { currency: 'EUR', per_order: 1.5 } }, '/limits/per_order'],
    ['an amount above 2^53-1', { limits: { currency: 'EUR', per_order: 9007199254740992 } }, '/limits/per_order'],
    ['an unknown currency', { limits: { currency: 'XXY', per_order: 1 } }, '/limits/currency'],
    ['an end in the past', { valid_until: '2026-01-01T00:00:00Z' }, '/valid_until'],
    ['an unknown time zone', { time_zone: 'Mars/Olympus' }, '/time_zone'],
  ])('%s', async (_name, limits, pointer) => {
    const { created, call, token } = await createKey(limits);
    expect([created.status, created.body.code, created.body.errors[0].pointer]).toEqual([
      400,
      'invalid_request',
      `#/order_limits${pointer}`,
    ]);
    expect((await call('GET', '/api-keys', undefined, token)).body.data).toEqual([]);
  });
});
