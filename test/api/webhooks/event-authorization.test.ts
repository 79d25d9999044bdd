import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Scope } from '@mandate/contract';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { disableEndpointsWithInvalidAccess } from '../../../server/webhooks/endpoints/disable-webhook-endpoint.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import {
  sendTokenRequest,
  obtainAuthorizationCode,
  basicAuthorization,
  obtainClientToken,
  signUp,
  signUpWithRole,
  obtainTokens,
  type ClientCredentials,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { orderDetailsParameter } from '../../support/oauth/limited-tokens.ts';
import { expireRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { deliverPendingEvents, createDeliveryWorker } from '../../support/webhooks/webhook-receiver.ts';
import { withWebhookReceiver } from '../../support/webhooks/with-webhook-receiver.ts';
import { waitUntil } from '../../support/wait-until.ts';

const shop = withShop();
const receiver = withWebhookReceiver(shop);
let anna: TestUser;
let ben: TestUser;

beforeAll(async () => {
  [anna, ben] = [await signUp(shop.origin), await signUp(shop.origin)];
});

const api = (method: string, path: string, token: string, body?: unknown): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1${path}`, { token, ...(body !== undefined && { body }) });
const register = (token: string, events = ['order.created']): Promise<ApiResponse> =>
  api('POST', '/webhook-endpoints', token, { url: receiver.url, events });
async function createOrder(person: TestUser): Promise<number> {
  const items = [{ product_id: (await shop.createProduct()).id, quantity: 1 }];
  return (await api('POST', '/orders', shop.token, { items, delivery: pickupDelivery, user_id: person.id })).body.id;
}
const receivedUserIds = (): number[] => receiver.deliveries.map(({ body }) => body.user_id);

/** Creates a website that users can sign in to, and an access token with which the website acts on its own behalf. */
async function createWebsite(scopes: readonly Scope[]): Promise<ClientCredentials & { redirectUri: string; token: string }> {
  const redirectUri = 'https://site.example/callback';
  const body = {
    name: 'Site',
    type: 'confidential',
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    redirect_uris: [redirectUri],
    scopes,
  };
  const { client_id: clientId, client_secret: secret } = (await api('POST', '/applications', shop.token, body)).body;
  const client = { clientId, secret, redirectUri };
  return { ...client, token: await obtainClientToken(shop.origin, client, scopes) };
}
const tokensSchema = z.object({ access_token: z.string(), refresh_token: z.string() });
type Tokens = z.infer<typeof tokensSchema>;
/** Connects a website that requests access to all of the user's orders. */
async function connect(person: TestUser, site: ClientCredentials & { redirectUri: string }, scopes: readonly Scope[]): Promise<Tokens> {
  const request = {
    client_id: site.clientId,
    redirect_uri: site.redirectUri,
    scope: ['openid', 'offline_access', ...scopes].join(' '),
    authorization_details: orderDetailsParameter({ orders: 'all' }),
  };
  const { code, verifier, redirectUri } = await obtainAuthorizationCode(shop.origin, person, request);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  return tokensSchema.parse(await (await sendTokenRequest(shop.origin, form, basicAuthorization(site.clientId, site.secret))).json());
}
async function revokeToken({ clientId, secret }: ClientCredentials, token: string): Promise<void> {
  const headers = basicAuthorization(clientId, secret);
  const response = await fetch(`${shop.origin}/oauth/revocation`, { method: 'POST', headers, body: new URLSearchParams({ token }) });
  expect(response.status).toBe(200);
}

describe('an application that acts for itself', () => {
  test('receives only events of users who allowed it, within the allowed scopes', async () => {
    const site = await createWebsite(['webhooks.write', 'orders.read', 'users.read']);
    await register(site.token, ['*']);
    await connect(anna, site, ['orders.read']);
    await connect(ben, site, ['users.read']);
    await deliverPendingEvents(shop);
    receiver.deliveries.length = 0;
    await createOrder(anna);
    await createOrder(ben);
    await deliverPendingEvents(shop);
    expect(receiver.deliveries.map(({ body }) => [body.type, body.user_id])).toEqual(
      expect.arrayContaining([
        ['product.created', null],
        ['order.created', anna.id],
      ]),
    );
    expect(receivedUserIds().filter((id) => id !== null)).toEqual([anna.id]);
  });

  test('receives the events of all users if its own scopes permit this, but not because a staff user gave consent', async () => {
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const site = await createWebsite(['webhooks.write', 'orders.read', 'orders.manage']);
    const scopeless = await obtainClientToken(shop.origin, site, ['webhooks.write']);
    await register(scopeless);
    await connect(staff, site, ['orders.read', 'orders.manage']);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([]);
    await register(site.token);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([anna.id]);
  });

  test('receives only events that an administrator currently allows', async () => {
    const site = await createWebsite(['webhooks.write', 'orders.read']);
    await register(site.token);
    await connect(anna, site, ['orders.read']);
    const { body } = await api('GET', '/applications?limit=1', shop.token);
    const path = `/applications/${body.data[0].id}`;
    await api('PATCH', path, shop.token, { scopes: ['webhooks.write'] });
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([]);
    await api('PATCH', path, shop.token, { scopes: ['webhooks.write', 'orders.read'] });
    await createOrder(anna);
    await api('PATCH', path, shop.token, { status: 'disabled' });
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([]);
  });
});

describe('a revoked application', () => {
  const revocations: Record<string, (person: TestUser, site: ClientCredentials, tokens: Tokens) => Promise<unknown>> = {
    'by the user at the API': async (person) => {
      const { access_token: userToken } = await obtainTokens(shop.origin, person, ['connected_apps.read', 'connected_apps.write']);
      const { body } = await api('GET', '/connected-apps', userToken);
      const { id } = body.data.find((app: JsonBody) => app.application.name === 'Site');
      expect((await api('DELETE', `/connected-apps/${id}`, userToken)).status).toBe(204);
    },
    'by the application': (_person, site, tokens) => revokeToken(site, tokens.refresh_token),
    'by reuse of a refresh token': async (_person, site, { refresh_token: used }) => {
      const again = () =>
        sendTokenRequest(shop.origin, { grant_type: 'refresh_token', refresh_token: used }, basicAuthorization(site.clientId, site.secret));
      expect((await again()).status).toBe(200);
      await expireRefreshGrace(shop.db);
      expect((await again()).status).toBe(400);
    },
    'by suspension of the user': async (person) => {
      expect((await api('PATCH', `/users/${person.id}`, shop.token, { status: 'suspended' })).status).toBe(200);
    },
  };

  test.each(Object.entries(revocations))('%s: receives no pending or new events after the response', async (_label, revoke) => {
    const site = await createWebsite(['webhooks.write', 'orders.read']);
    const clara = await signUp(shop.origin);
    await register(site.token);
    const tokens = await connect(clara, site, ['orders.read']);
    await createOrder(clara);
    await assignEventSequenceNumbers(shop.db.em.fork(), createWebhookDeliveriesForEvents); // the delivery is pending
    await revoke(clara, site, tokens);
    await deliverPendingEvents(shop);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toEqual([]);
  });

  test('receives no events after the response, even under constant load', { timeout: 60_000 }, async () => {
    const site = await createWebsite(['webhooks.write', 'orders.read']);
    await register(site.token);
    const deliverer = createDeliveryWorker(shop);
    const deliveryStop = new AbortController();
    let [orders, deliveryRounds] = [0, 0];
    const sending = (async () => {
      while (!deliveryStop.signal.aborted) {
        await assignEventSequenceNumbers(shop.db.em.fork(), createWebhookDeliveriesForEvents);
        await deliverer.run();
        deliveryRounds += 1;
        await setImmediate(); // with the embedded database, a round does no I/O, so no other code could run in the meantime
      }
    })();
    for (let round = 0; round < (databaseKind === 'pglite' ? 1 : 5); round += 1) {
      const dora = await signUp(shop.origin);
      const { refresh_token: token } = await connect(dora, site, ['orders.read']);
      const product = await shop.createProduct({ stock: 1_000 });
      const items = [{ product_id: product.id, quantity: 1 }];
      const orderingStop = new AbortController();
      const ordering = Array.from({ length: 4 }, async () => {
        for (; !orderingStop.signal.aborted; orders += 1)
          await api('POST', '/orders', shop.token, { items, delivery: pickupDelivery, user_id: dora.id });
      });
      await waitUntil(() => receiver.deliveries.filter(({ body }) => body.user_id === dora.id).length >= 5);
      await revokeToken(site, token);
      await setImmediate(); // everything sent before the response has now reached our receiver
      const [before, ordersBefore] = [receiver.deliveries.length, orders];
      await waitUntil(() => orders >= ordersBefore + 20);
      orderingStop.abort();
      await Promise.all(ordering);
      const roundsBefore = deliveryRounds;
      await waitUntil(() => deliveryRounds >= roundsBefore + 2); // the first of these rounds may have started before the last order
      await deliverer.waitUntilIdle();
      expect(receiver.deliveries.slice(before).filter(({ body }) => body.user_id === dora.id)).toEqual([]);
    }
    deliveryStop.abort();
    await sending;
    await deliverer.stop();
  });
});

describe('an endpoint of a user', () => {
  test('created from the command line receives the events that the user can see, even after sign-out', async () => {
    const clara = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, clara, ['webhooks.write', 'orders.read']);
    await register(token);
    await shop.db.em.fork().execute(`delete from oauth_records where account_id = ?`, [String(clara.id)]);
    await createOrder(clara);
    await createOrder(ben);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([clara.id]);
  });

  test('of staff receives the events of all users until the role is removed', async () => {
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const { access_token: token } = await obtainTokens(shop.origin, staffUser, ['webhooks.write', 'orders.manage']);
    await register(token);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([anna.id]);
    await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [staffUser.id]);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([anna.id]);
  });

  test('created with an API key is disabled when the key is revoked', async () => {
    const scopes = ['webhooks.read', 'webhooks.write', 'orders.read'] as const;
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['api_keys.manage', ...scopes]);
    const { key, id: keyId } = (await api('POST', '/api-keys', token, { name: 'Mine', scopes })).body;
    const { id } = (await register(key)).body;
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([anna.id]);
    await api('DELETE', `/api-keys/${keyId}`, token);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([anna.id]);
    expect(await disableEndpointsWithInvalidAccess(shop.db.em.fork())).toBe(1);
    expect((await api('GET', `/webhook-endpoints/${id}`, token)).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'grant_revoked',
    });
  });

  test('created with an application is disabled when the grant is revoked, and other applications cannot access it', async () => {
    const site = await createWebsite(['webhooks.read', 'webhooks.write', 'orders.read']);
    const other = await createWebsite(['webhooks.read', 'webhooks.write']);
    const { access_token: token, refresh_token: refresh } = await connect(anna, site, ['webhooks.read', 'webhooks.write', 'orders.read']);
    const { id } = (await register(token)).body;
    const { access_token: otherToken } = await connect(anna, other, ['webhooks.read', 'webhooks.write']);
    expect((await api('PATCH', `/webhook-endpoints/${id}`, otherToken, { url: 'https://elsewhere.example/' })).status).toBe(404);
    expect((await api('GET', '/webhook-endpoints', otherToken)).body.data).toEqual([]);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([anna.id]);
    await revokeToken(site, refresh);
    await createOrder(anna);
    await deliverPendingEvents(shop);
    expect(receivedUserIds()).toEqual([anna.id]);
    await disableEndpointsWithInvalidAccess(shop.db.em.fork());
    const { access_token: userToken } = await obtainTokens(shop.origin, anna, ['webhooks.read']);
    expect((await api('GET', `/webhook-endpoints/${id}`, userToken)).body).toMatchObject({ disabled_reason: 'grant_revoked' });
  });
});

test('grant events are visible to the user of the grant', async () => {
  const emma = await signUp(shop.origin);
  const site = await createWebsite(['orders.read']);
  const { refresh_token: refresh } = await connect(emma, site, ['orders.read']);
  await revokeToken(site, refresh);
  await assignEventSequenceNumbers(shop.db.em.fork());
  const { access_token: token } = await obtainTokens(shop.origin, emma, ['events.read', 'connected_apps.read']);
  const { body } = await api('GET', '/events?subject_type=grant&limit=100', token);
  const sites = body.data.filter((event: JsonBody) => event.data.object.application.client_id === site.clientId);
  expect(sites.map((event: JsonBody) => [event.type, event.data.object.scopes])).toEqual([
    ['grant.created', ['orders.read']],
    ['grant.revoked', ['orders.read']],
  ]);
  expect(new Set(sites.map((event: JsonBody) => event.subject.id)).size).toBe(1);
});
