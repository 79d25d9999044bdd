import { describe, expect, test } from 'vitest';
import { decodeJwt } from 'jose';
import { obtainLimitedTokens, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  obtainAuthorizationCode,
  obtainTokens,
  sendRefreshRequest,
  signUp,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

const monthly = (perPeriod: number) => ({ limits: { currency: 'EUR', per_period: perPeriod, period: 'month' } });

/** Connects two applications to a new user's account. The user manages the first application through the second one. */
async function connect(limits?: RequestedLimits) {
  const anna = await signUp(shop.origin);
  const tokens = await obtainLimitedTokens(shop.origin, anna, ['orders.write', 'connected_apps.read', 'connected_apps.write'], limits);
  const own = await shop.callApi('GET', '/api/v1/connected-apps', { token: tokens.access_token });
  const { id }: JsonBody = own.body.data[0];
  const { access_token: manager } = await obtainTokens(shop.origin, anna, ['connected_apps.read', 'connected_apps.write']);
  const product = await shop.createProduct({ price: 10, stock: 1_000_000 });
  const path = `/api/v1/connected-apps/${id}/limits`;
  return {
    anna,
    id,
    path,
    tokens,
    order: (quantity: number): Promise<ApiResponse> =>
      shop.callApi('POST', '/api/v1/orders', { token: tokens.access_token, body: buildOrderInput([product, quantity]) }),
    call: (method: string, body?: unknown, token = manager): Promise<ApiResponse> =>
      shop.callApi(method, path, { token, ...(body !== undefined && { body }) }),
    budget: async (): Promise<JsonBody> => (await shop.callApi('GET', '/api/v1/authorization', { token: tokens.access_token })).body.budget,
  };
}

describe('PUT /connected-apps/{connected_app_id}/limits', () => {
  test('limits an application that had no limits, from the next request on', async () => {
    const app = await connect();
    expect((await app.order(50)).status).toBe(201);
    const { status, body } = await app.call('PUT', { ...monthly(100), actions: ['place'], time_zone: 'Europe/London' });
    expect([status, body]).toMatchObject([
      200,
      {
        authorization_details: [{ type: 'mandate_orders', actions: ['place'], ...monthly(100) }],
        budget: { limit: 100, spent: 0, time_zone: 'Europe/London' },
      },
    ]);
    expect((await app.call('GET')).body).toEqual(body);
    expect([(await app.order(11)).body.code, (await app.order(10)).status]).toEqual(['limit_exceeded', 201]);
    const refreshed = await sendRefreshRequest(shop.origin, app.tokens.refresh_token ?? '');
    const next: JsonBody = await refreshed.json();
    expect([next.authorization_details, decodeJwt(next.access_token)]).toMatchObject([
      body.authorization_details,
      { authorization_details: body.authorization_details },
    ]);
  });

  test('lowers and raises limits, and keeps the spent amount', async () => {
    const app = await connect(monthly(100));
    expect((await app.order(6)).status).toBe(201);
    await app.call('PUT', monthly(50));
    expect([await app.budget(), (await app.order(1)).body.code]).toMatchObject([{ spent: 60, remaining: 0 }, 'limit_exceeded']);
    await app.call('PUT', monthly(80));
    expect([(await app.order(2)).status, (await app.order(1)).body.code]).toEqual([201, 'limit_exceeded']);
  });

  test('forgets the consent, so that the application cannot silently get access without limits', async () => {
    const anna = await signUp(shop.origin);
    const client = await createWebApplication(shop.db, ['orders.write']);
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid orders.write' };
    await obtainAuthorizationCode(shop.origin, anna, request);
    await shop.db.em.fork().execute('update connections set last_used_at = now() where client_id = ?', [client.clientId]);
    const [row] = await shop.db.em.fork().execute<{ id: number }[]>('select id from connections where client_id = ?', [client.clientId]);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['connected_apps.write']);
    const set = await shop.callApi('PUT', `/api/v1/connected-apps/${row?.id}/limits`, { token, body: monthly(100) });
    expect(set.status).toBe(200);
    const page = await anna.browser.open(authorizationPath(buildAuthorizationRequest(request).query));
    expect(page.url.pathname).toMatch(/^\/consent\//);
  });

  test.each([
    [{ limits: { currency: 'EUR', per_order: 0 } }, '#/limits/per_order'],
    [{ limits: { currency: 'EUR', per_order: -1 } }, '#/limits/per_order'],
    [{ limits: { currency: 'EUR', per_order: 1.5 } }, '#/limits/per_order'],
    [{ limits: { currency: 'EUR', per_order: 9007199254740992 } }, '#/limits/per_order'],
    [{ limits: { currency: 'XXY', per_order: 1 } }, '#/limits/currency'],
    [{ limits: { currency: 'EUR', per_period: 1 } }, '#/limits/period'],
    [{ valid_until: '2026-01-01T00:00:00Z' }, '#/valid_until'],
    [{ time_zone: 'Mars/Olympus' }, '#/time_zone'],
    [{ products: [] }, '#/products'],
  ])('400 for %o', async (body, pointer) => {
    const app = await connect();
    const response = await app.call('PUT', body);
    expect([response.status, response.body.errors]).toMatchObject([400, [{ pointer }]]);
    expect((await app.call('GET')).body.authorization_details).toEqual([]);
  });

  test('404 for an application of another user, which is not changed', async () => {
    const [app, other] = [await connect(monthly(100)), await connect()];
    const { access_token: token } = await obtainTokens(shop.origin, other.anna, ['connected_apps.read', 'connected_apps.write']);
    const responses = [
      await app.call('GET', undefined, token),
      await app.call('PUT', {}, token),
      await app.call('DELETE', undefined, token),
    ];
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await app.call('GET')).body.authorization_details).toMatchObject([monthly(100)]);
  });

  test('403 for an application with limits, which could raise its own', async () => {
    const app = await connect(monthly(100));
    const responses = [
      await app.call('PUT', monthly(1_000_000), app.tokens.access_token),
      await app.call('DELETE', undefined, app.tokens.access_token),
    ];
    expect(responses.map(({ body }) => body.code)).toEqual(['forbidden', 'forbidden']);
    expect(await app.budget()).toMatchObject({ limit: 100 });
  });

  test('is audited', async () => {
    const app = await connect();
    await app.call('PUT', monthly(100));
    await app.call('DELETE');
    const events = await shop.db.em
      .fork()
      .execute<{ details: JsonBody }[]>(
        `select details from audit_events where action = 'connected_app.limits_changed' and user_id = ? order by id`,
        [app.anna.id],
      );
    expect(events.map(({ details }) => details.limits)).toEqual([expect.stringContaining('"per_period":100'), 'none']);
  });
});

describe('the orders that an application can access', () => {
  /** Reads an order that the application placed and an order that it did not place. Returns both response statuses. */
  const readOrders = async ({ anna, tokens, order }: Awaited<ReturnType<typeof connect>>): Promise<number[]> => {
    const [own, other] = [(await order(1)).body, await shop.placeOrder({ user_id: anna.id }, shop.token)];
    const get = ({ id }: JsonBody) => shop.callApi('PATCH', `/api/v1/orders/${id}`, { token: tokens.access_token, body: { note: 'Note' } });
    return [(await get(own)).status, (await get(other)).status];
  };
  const ordersOf = async (app: Awaited<ReturnType<typeof connect>>): Promise<unknown[]> =>
    (await app.call('GET')).body.authorization_details.map(({ orders }: JsonBody) => orders);

  test('can be reduced to its own orders, from the next request on, and extended again to what it requested', async () => {
    const app = await connect({ orders: 'all' });
    expect(await readOrders(app)).toEqual([200, 200]);
    expect((await app.call('PUT', { orders: 'own' })).body.authorization_details).toMatchObject([{ orders: 'own' }]);
    expect(await readOrders(app)).toEqual([200, 404]);
    await app.call('PUT', monthly(100_000));
    expect([await ordersOf(app), await readOrders(app)]).toEqual([['own'], [200, 404]]);
    await app.call('PUT', { orders: 'all' });
    expect(await readOrders(app)).toEqual([200, 200]);
  });

  test('cannot be extended beyond what it requested, not even by removing the limits', async () => {
    const app = await connect({ ...monthly(100), orders: 'own' });
    const extended = await app.call('PUT', { orders: 'all' });
    expect([extended.status, extended.body.errors]).toMatchObject([400, [{ pointer: '#/orders', code: 'out_of_range' }]]);
    expect((await app.call('DELETE')).status).toBe(204);
    const ownOrders = { type: 'mandate_orders', actions: ['place', 'pay', 'cancel'], orders: 'own', approval: 'above_limit' };
    expect((await app.call('GET')).body).toEqual({
      authorization_details: [ownOrders],
      customer_limits: [ownOrders],
      budget: null,
      budgets: [],
    });
    expect([(await app.order(11)).status, await readOrders(app)]).toEqual([201, [200, 404]]);
  });

  test('are stated on the account pages, where the customer can reduce them', async () => {
    const text = 'can access only orders that it placed itself, not your other orders.';
    const app = await connect({ orders: 'all' });
    const page = await app.anna.browser.open(`/account/apps/${app.id}/limits`);
    expect([page.text.includes('All of your orders'), page.text.includes(text)]).toEqual([true, false]);
    expect((await app.anna.browser.open('/account/apps')).text).not.toContain(text);
    await app.anna.browser.submit(page, { decision: 'save', limit_orders: 'own' });
    expect([await ordersOf(app), await readOrders(app)]).toEqual([['own'], [200, 404]]);
    expect((await app.anna.browser.open('/account/apps')).text).toContain(text);
    await app.anna.browser.submit(await app.anna.browser.open(`/account/apps/${app.id}/limits`), {
      decision: 'save',
      limit_per_order: '9',
    });
    expect(await ordersOf(app)).toEqual(['own']);
  });

  test('cannot be extended on the account page beyond what it requested', async () => {
    const app = await connect({ orders: 'own' });
    const page = await app.anna.browser.open(`/account/apps/${app.id}/limits`);
    expect([page.text.includes('orders that it placed itself'), page.text.includes('name="limit_orders"')]).toEqual([true, false]);
    await app.anna.browser.submit(page, { decision: 'save', limit_orders: 'all' });
    expect(await ordersOf(app)).toEqual(['own']);
    await app.anna.browser.submit(await app.anna.browser.open(`/account/apps/${app.id}/limits`), { decision: 'remove' });
    expect(await ordersOf(app)).toEqual(['own']);
  });
});

test('DELETE /connected-apps/{connected_app_id}/limits removes the limits', async () => {
  const app = await connect(monthly(100));
  expect((await app.order(11)).status).toBe(403);
  expect((await app.call('DELETE')).status).toBe(204);
  expect([(await app.order(11)).status, await app.budget()]).toEqual([201, null]);
  expect((await app.call('GET')).body).toEqual({ authorization_details: [], customer_limits: [], budget: null, budgets: [] });
});

describe('the account page', () => {
  const openLimits = ({ browser }: TestUser, id: number) => browser.open(`/account/apps/${id}/limits`);

  test('links to the limits of an application, and shows and changes them', async () => {
    const app = await connect(monthly(100));
    expect((await app.anna.browser.open('/account/apps')).text).toContain(`/account/apps/${app.id}/limits`);
    const page = await openLimits(app.anna, app.id);
    expect(page.text).toMatch(/name="limit_per_period"[^>]*value="1.00"/);
    const saved = await app.anna.browser.submit(page, {
      decision: 'save',
      limit_per_order: '0.30',
      limit_per_period: '2',
      limit_period: 'week',
    });
    expect(saved.url.pathname).toBe('/account/apps');
    expect((await app.call('GET')).body.authorization_details).toMatchObject([
      { limits: { currency: 'EUR', per_order: 30, per_period: 200, period: 'week' } },
    ]);
    expect((await app.order(4)).body.code).toBe('limit_exceeded');
  });

  test('shows an error for an invalid amount, and changes nothing', async () => {
    const app = await connect(monthly(100));
    const page = await app.anna.browser.submit(await openLimits(app.anna, app.id), { decision: 'save', limit_per_order: 'much' });
    expect([page.response.status, page.text]).toEqual([422, expect.stringContaining('Enter an amount such as')]);
    expect((await app.call('GET')).body.authorization_details).toMatchObject([monthly(100)]);
  });

  test('removes the limits', async () => {
    const app = await connect(monthly(100));
    await app.anna.browser.submit(await openLimits(app.anna, app.id), { decision: 'remove' });
    expect((await app.call('GET')).body.authorization_details).toEqual([]);
  });

  test('does not show the application of another user', async () => {
    const app = await connect(monthly(100));
    const page = await openLimits(await signUp(shop.origin), app.id);
    expect([page.url.pathname, page.text.includes('Order limits for')]).toEqual(['/account/apps', false]);
  });
});

// PGlite runs one transaction at a time.
test.skipIf(databaseKind === 'pglite')('no order above a lowered limit is placed after the change has been acknowledged', async () => {
  const app = await connect(monthly(1_000_000));
  const countOrders = async (): Promise<number> =>
    Number(
      (await shop.db.em.fork().execute<{ n: number }[]>('select count(*)::int as n from orders where user_id = ?', [app.anna.id]))[0]?.n,
    );
  const orders = Array.from({ length: 40 }, () => app.order(2));
  const changed = await app.call('PUT', { limits: { currency: 'EUR', per_order: 10 } });
  const countAtAcknowledgment = await countOrders();
  expect(changed.status).toBe(200);
  const rejected = (await Promise.all(orders)).filter(({ status }) => status === 403).length;
  expect([await countOrders(), rejected]).toEqual([countAtAcknowledgment, 40 - countAtAcknowledgment]);
});
