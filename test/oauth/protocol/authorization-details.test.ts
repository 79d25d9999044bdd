import { beginDeviceAuthorization, discover } from '@mandate/client-sdk/authorization';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { approveDevice, expirePollIntervalSql, pollDeviceToken, startDeviceAuthorization } from '../../support/oauth/device-flow.ts';
import {
  obtainLimitedTokens,
  obtainLimitedTokensOfApplication,
  orderDetailsParameter,
  type LimitedTokens,
  type RequestedLimits,
} from '../../support/oauth/limited-tokens.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  cliClient,
  createConfidentialClient,
  createWebApplication,
  obtainTokens,
  redeemCode,
  sendRefreshRequest,
  sendTokenRequest,
  signUp,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const limits = { currency: 'GBP', per_order: 5000, per_period: 20_000, period: 'month' };
const granted = [{ type: 'mandate_orders', actions: ['place', 'pay', 'cancel'], limits, orders: 'all', approval: 'above_limit' }];
const inAYear = new Date(Date.now() + 365 * 24 * 60 * 60_000).toISOString();

const requestError = async (details: string): Promise<Record<string, string>> => {
  const { browser } = await signUp(server.origin);
  const page = await browser.open(
    authorizationPath(buildAuthorizationRequest({ scope: 'openid orders.write', authorization_details: details }).query),
  );
  return Object.fromEntries(page.externalRedirect?.searchParams ?? []);
};

test('the metadata lists the supported type', async () => {
  const metadata = await (await fetch(`${server.origin}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({ authorization_details_types_supported: ['mandate_orders'] });
});

test('the token response, the access token and the introspection response contain the granted details', async () => {
  const anna = await signUp(server.origin);
  const tokens = await obtainLimitedTokens(server.origin, anna, ['orders.write'], { limits, valid_until: inAYear });
  const expected = [{ ...granted[0], valid_until: inAYear }];
  expect(tokens.authorization_details).toEqual(expected);
  expect(decodeJwt(tokens.access_token)).toMatchObject({ authorization_details: expected });

  const client = await createWebApplication(server.db, ['orders.write']);
  const { query, verifier } = buildAuthorizationRequest({
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: 'orders.write',
    authorization_details: orderDetailsParameter({ limits }),
  });
  const page = await anna.browser.submit(await anna.browser.open(authorizationPath(query)), { decision: 'allow' });
  const form = {
    grant_type: 'authorization_code',
    code: page.externalRedirect?.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: client.redirectUri,
  };
  const credentials = basicAuthorization(client.clientId, client.secret);
  const response = tokenResponseSchema.parse(await (await sendTokenRequest(server.origin, form, credentials)).json());
  for (const token of [response.access_token, response.refresh_token ?? '']) {
    const introspection = await fetch(`${server.origin}/oauth/introspection`, {
      method: 'POST',
      headers: credentials,
      body: new URLSearchParams({ token }),
    });
    expect(await introspection.json()).toMatchObject({ active: true, authorization_details: [{ ...granted[0], orders: 'own' }] });
  }
});

test('a request without API scopes is accepted', async () => {
  const tokens = await obtainLimitedTokens(server.origin, await signUp(server.origin), [], { limits });
  expect(tokens.authorization_details).toEqual(granted);
});

describe('invalid details return invalid_authorization_details', () => {
  test.each([
    ['no JSON', '[', 'JSON'],
    ['not a list', '{"type":"mandate_orders"}', 'array'],
    ['an unknown type', '[{"type":"payment_initiation"}]', 'unsupported'],
    ['two objects', '[{"type":"mandate_orders"},{"type":"mandate_orders"}]', 'one object'],
    ['an unknown field', '[{"type":"mandate_orders","shops":["tea"]}]', 'unknown field: shops'],
    ['an unknown field of the products', '[{"type":"mandate_orders","products":{"skus":["tea"]}}]', 'products'],
    ['no categories', orderDetailsParameter({ products: { categories: [] } }), 'products.categories'],
    ['an empty category', orderDetailsParameter({ products: { categories: [''] } }), 'products.categories.0'],
    ['a category twice', orderDetailsParameter({ products: { categories: ['tea', 'tea'] } }), 'must not contain tea twice'],
    [
      'too many categories',
      orderDetailsParameter({ products: { categories: Array.from({ length: 51 }, (_, i) => `c${i}`) } }),
      'categories',
    ],
    [
      'a category that no product has',
      orderDetailsParameter({ products: { categories: ['tea'] } }),
      'no product for sale is in the category tea',
    ],
    ['an unknown approval mode', '[{"type":"mandate_orders","approval":"sometimes"}]', 'approval'],
    ['an unknown action', '[{"type":"mandate_orders","actions":["refund"]}]', 'actions.0'],
    ['no actions', '[{"type":"mandate_orders","actions":[]}]', 'actions'],
    ['an unknown currency', orderDetailsParameter({ limits: { currency: 'XXY', per_order: 1 } }), 'limits.currency'],
    ['a negative amount', orderDetailsParameter({ limits: { currency: 'GBP', per_order: -1 } }), 'limits.per_order'],
    ['zero', orderDetailsParameter({ limits: { currency: 'GBP', per_order: 0 } }), 'limits.per_order'],
    ['a fraction', orderDetailsParameter({ limits: { currency: 'GBP', per_order: 1.5 } }), 'limits.per_order'],
    ['an amount above 2^53-1', orderDetailsParameter({ limits: { currency: 'GBP', per_order: 9007199254740992 } }), 'limits.per_order'],
    ['no amount', orderDetailsParameter({ limits: { currency: 'GBP' } }), 'limits.per_order'],
    ['a budget without a period', orderDetailsParameter({ limits: { currency: 'GBP', per_period: 1 } }), 'limits.period'],
    ['an unknown period', orderDetailsParameter({ limits: { currency: 'GBP', per_period: 1, period: 'year' } }), 'limits.period'],
    ['an end in the past', orderDetailsParameter({ valid_until: '2026-01-01T00:00:00Z' }), 'in the future'],
    ['an end without a time', orderDetailsParameter({ valid_until: '2027-01-01' }), 'valid_until'],
  ])('%s', async (_name, details, description) => {
    expect(await requestError(details)).toMatchObject({
      error: 'invalid_authorization_details',
      error_description: expect.stringContaining(description),
    });
  });

  test('from the endpoint for pushed requests and from the device authorization endpoint', async () => {
    const invalid = { authorization_details: '[{"type":"other"}]', scope: 'openid orders.write' };
    const responses = [
      await fetch(`${server.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(buildAuthorizationRequest(invalid).query) }),
      await fetch(`${server.origin}/oauth/device-authorization`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: cliClient.clientId, ...invalid }),
      }),
    ];
    for (const response of responses) expect(await response.json()).toMatchObject({ error: 'invalid_authorization_details' });
  });

  test('for an application that acts on its own behalf', async () => {
    const client = await createConfidentialClient(server.db, ['orders.manage']);
    const form = { grant_type: 'client_credentials', authorization_details: orderDetailsParameter({ limits }) };
    const response = await sendTokenRequest(server.origin, form, basicAuthorization(client.clientId, client.secret));
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_authorization_details' }]);
  });
});

test('a pushed authorization request can contain details', async () => {
  const { browser } = await signUp(server.origin);
  const { query, verifier } = buildAuthorizationRequest({
    scope: 'openid orders.write',
    authorization_details: orderDetailsParameter({ limits }),
  });
  const pushed = await fetch(`${server.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(query) });
  const { request_uri: requestUri } = z.object({ request_uri: z.string() }).parse(await pushed.json());
  const page = await browser.open(authorizationPath({ client_id: cliClient.clientId, request_uri: requestUri }));
  expect(page.text).toContain('at most £50.00 each');
  const { externalRedirect: leaves } = await browser.submit(page, { decision: 'allow' });
  const code = leaves?.searchParams.get('code') ?? '';
  const response = await redeemCode(server.origin, { code, verifier, ...cliClient });
  expect(await response.json()).toMatchObject({ authorization_details: granted });
});

test('a device authorization request can contain details', async () => {
  const anna = await signUp(server.origin);
  const details = { authorization_details: orderDetailsParameter({ limits }) };
  const device = await startDeviceAuthorization(server.origin, 'openid orders.write', details);
  await approveDevice(anna, device.user_code);
  await server.db.em.fork().execute(expirePollIntervalSql);
  const tokens = await (await pollDeviceToken(server.origin, device.device_code)).json();
  expect(tokens).toMatchObject({ authorization_details: granted });
});

test("the client's device flow can request limits", async () => {
  const anna = await signUp(server.origin);
  const found = await discover(server.origin);
  const details = { type: 'mandate_orders', limits: { currency: 'GBP', per_order: 5000 } } as const;
  const options = { clientId: cliClient.clientId, scopes: ['openid', 'orders.write'], authorizationDetails: [details] } as const;
  const device = await beginDeviceAuthorization(found, options);
  await approveDevice(anna, device.userCode);
  await server.db.em.fork().execute(expirePollIntervalSql);
  const tokens = await (await pollDeviceToken(server.origin, device.deviceCode)).json();
  expect(tokens).toMatchObject({ authorization_details: [details] });
});

describe('a refresh', () => {
  const refresh = async (tokens: LimitedTokens, details?: Parameters<typeof orderDetailsParameter>[0]) => {
    const form: Record<string, string> = details ? { authorization_details: orderDetailsParameter(details) } : {};
    const response = await sendRefreshRequest(server.origin, tokens.refresh_token ?? '', form);
    return { status: response.status, body: z.custom<LimitedTokens>().parse(await response.json()) };
  };
  const connect = async () => obtainLimitedTokens(server.origin, await signUp(server.origin), ['orders.write'], { limits });

  test('returns the granted details', async () => {
    expect((await refresh(await connect())).body).toMatchObject({ authorization_details: granted });
  });

  test('can narrow the details permanently, but not widen them', async () => {
    const first = await connect();
    const narrower = { actions: ['place'], limits: { ...limits, per_order: 1000 }, valid_until: inAYear };
    const narrowed = await refresh(first, narrower);
    expect(narrowed.body.authorization_details).toEqual([{ type: 'mandate_orders', ...narrower, orders: 'all', approval: 'above_limit' }]);
    const next = await refresh(narrowed.body);
    expect(next.body.authorization_details).toEqual(narrowed.body.authorization_details);
    const widened = await refresh(next.body, { limits });
    expect([widened.status, widened.body]).toMatchObject([400, { error: 'invalid_authorization_details' }]);
    // the rejected request has not used up the refresh token
    expect((await refresh(next.body)).body.authorization_details).toEqual(narrowed.body.authorization_details);
  });

  test('can narrow access to all orders to own orders, but not widen it again', async () => {
    const first = await connect();
    expect((await refresh(first, { limits, orders: 'all' })).body).toMatchObject({ authorization_details: granted });
    const narrowed = await refresh(await connect(), { limits, orders: 'own' });
    const ownOrders = [{ ...granted[0], orders: 'own' }];
    expect([narrowed.body.authorization_details, decodeJwt(narrowed.body.access_token)]).toMatchObject([
      ownOrders,
      { authorization_details: ownOrders },
    ]);
    const widened = await refresh(narrowed.body, { limits, orders: 'all' });
    expect([widened.status, widened.body]).toMatchObject([
      400,
      { error: 'invalid_authorization_details', error_description: 'orders permits more than the user allowed' },
    ]);
    expect((await refresh(narrowed.body, { limits })).body.authorization_details).toEqual(ownOrders);
  });

  test.each([
    ['limits', { actions: ['place'] }],
    ['limits.currency', { limits: { ...limits, currency: 'EUR' } }],
    ['limits.per_order', { limits: { ...limits, per_order: 5001 } }],
    ['limits.per_order', { limits: { currency: 'GBP', per_period: 1, period: 'month' } }],
    ['limits.per_period', { limits: { ...limits, per_period: 20_001 } }],
    ['limits.period', { limits: { ...limits, period: 'day' } }],
  ])('that widens %s is rejected', async (field, details) => {
    const { status, body } = await refresh(await connect(), details);
    expect([status, body]).toMatchObject([
      400,
      { error: 'invalid_authorization_details', error_description: `${field} permits more than the user allowed` },
    ]);
  });

  test('can set limits for a token that had none', async () => {
    const tokens = await obtainTokens(server.origin, await signUp(server.origin), ['orders.write']);
    const { body } = await refresh(tokens, { limits });
    expect(body.authorization_details).toEqual(granted);
  });

  test('repeated within the grace period with other details is not treated as a repetition', async () => {
    const first = await connect();
    const narrower = { limits: { ...limits, per_order: 1000 } };
    const [one, repeated] = [await refresh(first, narrower), await refresh(first, narrower)];
    expect(repeated.body).toEqual(one.body);
    expect((await refresh(first, { limits: { ...limits, per_order: 999 } })).body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('the orders that an application can access', () => {
  const grant = async (details: RequestedLimits | undefined) => {
    const client = await createWebApplication(server.db, ['orders.write']);
    const anna = await signUp(server.origin);
    const tokens = await obtainLimitedTokensOfApplication(server.origin, anna, client, ['orders.write'], details);
    return { client, tokens, orders: tokens.authorization_details?.map(({ orders }) => orders) };
  };

  test('are by default only its own orders, unless the shop operates the application', async () => {
    expect((await grant({ limits })).orders).toEqual(['own']);
    const tokens = await obtainLimitedTokens(server.origin, await signUp(server.origin), ['orders.write'], { limits });
    expect(tokens.authorization_details).toEqual(granted);
  });

  test('are all orders if it requests this', async () => {
    expect((await grant({ orders: 'all' })).orders).toEqual(['all']);
  });

  test('are only its own orders if it requests no details, unless the shop operates the application', async () => {
    const { client, tokens } = await grant(undefined);
    const ownOrders = { type: 'mandate_orders', actions: ['place', 'pay', 'cancel'], orders: 'own', approval: 'above_limit' };
    expect([tokens.authorization_details, decodeJwt(tokens.access_token)]).toMatchObject([
      [ownOrders],
      { authorization_details: [ownOrders] },
    ]);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    const refreshed = await sendTokenRequest(server.origin, form, basicAuthorization(client.clientId, client.secret));
    expect(await refreshed.json()).toMatchObject({ authorization_details: [ownOrders] });
    const ofShop = await obtainLimitedTokens(server.origin, await signUp(server.origin), ['orders.write'], undefined);
    expect(ofShop.authorization_details).toBeUndefined();
  });

  test('must be `own` or `all`', async () => {
    const details = JSON.stringify([{ type: 'mandate_orders', orders: 'some' }]);
    expect(await requestError(details)).toMatchObject({
      error: 'invalid_authorization_details',
      error_description: expect.stringContaining('orders: '),
    });
  });
});
