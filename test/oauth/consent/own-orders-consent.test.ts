import { expect, test } from 'vitest';
import { obtainLimitedTokensOfApplication } from '../../support/oauth/limited-tokens.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  createWebApplication,
  obtainAuthorizationCode,
  sendTokenRequest,
  signUp,
} from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';

// Tests the consent page for third-party applications that request no `authorization_details`.

const shop = withShop();

const ownOrders = 'can access only orders that it placed itself, not your other orders.';
const hint = 'Later, you can give the application access to all of your orders on your account page.';
const ownOnly = { type: 'mandate_orders', actions: ['place', 'pay', 'cancel'], orders: 'own', approval: 'above_limit' };
const requestOf = ({ clientId, redirectUri }: { clientId: string; redirectUri: string }, scope: string) =>
  authorizationPath(buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope }).query);

test.each([
  ['orders.write', true],
  ['orders.read', false],
  ['payments.read', false],
  ['events.read', false],
  ['webhooks.write', false],
  ['tasks.read', false],
] as const)('an application with the scope %s gets access only to its own orders, as the consent page states', async (scope, hasFields) => {
  const anna = await signUp(shop.origin);
  const client = await createWebApplication(shop.db, [scope]);
  const page = await anna.browser.open(requestOf(client, `openid ${scope}`));
  expect([page.text.includes(ownOrders), page.text.includes(hint), page.text.includes('name="limit_per_order"')]).toEqual([
    true,
    true,
    hasFields,
  ]);
  expect(page.text).not.toContain('name="limit_orders"');
  expect(page.text).not.toMatch(/change, cancel|pay for/);
  const tokens = await obtainLimitedTokensOfApplication(shop.origin, anna, client, [scope], undefined, { limit_orders: 'all' });
  expect(tokens.authorization_details).toEqual([ownOnly]);
});

test('an application with scopes that permit no access to orders is not restricted', async () => {
  const anna = await signUp(shop.origin);
  const client = await createWebApplication(shop.db, ['users.read']);
  expect((await anna.browser.open(requestOf(client, 'openid users.read'))).text).not.toContain(ownOrders);
  const tokens = await obtainLimitedTokensOfApplication(shop.origin, anna, client, ['users.read'], undefined);
  expect(tokens.authorization_details).toBeUndefined();
});

test.each([
  ['de', 'Auf Ihrer Kontoseite können Sie der Anwendung später Zugriff auf alle Ihre Bestellungen geben.'],
  ['fr', 'Vous pourrez donner à l’application l’accès à toutes vos commandes plus tard, sur la page de votre compte.'],
  ['es', 'Más adelante puede dar a la aplicación acceso a todos sus pedidos en la página de su cuenta.'],
])('the restriction is described in the language of the customer: %s', async (language, expected) => {
  const anna = await signUp(shop.origin);
  await anna.browser.open(`/account?language=${language}`);
  const client = await createWebApplication(shop.db, ['orders.read']);
  expect((await anna.browser.open(requestOf(client, 'openid orders.read'))).text).toContain(expected);
});

test('an application signs in again without the consent page, and keeps the restriction', async () => {
  const anna = await signUp(shop.origin);
  const client = await createWebApplication(shop.db, ['orders.write']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid orders.write' };
  await obtainAuthorizationCode(shop.origin, anna, request);
  const { query, verifier } = buildAuthorizationRequest(request);
  const { externalRedirect } = await anna.browser.open(authorizationPath(query));
  const form = {
    grant_type: 'authorization_code',
    code: externalRedirect?.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: client.redirectUri,
  };
  const response = await sendTokenRequest(shop.origin, form, basicAuthorization(client.clientId, client.secret));
  expect(await response.json()).toMatchObject({ authorization_details: [ownOnly] });
});

test('an application gets access only to its own orders at every sign-in, even with preapproved scopes', async () => {
  const anna = await signUp(shop.origin);
  const client = await createWebApplication(shop.db, ['orders.write']);
  await shop.db.em
    .fork()
    .execute(`update applications set preapproved_scopes = '{openid,orders.write}' where client_id = ?`, [client.clientId]);
  for (let signIn = 0; signIn < 2; signIn += 1) {
    const { externalRedirect } = await anna.browser.open(requestOf(client, 'openid orders.write'));
    expect(externalRedirect?.searchParams.get('code')).toBeTruthy();
  }
  const rows = await shop.db.em
    .fork()
    .execute(`select own_orders_only, all_orders_grantable from order_limits join connections using (grant_id) where client_id = ?`, [
      client.clientId,
    ]);
  expect(rows).toEqual([
    { own_orders_only: true, all_orders_grantable: true },
    { own_orders_only: true, all_orders_grantable: true },
  ]);
});

test('an application gets access to all orders if it requests this and the customer does not decline it', async () => {
  const client = await createWebApplication(shop.db, ['orders.read']);
  const anna = await signUp(shop.origin);
  const all = await obtainLimitedTokensOfApplication(shop.origin, anna, client, ['orders.read'], { orders: 'all' });
  const declined = { limit_orders: 'own' };
  const own = await obtainLimitedTokensOfApplication(shop.origin, anna, client, ['orders.read'], { orders: 'all' }, declined);
  expect([all.authorization_details, own.authorization_details]).toMatchObject([[{ orders: 'all' }], [{ orders: 'own' }]]);
  const other = await shop.placeOrder({ user_id: anna.id }, shop.token);
  const read = async ({ access_token: token }: { access_token: string }) =>
    (await shop.callApi('GET', `/api/v1/orders/${other.id}`, { token })).status;
  expect([await read(all), await read(own)]).toEqual([200, 404]);
});

test("a scope that the user's role cannot grant adds neither limits nor the restriction", async () => {
  const anna = await signUp(shop.origin);
  const client = await createWebApplication(shop.db, ['users.read', 'orders.manage']);
  const tokens = await obtainLimitedTokensOfApplication(shop.origin, anna, client, ['users.read', 'orders.manage'], undefined);
  expect([tokens.scope?.split(' ').includes('orders.manage'), tokens.authorization_details]).toEqual([false, undefined]);
});
