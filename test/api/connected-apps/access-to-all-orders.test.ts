import { expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { obtainLimitedTokensOfApplication } from '../../support/oauth/limited-tokens.ts';
import { createWebApplication, obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

// Tests third-party applications that requested no `authorization_details` and can therefore access only their own orders.

const shop = withShop();
const scopes: Scope[] = ['orders.read', 'orders.write'];

/** Connects a third-party application, and places an order through a different application. */
async function connect() {
  const anna = await signUp(shop.origin);
  const client = await createWebApplication(shop.db, scopes);
  const { access_token: token } = await obtainLimitedTokensOfApplication(shop.origin, anna, client, scopes, undefined);
  const { access_token: manager } = await obtainTokens(shop.origin, anna, ['connected_apps.read', 'connected_apps.write', 'events.read']);
  const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token: manager });
  const { id } = body.data.find(({ application }: JsonBody) => application.client_id === client.clientId);
  const product = await shop.createProduct({ price: 10, stock: 1_000_000 });
  const other = await shop.placeOrder({ user_id: anna.id }, shop.token);
  return {
    anna,
    id,
    /** Orders `quantity` units at 10 cents each. */
    order: (quantity: number) => shop.callApi('POST', '/api/v1/orders', { token, body: buildOrderInput([product, quantity]) }),
    manage: (method: string, limits?: unknown): Promise<ApiResponse> =>
      shop.callApi(method, `/api/v1/connected-apps/${id}/limits`, { token: manager, ...(limits !== undefined && { body: limits }) }),
    readOther: async (): Promise<number> => (await shop.callApi('GET', `/api/v1/orders/${other.id}`, { token })).status,
    listOrders: async (): Promise<JsonBody[]> => (await shop.callApi('GET', '/api/v1/orders', { token })).body.data,
    updates: async (): Promise<JsonBody[]> => {
      await assignEventSequenceNumbers(shop.db.em.fork());
      return (await shop.callApi('GET', `/api/v1/events?type=grant.updated&subject_id=${id}&subject_type=grant`, { token: manager })).body
        .data;
    },
  };
}

test('the customer grants access to all orders through the API, and restricts it again', async () => {
  const app = await connect();
  expect([await app.readOther(), await app.listOrders()]).toEqual([404, []]);
  const { status, body } = await app.manage('PUT', { orders: 'all' });
  expect([status, body.authorization_details]).toMatchObject([200, [{ orders: 'all' }]]);
  expect([await app.readOther(), (await app.listOrders()).length]).toEqual([200, 1]);
  await app.manage('PUT', { orders: 'own' });
  expect(await app.readOther()).toBe(404);
  expect(await app.updates()).toMatchObject([{ data: { object: { id: app.id } } }, { data: { object: { id: app.id } } }]);
});

test('removing the limits does not grant access to all orders', async () => {
  const app = await connect();
  await app.manage('PUT', { limits: { currency: 'EUR', per_order: 100 } });
  expect((await app.manage('DELETE')).status).toBe(204);
  expect((await app.manage('GET')).body.authorization_details).toEqual([
    { type: 'mandate_orders', actions: ['place', 'pay', 'cancel'], orders: 'own', approval: 'above_limit' },
  ]);
  expect(await app.readOther()).toBe(404);
  await app.manage('PUT', { orders: 'all' });
  expect((await app.manage('DELETE')).status).toBe(204);
  expect(await app.readOther()).toBe(200);
});

test('the customer grants access to all orders on the account page', async () => {
  const app = await connect();
  const page = await app.anna.browser.open(`/account/apps/${app.id}/limits`);
  expect([...page.text.matchAll(/<option value="(own|all)"( selected)?\s*>/g)].map(([, level, isSelected]) => [level, isSelected])).toEqual(
    [
      ['own', ' selected'],
      ['all', undefined],
    ],
  );
  await app.anna.browser.submit(page, { decision: 'save', limit_orders: 'all' });
  expect(await app.readOther()).toBe(200);
});

test('a budget counts the orders that the application placed earlier in the period', async () => {
  const app = await connect();
  expect((await app.order(10)).status).toBe(201);
  const { body } = await app.manage('PUT', { limits: { currency: 'EUR', per_period: 150, period: 'month' } });
  expect([body.budget, body.budgets]).toMatchObject([{ limit: 150, spent: 100, set_by: 'customer' }, [{ spent: 100 }]]);
  expect([(await app.order(6)).body.code, (await app.order(5)).status]).toEqual(['limit_exceeded', 201]);
});
