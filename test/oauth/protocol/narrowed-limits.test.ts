import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import {
  deleteStoredLimits,
  obtainLimitedTokensOfApplication,
  orderDetailsParameter,
  type LimitedTokens,
  type RequestedLimits,
} from '../../support/oauth/limited-tokens.ts';
import { basicAuthorization, createWebApplication, obtainTokens, sendTokenRequest, signUp } from '../../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const admin = shop.admin(['applications.manage', 'settings.write']);

const scopes: Scope[] = ['orders.write', 'connected_apps.read'];
const perOrder = (amount: number) => ({ currency: 'EUR', per_order: amount });

/** Connects a third-party application. */
async function connect(details: RequestedLimits | undefined) {
  const client = await createWebApplication(shop.db, scopes);
  const anna = await signUp(shop.origin);
  const tokens = await obtainLimitedTokensOfApplication(shop.origin, anna, client, scopes, details);
  const credentials = basicAuthorization(client.clientId, client.secret);
  return {
    anna,
    client,
    tokens,
    refresh: async (token: string | undefined, narrower?: RequestedLimits): Promise<LimitedTokens> => {
      const authorizationDetails = narrower && { authorization_details: orderDetailsParameter(narrower) };
      const form = { grant_type: 'refresh_token', refresh_token: token ?? '', ...authorizationDetails };
      const response = await sendTokenRequest(shop.origin, form, credentials);
      return JSON.parse(await response.text());
    },
    introspect: async (token: string | undefined): Promise<JsonBody> => {
      const body = new URLSearchParams({ token: token ?? '' });
      const response = await fetch(`${shop.origin}/oauth/introspection`, { method: 'POST', headers: credentials, body });
      return JSON.parse(await response.text());
    },
    auditEvents: () =>
      shop.db.em
        .fork()
        .execute<{ actor_id: string | null; client_id: string; details: JsonBody }[]>(
          `select actor_id, client_id, details from audit_events where action = 'connected_app.limits_changed' and user_id = ? order by id`,
          [anna.id],
        ),
    events: async (): Promise<JsonBody[]> => {
      await assignEventSequenceNumbers(shop.db.em.fork());
      const { access_token: token } = await obtainTokens(shop.origin, anna, ['events.read', 'connected_apps.read']);
      const { body } = await shop.callApi('GET', '/api/v1/events?type=grant.updated&limit=100', { token });
      return body.data;
    },
    removeRestriction: () => deleteStoredLimits(shop.db, client.clientId),
  };
}

describe('limits that an application narrows when it refreshes its token', () => {
  test('are recorded in the audit log and as an event, but only if they change', async () => {
    const app = await connect({ limits: perOrder(100) });
    const narrowed = await app.refresh(app.tokens.refresh_token, { limits: perOrder(50) });
    expect(narrowed.authorization_details).toMatchObject([{ limits: perOrder(50) }]);
    await app.refresh(narrowed.refresh_token, { limits: perOrder(50) });
    const { clientId } = app.client;
    expect(await app.auditEvents()).toMatchObject([{ actor_id: null, client_id: clientId, details: { application: clientId } }]);
    expect((await app.auditEvents())[0]?.details.limits).toContain('"per_order":50');
    expect(await app.events()).toMatchObject([
      { subject: { type: 'grant' }, data: { object: { application: { client_id: clientId }, scopes: expect.arrayContaining(scopes) } } },
    ]);
  });

  test('are shown for previously issued tokens, and kept at the next refresh', async () => {
    const app = await connect(undefined);
    await app.removeRestriction();
    const unlimited = await app.refresh(app.tokens.refresh_token);
    const narrowed = await app.refresh(unlimited.refresh_token, { limits: perOrder(50) });
    const expected = [{ limits: perOrder(50), orders: 'own' }];
    for (const token of [unlimited.access_token, narrowed.access_token, narrowed.refresh_token])
      expect(await app.introspect(token)).toMatchObject({ active: true, authorization_details: expected });
    expect((await app.refresh(narrowed.refresh_token)).authorization_details).toMatchObject(expected);
  });
});

test('an application that was connected before the restriction to own orders keeps access to all orders', async () => {
  const app = await connect(undefined);
  await app.removeRestriction();
  const refreshed = await app.refresh(app.tokens.refresh_token);
  const other = await shop.placeOrder({ user_id: app.anna.id }, shop.token);
  const changed = await shop.callApi('PATCH', `/api/v1/orders/${other.id}`, { token: refreshed.access_token, body: { note: 'Note' } });
  expect(changed.status).toBe(200);
  expect(await app.introspect(refreshed.access_token)).not.toHaveProperty('authorization_details');
});

test.each(['the ceiling of the application', 'the maximum of the shop'])('previously issued tokens show %s', async (kind) => {
  const app = await connect(undefined);
  await app.removeRestriction();
  const { access_token: token } = await app.refresh(app.tokens.refresh_token);
  const { body } = await shop.callApi('GET', '/api/v1/applications?limit=100', { token: admin.token });
  const { id } = body.data.find((each: JsonBody) => each.client_id === app.client.clientId);
  const set = (limits: unknown) =>
    kind === 'the maximum of the shop'
      ? shop.callApi('PATCH', '/api/v1/order-limit-settings', { token: admin.token, body: { maximum_limits: limits } })
      : shop.callApi('PATCH', `/api/v1/applications/${id}`, { token: admin.token, body: { order_limits_ceiling: limits } });
  expect((await set(perOrder(70))).status).toBe(200);
  expect(await app.introspect(token)).toMatchObject({ active: true, authorization_details: [{ limits: perOrder(70), orders: 'all' }] });
  await set(null);
  expect(await app.introspect(token)).not.toHaveProperty('authorization_details');
});
