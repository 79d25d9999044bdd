import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { cancelExpiredOrders } from '../../../server/order-lifecycle/cancel-expired-orders.ts';
import { obtainLimitedTokens, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { connectLimitedApplication } from '../../support/shop/limited-application.ts';
import { afterOrderHold, withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop(undefined, { previewVersions: true });

const scopes: Scope[] = ['orders.read', 'orders.write', 'payments.read', 'payments.write'];
const monthly = (perPeriod: number): RequestedLimits => ({ limits: { currency: 'EUR', per_period: perPeriod, period: 'month' } });

const connect = (details: RequestedLimits, moreScopes: readonly Scope[] = []) => connectLimitedApplication(till, details, moreScopes);

const em = () => till.mandate.db.em.fork();

describe('a limit per order', () => {
  test('permits an order of exactly the limit, and rejects a larger order without writing anything', async () => {
    const app = await connect({ limits: { currency: 'EUR', per_order: 100 } });
    expect((await app.order(10)).status).toBe(201);
    const [before] = await em().execute('select (select count(*) from orders) as orders, (select count(*) from events) as events');
    const { status, body } = await app.order(11);
    expect([status, body.code]).toEqual([403, 'limit_exceeded']);
    expect(body.detail).toBe(
      'The customer allows 1.00 EUR per order, and this order costs 1.10 EUR. Lower the total, or request approval of a quote with POST /api/v1/approvals. The customer can change this on the /account/apps page.',
    );
    expect(body.errors).toMatchObject([{ pointer: '#/items', code: 'limit_exceeded', limit: 100, requested: 110, available: 100 }]);
    expect(await em().execute('select (select count(*) from orders) as orders, (select count(*) from events) as events')).toEqual([before]);
  });

  test('applies to version 2 of the API and to dry runs', async () => {
    const app = await connect({ limits: { currency: 'EUR', per_order: 100 } });
    expect((await app.order(11, '/api/v1/orders?dry_run=true')).body.code).toBe('limit_exceeded');
    const product = await till.shop.createProduct({ price: 101 });
    const v2 = {
      items: [{ product_id: product.id, quantity: 1 }],
      shipping_method: 'pickup',
      shipping_address: { recipient_name: 'Anna Test' },
    };
    expect((await app.call('POST', '/api/v2/orders', v2)).body.code).toBe('limit_exceeded');
  });

  test('rejects an order in another currency', async () => {
    const app = await connect({ limits: { currency: 'EUR', per_order: 100 } });
    const product = await till.shop.createProduct({ price: 1, currency: 'USD' });
    const items = [{ product_id: product.id, quantity: 1 }];
    const { body } = await app.call('POST', '/api/v1/orders', { items, delivery: { ...pickupDelivery, method: 'overseas' } });
    expect([body.code, body.detail]).toEqual(['limit_exceeded', expect.stringContaining('only orders in EUR, but this order is in USD')]);
  });

  test('reports errors in the request first', async () => {
    const app = await connect({ limits: { currency: 'EUR', per_order: 100 } });
    const items = [{ product_id: 999_999_999, quantity: 1 }];
    expect((await app.call('POST', '/api/v1/orders', { items, delivery: pickupDelivery })).body.code).toBe('invalid_request');
  });
});

describe('a budget per period', () => {
  test('limits the sum of all orders, and the problem states the spent and the remaining amount', async () => {
    const app = await connect(monthly(100));
    expect([(await app.order(6)).status, (await app.order(3)).status]).toEqual([201, 201]);
    const { status, body } = await app.order(2);
    expect([status, body.code]).toEqual([403, 'limit_exceeded']);
    expect(body.detail).toMatch(
      /^The customer allows 1\.00 EUR per month\. 0\.90 EUR has already been spent, 0\.10 EUR remains, and this order costs 0\.20 EUR\. Lower the total, or wait until \d{4}-\d{2}-01T00:00:00\.000Z, or request approval /,
    );
    expect(body.errors).toMatchObject([{ limit: 100, spent: 90, requested: 20, available: 10 }]);
    expect((await app.order(1)).status).toBe(201);
    expect(await app.budget()).toMatchObject({ spent: 100, remaining: 0 });
  });

  test('a canceled order returns its amount', async () => {
    const app = await connect(monthly(100));
    const { body: order } = await app.order(10);
    expect((await app.order(1)).status).toBe(403);
    expect((await app.call('POST', `/api/v1/orders/${order.id}/cancellation`, {})).status).toBe(201);
    expect(await app.budget()).toMatchObject({ spent: 0, remaining: 100 });
    expect((await app.order(10)).status).toBe(201);
  });

  test('an expired order and an order whose payment was declined return their amounts', async () => {
    const app = await connect(monthly(100));
    const [unpaid, declined] = [await app.order(5), await app.order(5)];
    expect((await app.pay(declined.body.id, 'test_declined')).body.status).toBe('failed');
    await cancelExpiredOrders(em(), till.providers, afterOrderHold());
    const reasons = await Promise.all(
      [unpaid, declined].map(async ({ body }) => (await app.call('GET', `/api/v1/orders/${body.id}`)).body.cancel_reason),
    );
    expect([reasons, await app.budget()]).toMatchObject([['payment_expired', 'payment_failed'], { spent: 0 }]);
  });

  test('a refund returns the refunded amount', async () => {
    const app = await connect(monthly(100));
    const { body: order } = await app.order(10);
    const { body: payment } = await app.pay(order.id);
    expect([payment.status, await app.budget()]).toMatchObject(['succeeded', { spent: 100 }]);
    expect((await till.post(`/orders/${order.id}/refunds`, { amount: 30, reason: 'damaged' })).status).toBe(201);
    expect(await app.budget()).toMatchObject({ spent: 70, remaining: 30 });
    expect([(await app.order(4)).status, (await app.order(3)).status]).toEqual([403, 201]);
  });

  test('is available in full in the next period', async () => {
    const app = await connect(monthly(100));
    expect((await app.order(10)).status).toBe(201);
    await em().execute(
      `update budgeted_orders set counted_at = date_trunc('month', now()) - interval '1 second'
        where grant_id in (select grant_id from connections where user_id = ?)`,
      [app.anna.id],
    );
    expect(await app.budget()).toMatchObject({ spent: 0, remaining: 100 });
    expect((await app.order(10)).status).toBe(201);
  });

  test('starts at midnight in the time zone of the customer', async () => {
    const { mandate } = till;
    const anna = await signUp(mandate.origin);
    const details = { limits: { currency: 'EUR', per_period: 100, period: 'day' } };
    const form = { time_zone: 'Pacific/Auckland' };
    const { access_token: token } = await obtainLimitedTokens(mandate.origin, anna, scopes, details, form);
    const { budget } = (await mandate.callApi('GET', '/api/v1/authorization', { token })).body;
    expect(budget.time_zone).toBe('Pacific/Auckland');
    const local = new Intl.DateTimeFormat('en-GB', { timeZone: 'Pacific/Auckland', timeStyle: 'medium' });
    expect([local.format(new Date(budget.starts_at)), local.format(new Date(budget.ends_at))]).toEqual(['00:00:00', '00:00:00']);
  });

  test.each([
    ['month', 'Europe/London', '2026-03-31T22:59:59Z', '2026-03-01T00:00:00Z', '2026-03-31T23:00:00Z'],
    ['month', 'Europe/London', '2026-03-31T23:00:00Z', '2026-03-31T23:00:00Z', '2026-04-30T23:00:00Z'],
    ['week', 'UTC', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['day', 'America/New_York', '2026-03-08T12:00:00Z', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
  ])('a %s in %s that contains %s lasts from %s to %s', async (period, zone, at, start, end) => {
    const [row] = await em().execute<{ starts: string | Date; ends: string | Date }[]>(
      'select mandate_budget_starts_v1(?, ?, ?::timestamptz) as starts, mandate_budget_ends_v1(?, ?, ?::timestamptz) as ends',
      [period, zone, at, period, zone, at],
    );
    expect([new Date(row?.starts ?? ''), new Date(row?.ends ?? '')]).toEqual([new Date(start), new Date(end)]);
  });

  test('each grant has its own budget', async () => {
    const app = await connect(monthly(100));
    expect((await app.order(10)).status).toBe(201);
    const { access_token: token } = await obtainLimitedTokens(till.mandate.origin, app.anna, scopes, monthly(50));
    const { budget } = (await till.mandate.callApi('GET', '/api/v1/authorization', { token })).body;
    expect(budget).toMatchObject({ limit: 50, spent: 0 });
  });
});

describe('a payment', () => {
  /** Places an order for the customer through an application that has no limits. */
  async function placeOrderOfCustomer(app: Awaited<ReturnType<typeof connect>>, quantity: number): Promise<number> {
    const { access_token: token } = await obtainTokens(till.mandate.origin, app.anna, ['orders.write']);
    const product = await till.shop.createProduct({ price: 10 });
    const body = { items: [{ product_id: product.id, quantity }], delivery: pickupDelivery };
    return (await till.mandate.callApi('POST', '/api/v1/orders', { token, body })).body.id;
  }

  test('of an order that the customer placed counts toward the budget, once', async () => {
    const app = await connect(monthly(100));
    const orderId = await placeOrderOfCustomer(app, 8);
    expect((await app.pay(orderId, 'test_declined')).body.status).toBe('failed');
    expect(await app.budget()).toMatchObject({ spent: 80 });
    expect((await app.pay(orderId)).body.status).toBe('succeeded');
    expect(await app.budget()).toMatchObject({ spent: 80 });
    expect((await app.order(3)).body.code).toBe('limit_exceeded');
  });

  test('above a limit is rejected', async () => {
    const app = await connect({ limits: { currency: 'EUR', per_order: 100, per_period: 150, period: 'month' } });
    const [tooLarge, first, second] = [
      await placeOrderOfCustomer(app, 11),
      await placeOrderOfCustomer(app, 8),
      await placeOrderOfCustomer(app, 8),
    ];
    expect((await app.pay(tooLarge)).body).toMatchObject({ code: 'limit_exceeded', errors: [{ limit: 100, requested: 110 }] });
    expect((await app.pay(first)).status).toBe(201);
    expect((await app.pay(second)).body).toMatchObject({ code: 'limit_exceeded', errors: [{ limit: 150, spent: 80, requested: 80 }] });
  });
});

describe('an action that the customer did not allow', () => {
  test.each([
    ['place', ['pay', 'cancel']],
    ['cancel', ['place', 'pay']],
    ['pay', ['place', 'cancel']],
  ])('%s is rejected', async (action, actions) => {
    const app = await connect({ actions });
    const { access_token: unlimited } = await obtainTokens(till.mandate.origin, app.anna, ['orders.write']);
    const order = await till.shop.placeOrder({}, unlimited);
    const responses: Record<string, ApiResponse> = {
      place: await app.order(1),
      change: await app.call('PATCH', `/api/v1/orders/${order.id}`, { note: 'changed' }),
      cancel: await app.call('POST', `/api/v1/orders/${order.id}/cancellation?dry_run=true`, {}),
      pay: await app.pay(order.id),
    };
    const rejected = Object.entries(responses).filter(([, { status }]) => status === 403);
    expect(rejected.map(([name]) => name)).toEqual(action === 'place' ? ['place', 'change'] : [action]);
    for (const [, { body }] of rejected)
      expect(body).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('did not allow') });
  });

  test('after `valid_until`, no action is allowed, but orders can still be read', async () => {
    const app = await connect({ valid_until: new Date(Date.now() + 60_000).toISOString() });
    const { body: order } = await app.order(1);
    await em().execute(
      `update order_limits set valid_until = now() - interval '1 second' where grant_id in (select grant_id from connections where user_id = ?)`,
      [app.anna.id],
    );
    const responses = [await app.order(1), await app.pay(order.id), await app.call('POST', `/api/v1/orders/${order.id}/cancellation`, {})];
    expect(responses.map(({ body }) => body.code)).toEqual(['forbidden', 'forbidden', 'forbidden']);
    expect(responses[0]?.body.detail).toContain('The customer allowed this application to place, pay for and cancel orders until ');
    expect((await app.call('GET', `/api/v1/orders/${order.id}`)).status).toBe(200);
  });
});

test('an application with limits cannot create an API key, which would have no limits', async () => {
  const app = await connect(monthly(100), ['api_keys.manage']);
  const { status, body } = await app.call('POST', '/api/v1/api-keys', { name: 'Bypass', scopes: ['orders.write'] });
  expect([status, body.code, body.detail]).toEqual([403, 'forbidden', expect.stringContaining('cannot create API keys')]);
});

// PGlite runs one transaction at a time.
describe.skipIf(databaseKind === 'pglite')('concurrent requests', () => {
  const countOrders = async (userId: number): Promise<number> =>
    Number((await em().execute(`select count(*)::int as n from orders where user_id = ? and status <> 'canceled'`, [userId]))[0]?.n);

  test('of 64 orders of 10 against a budget of 100, exactly ten succeed, and three more after three cancellations', async () => {
    const app = await connect(monthly(100));
    const buyAtOnce = async (): Promise<JsonBody[]> =>
      (await Promise.all(Array.from({ length: 64 }, () => app.order(1)))).filter(({ status }) => status === 201).map(({ body }) => body);
    const placed = await buyAtOnce();
    expect([placed.length, await app.budget()]).toMatchObject([10, { spent: 100, remaining: 0 }]);
    for (const { id } of placed.slice(0, 3)) await app.call('POST', `/api/v1/orders/${id}/cancellation`, {});
    expect([(await buyAtOnce()).length, await countOrders(app.anna.id)]).toEqual([3, 10]);
  });

  test('after a revocation has been acknowledged, no order is placed', async () => {
    const app = await connect(monthly(1_000_000), ['connected_apps.read', 'connected_apps.write']);
    const { body } = await app.call('GET', '/api/v1/connected-apps');
    const connected = body.data.find(({ last_used_at: used }: JsonBody) => used !== null);
    const orders = Array.from({ length: 40 }, () => app.order(1));
    const { access_token: other } = await obtainTokens(till.mandate.origin, app.anna, ['connected_apps.write']);
    const removed = await till.mandate.callApi('DELETE', `/api/v1/connected-apps/${connected.id}`, { token: other });
    const countAtAcknowledgment = await countOrders(app.anna.id);
    expect(removed.status).toBe(204);
    await Promise.all(orders);
    expect(await countOrders(app.anna.id)).toBe(countAtAcknowledgment);
    expect((await app.order(1)).body.code).toBe('revoked_token');
  });
});
