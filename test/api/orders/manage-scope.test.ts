import { contract, contractV2, getRouteMetadata, listRoutes, type Scope } from '@mandate/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
let manageToken: string;
beforeAll(async () => {
  manageToken = await createStaffToken(['orders.manage', 'tasks.read', 'tasks.write']);
});

const createStaffToken = async (scopes: readonly Scope[]): Promise<string> => (await shop.createAccount('staff', scopes)).token;

/** Places an order for a customer, with `orders.manage` as the only order scope. */
async function placeOrder(): Promise<JsonBody> {
  const items = [{ product_id: (await shop.createProduct()).id, quantity: 1 }];
  const body = { items, delivery: pickupDelivery, user_id: (await shop.createUser()).id };
  const response = await shop.callApi('POST', '/api/v1/orders', { token: manageToken, body });
  expect(response.status, response.text).toBe(201);
  return response.body;
}

// The consent page states: "See, place, change and cancel orders for all customers".
describe('orders.manage alone', () => {
  test('allows reading the orders of every customer', async () => {
    const order = await placeOrder();
    for (const path of ['/orders', `/orders?user_id=${order.user_id}`, `/orders?payment_status=unpaid`]) {
      const { status, body } = await shop.callApi('GET', `/api/v1${path}`, { token: manageToken });
      expect([status, body.data[0].id], path).toEqual([200, order.id]);
    }
    expect((await shop.callApi('GET', `/api/v1/orders/${order.id}`, { token: manageToken })).body.id).toBe(order.id);
    expect((await shop.callApi('GET', `/api/v1/orders/${order.id}/shipments`, { token: manageToken })).status).toBe(200);
  });

  test('allows changing and canceling orders', async () => {
    const order = await placeOrder();
    const changed = await shop.callApi('PATCH', `/api/v1/orders/${order.id}`, { token: manageToken, body: { note: 'Ring twice' } });
    expect([changed.status, changed.body.note]).toEqual([200, 'Ring twice']);
    const canceled = await shop.callApi('POST', `/api/v1/orders/${order.id}/cancellation`, { token: manageToken, body: {} });
    expect([canceled.status, canceled.body.cancel_reason]).toEqual([201, 'staff']);
  });

  test('allows exporting orders and reading the task', async () => {
    const started = await shop.callApi('POST', '/api/v1/order-exports', { token: manageToken, body: {} });
    expect(started.status, started.text).toBe(202);
    const path = `/api/v1/tasks/${started.body.id}`;
    expect((await shop.callApi('GET', path, { token: manageToken })).status).toBe(200);
  });

  test('requires the staff role', async () => {
    const formerStaff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const { access_token: token } = await obtainTokens(shop.origin, formerStaff, ['orders.manage']);
    await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [formerStaff.id]);
    expect((await shop.callApi('GET', '/api/v1/orders', { token })).status).toBe(403);
    expect((await shop.callApi('GET', `/api/v1/orders/${(await placeOrder()).id}`, { token })).status).toBe(403);
  });

  test('does not allow payments, refunds or shipments', async () => {
    const { id } = await placeOrder();
    for (const path of ['payments', 'refunds', 'shipments']) {
      const body = path === 'payments' ? { provider: 'manual' } : {};
      expect((await shop.callApi('POST', `/api/v1/orders/${id}/${path}`, { token: manageToken, body })).status, path).toBe(403);
    }
  });
});

const routes = [...listRoutes(contract.orders), ...listRoutes(contractV2.orders)];

test.each(routes.map((route) => [`${route.method} ${route.path}`, getRouteMetadata(route).access] as const))(
  '%s accepts orders.manage in addition to the customer scope',
  (_, access) => {
    expect(access).toEqual([expect.stringMatching(/^orders\.(?:read|write)$/), 'orders.manage']);
  },
);
