import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import {
  deleteStoredLimits,
  obtainLimitedTokensOfApplication,
  orderDetailsParameter,
  type RequestedLimits,
} from '../../support/oauth/limited-tokens.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  cliClient,
  createWebApplication,
  obtainTokens,
  sendTokenRequest,
  signUp,
} from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop();

const scopes: Scope[] = ['orders.read', 'orders.write', 'payments.write', 'connected_apps.read', 'api_keys.manage'];
const euros = (limits: Record<string, unknown>) => ({ currency: 'EUR', ...limits });
const monthly = (perPeriod: number) => euros({ per_period: perPeriod, period: 'month' });

let application: Awaited<ReturnType<typeof createWebApplication>>;

const callAsAdmin = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  till.mandate.callApi(method, `/api/v1${path}`, { token: till.shop.token, ...(body !== undefined && { body }) });

async function changeApplication(clientId: string, change: Record<string, unknown>): Promise<ApiResponse> {
  const { body } = await callAsAdmin('GET', '/applications?limit=100');
  const { id } = body.data.find((each: JsonBody) => each.client_id === clientId);
  return callAsAdmin('PATCH', `/applications/${id}`, change);
}

const setCeiling = (ceiling: unknown): Promise<ApiResponse> => changeApplication(application.clientId, { order_limits_ceiling: ceiling });
const setShopMaximum = (maximum: unknown): Promise<ApiResponse> =>
  callAsAdmin('PATCH', '/order-limit-settings', { maximum_limits: maximum });

/** Two ways in which an administrator can limit an application. Both have the same effect. */
const administratorLimits = [
  ['the ceiling of the application', setCeiling],
  ['the maximum of the shop', setShopMaximum],
] as const;

beforeEach(async () => {
  application = await createWebApplication(till.mandate.db, scopes);
});
afterEach(() => callAsAdmin('PATCH', '/order-limit-settings', { maximum_limits: null, default_limits: null }));

/** Connects the application to the account of a new customer. */
async function connect(details?: RequestedLimits, consentForm: Record<string, string> = {}) {
  const { mandate, shop } = till;
  const anna = await signUp(mandate.origin);
  const tokens = await obtainLimitedTokensOfApplication(mandate.origin, anna, application, scopes, details, consentForm);
  const product = await shop.createProduct({ price: 10, stock: 1_000_000 });
  const call = (method: string, path: string, body?: unknown, token = tokens.access_token): Promise<ApiResponse> =>
    mandate.callApi(method, `/api/v1${path}`, { token, ...(body !== undefined && { body }) });
  const { id } = (await call('GET', '/connected-apps')).body.data[0];
  return {
    anna,
    id,
    tokens,
    call,
    /** Orders `quantity` units at 10 cents each. */
    order: (quantity: number) => call('POST', '/orders', { items: [{ product_id: product.id, quantity }], delivery: pickupDelivery }),
    authorization: async (): Promise<JsonBody> => (await call('GET', '/authorization')).body,
  };
}

describe.each(administratorLimits)('%s', (_name, limit) => {
  test('limits an existing grant without limits from the next request on, and orders in the period of the first order count', async () => {
    const app = await connect();
    await deleteStoredLimits(till.mandate.db, application.clientId);
    expect((await app.order(50)).status).toBe(201);
    await limit(euros({ per_order: 100, per_period: 150, period: 'month' }));
    const { status, body } = await app.order(11);
    expect([status, body.code, body.detail]).toEqual([
      403,
      'limit_exceeded',
      'The shop allows this application 1.00 EUR per order, and this order costs 1.10 EUR. Lower the total. Only an administrator of the shop can change this.',
    ]);
    expect([(await app.order(10)).status, (await app.order(6)).body.code]).toEqual([201, 'limit_exceeded']);
    expect(await app.authorization()).toMatchObject({
      authorization_details: [{ limits: euros({ per_order: 100, per_period: 150, period: 'month' }) }],
      budget: { limit: 150, spent: 100, remaining: 50 },
    });
    await limit(null);
    expect((await app.order(50)).status).toBe(201);
  });

  test('tightens the limits of an existing grant, and a higher ceiling does not extend them', async () => {
    const app = await connect({ limits: monthly(200) });
    await limit(monthly(100));
    expect(await app.authorization()).toMatchObject({ authorization_details: [{ limits: monthly(100) }], budget: { limit: 100 } });
    expect([(await app.order(11)).body.code, (await app.order(10)).status]).toEqual(['limit_exceeded', 201]);
    await limit(monthly(1_000));
    expect(await app.authorization()).toMatchObject({ budget: { limit: 200, remaining: 100 } });
    expect([(await app.order(11)).body.code, (await app.order(10)).status]).toEqual(['limit_exceeded', 201]);
  });

  test('applies together with a limit of the customer for another period', async () => {
    const app = await connect({ limits: euros({ per_period: 50, period: 'day' }) });
    await limit(monthly(80));
    const { budget: tightest, budgets } = await app.authorization();
    expect(tightest).toMatchObject({ period: 'day', limit: 50, set_by: 'customer' });
    expect(budgets).toMatchObject([tightest, { period: 'month', remaining: 80, set_by: limit === setCeiling ? 'application' : 'shop' }]);
    expect([(await app.order(6)).body.detail, (await app.order(5)).status]).toEqual([
      expect.stringContaining('The customer allows 0.50 EUR per day'),
      201,
    ]);
    await till.mandate.db.em.fork().execute(`update budgeted_orders set counted_at = date_trunc('month', now())`);
    const isFirstDay = new Date().getUTCDate() === 1;
    expect((await app.authorization()).budget).toMatchObject(
      isFirstDay ? { period: 'day', remaining: 0 } : { period: 'month', limit: 80, remaining: 30 },
    );
  });

  test('limits payments for orders that other applications placed', async () => {
    const app = await connect({ orders: 'all' });
    const { access_token: token } = await obtainTokens(till.mandate.origin, app.anna, ['orders.write']);
    const product = await till.shop.createProduct({ price: 110 });
    const { id } = (
      await till.mandate.callApi('POST', '/api/v1/orders', {
        token,
        body: { items: [{ product_id: product.id, quantity: 1 }], delivery: pickupDelivery },
      })
    ).body;
    const pay = () => app.call('POST', `/orders/${id}/payments`, { provider: 'test', method_token: 'test_ok' });
    await limit(euros({ per_order: 100 }));
    expect((await pay()).body).toMatchObject({ code: 'limit_exceeded', detail: expect.stringContaining('The shop allows') });
    await limit(euros({ per_order: 110 }));
    expect((await pay()).status).toBe(201);
  });

  test('a request without limits gets the ceiling, which the consent page states and the customer can tighten', async () => {
    await limit(euros({ per_order: 100, per_period: 150, period: 'month' }));
    const anna = await signUp(till.mandate.origin);
    const { query } = buildAuthorizationRequest({
      client_id: application.clientId,
      redirect_uri: application.redirectUri,
      scope: 'orders.write',
    });
    const page = await anna.browser.open(authorizationPath(query));
    expect(page.text).toContain('permits Test application to place orders of at most €1.00 each and of at most €1.50 per month in total.');
    const higher = await anna.browser.submit(page, { decision: 'allow', limit_per_order: '1.01' });
    expect([higher.response.status, higher.text]).toEqual([422, expect.stringContaining('Enter €1.00 or less')]);
    const unchanged = await connect();
    expect(unchanged.tokens.authorization_details).toMatchObject([{ limits: euros({ per_order: 100, per_period: 150, period: 'month' }) }]);
    const tightened = await connect(undefined, { limit_per_order: '0.50' });
    expect(tightened.tokens.authorization_details).toMatchObject([{ limits: { per_order: 50, per_period: 150 } }]);
    expect((await tightened.order(6)).body.code).toBe('limit_exceeded');
  });

  test('completes a request for fewer limits', async () => {
    await limit(euros({ per_order: 100, per_period: 150, period: 'month' }));
    const app = await connect({ limits: euros({ per_order: 30 }) });
    expect(app.tokens.authorization_details).toMatchObject([{ limits: { per_order: 30, per_period: 150, period: 'month' } }]);
  });

  test.each([
    [
      'a higher amount per order',
      euros({ per_order: 101 }),
      'limits.per_order: for this application, at most 1.00 EUR per order is permitted',
    ],
    ['a higher budget', monthly(151), 'limits.per_period: for this application, at most 1.50 EUR per month is permitted'],
    ['another period', euros({ per_period: 1, period: 'day' }), 'limits.period: for this application, the period must be one month'],
    ['another currency', { currency: 'GBP', per_order: 1 }, 'limits.currency: for this application, only orders in EUR are permitted'],
  ])('rejects a request for %s at every endpoint', async (_request, limits, description) => {
    const expected = { error: 'invalid_authorization_details', error_description: description };
    const app = await connect();
    await limit(euros({ per_order: 100, per_period: 150, period: 'month' }));
    const details = { authorization_details: orderDetailsParameter({ limits }) };
    const { query } = buildAuthorizationRequest({
      client_id: application.clientId,
      redirect_uri: application.redirectUri,
      scope: 'orders.write',
      ...details,
    });
    const { externalRedirect } = await app.anna.browser.open(authorizationPath(query));
    expect(Object.fromEntries(externalRedirect?.searchParams ?? [])).toMatchObject(expected);
    const credentials = basicAuthorization(application.clientId, application.secret);
    const pushed = await fetch(`${till.mandate.origin}/oauth/par`, {
      method: 'POST',
      headers: credentials,
      body: new URLSearchParams(query),
    });
    expect(await pushed.json()).toMatchObject(expected);
    const form = { grant_type: 'refresh_token', refresh_token: app.tokens.refresh_token ?? '', ...details };
    const refreshed = await sendTokenRequest(till.mandate.origin, form, credentials);
    expect(await refreshed.json()).toMatchObject(expected);
    expect((await app.authorization()).authorization_details).toMatchObject([{ limits: { per_order: 100, per_period: 150 } }]);
  });

  test('the customer cannot set limits above the ceiling, neither through the API nor on the account page', async () => {
    const app = await connect();
    await limit(monthly(100));
    const { access_token: manager } = await obtainTokens(till.mandate.origin, app.anna, ['connected_apps.write']);
    const change = (limits: unknown) => app.call('PUT', `/connected-apps/${app.id}/limits`, { limits }, manager);
    expect((await change(monthly(101))).body).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '#/limits/per_period', code: 'out_of_range', detail: expect.stringContaining('at most 1.00 EUR per month') }],
    });
    const page = await app.anna.browser.open(`/account/apps/${app.id}/limits`);
    const higher = await app.anna.browser.submit(page, { decision: 'save', limit_per_period: '1.01' });
    expect([higher.response.status, higher.text]).toEqual([422, expect.stringContaining('Enter €1.00 or less')]);
    expect((await change(monthly(90))).body).toMatchObject({ budget: { limit: 90 } });
    await app.call('DELETE', `/connected-apps/${app.id}/limits`, undefined, manager);
    expect((await app.authorization()).budget).toMatchObject({ limit: 100 });
  });

  test('an application under a ceiling cannot create API keys', async () => {
    const app = await connect();
    await limit(monthly(100));
    const { status, body } = await app.call('POST', '/api-keys', { name: 'Bypass', scopes: ['orders.write'] });
    expect([status, body.code, body.detail]).toEqual([403, 'forbidden', expect.stringContaining('cannot create API keys')]);
  });
});

test('when the application and the shop set limits, the lower one applies', async () => {
  const app = await connect();
  await setCeiling(euros({ per_order: 100 }));
  await setShopMaximum(euros({ per_order: 80, per_period: 150, period: 'month' }));
  expect((await app.authorization()).authorization_details).toMatchObject([{ limits: { per_order: 80, per_period: 150 } }]);
  expect([(await app.order(9)).body.code, (await app.order(8)).status]).toEqual(['limit_exceeded', 201]);
  await setCeiling(euros({ per_order: 60 }));
  expect([(await app.order(7)).body.code, (await app.order(6)).status]).toEqual(['limit_exceeded', 201]);
});

test("the maximum of the shop does not limit the shop's own applications, but a ceiling does", async () => {
  const app = await connect();
  await setShopMaximum(monthly(10));
  expect((await app.order(2)).body.code).toBe('limit_exceeded');
  await changeApplication(application.clientId, { first_party: true });
  expect([(await app.order(2)).status, (await app.authorization()).authorization_details]).toMatchObject([201, [{ orders: 'own' }]]);
  await setCeiling(monthly(10));
  expect((await app.order(2)).body.code).toBe('limit_exceeded');
});

test('a device authorization request above the ceiling is rejected', async () => {
  await changeApplication(cliClient.clientId, { order_limits_ceiling: monthly(100) });
  const form = {
    client_id: cliClient.clientId,
    scope: 'openid orders.write',
    authorization_details: orderDetailsParameter({ limits: monthly(101) }),
  };
  const response = await fetch(`${till.mandate.origin}/oauth/device-authorization`, { method: 'POST', body: new URLSearchParams(form) });
  await changeApplication(cliClient.clientId, { order_limits_ceiling: null });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: 'invalid_authorization_details', error_description: expect.stringContaining('at most 1.00 EUR per month') },
  ]);
});

describe('the default of the shop', () => {
  test('is proposed on the consent page if the application requests no limits, and the customer can raise it up to the maximum', async () => {
    await callAsAdmin('PATCH', '/order-limit-settings', { maximum_limits: monthly(500), default_limits: monthly(100) });
    expect((await connect()).tokens.authorization_details).toMatchObject([{ limits: monthly(100) }]);
    expect((await connect(undefined, { limit_per_period: '5.00' })).tokens.authorization_details).toMatchObject([{ limits: monthly(500) }]);
    expect((await connect({ limits: monthly(300) })).tokens.authorization_details).toMatchObject([{ limits: monthly(300) }]);
  });

  test('can be removed by the customer if there is no maximum', async () => {
    await callAsAdmin('PATCH', '/order-limit-settings', { default_limits: monthly(100) });
    expect((await connect()).tokens.authorization_details).toMatchObject([{ limits: monthly(100) }]);
    const app = await connect(undefined, { limit_per_period: '' });
    expect([app.tokens.authorization_details, (await app.order(50)).status]).toMatchObject([[{ orders: 'own' }], 201]);
  });

  test('limits a preapproved application, whose users see no consent page', async () => {
    await callAsAdmin('PATCH', '/order-limit-settings', { default_limits: monthly(100) });
    await changeApplication(application.clientId, { preapproved_scopes: ['openid', 'offline_access', ...scopes] });
    const anna = await signUp(till.mandate.origin);
    const { query, verifier } = buildAuthorizationRequest({
      client_id: application.clientId,
      redirect_uri: application.redirectUri,
      scope: scopes.join(' '),
    });
    const { externalRedirect } = await anna.browser.open(authorizationPath(query));
    const form = {
      grant_type: 'authorization_code',
      code: externalRedirect?.searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: application.redirectUri,
    };
    const response = await sendTokenRequest(till.mandate.origin, form, basicAuthorization(application.clientId, application.secret));
    expect(await response.json()).toMatchObject({ authorization_details: [{ limits: monthly(100) }] });
  });
});
