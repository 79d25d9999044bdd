import { contract, contractV2, getRouteMetadata, listRoutes, type Scope } from '@mandate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { signUpAs, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { openShop, pickup, type Shop } from '../../support/server/shop.ts';

let mandate: Mandate;
let shop: Shop;
let clerk: string;
beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
  clerk = await staffToken(['orders.manage', 'tasks.read', 'tasks.write']);
});
afterAll(() => mandate.close());

const staffToken = async (scopes: readonly Scope[]): Promise<string> =>
  (await tokensFor(mandate.origin, await signUpAs(mandate.db, mandate.origin, 'staff'), scopes)).access_token;

/** An order of a customer, placed with nothing but `orders.manage`. */
async function placed(): Promise<Body> {
  const items = [{ product_id: (await shop.product()).id, quantity: 1 }];
  const body = { items, delivery: pickup, user_id: (await shop.user()).id };
  const answer = await mandate.call('POST', '/api/v1/orders', { token: clerk, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

// The consent page promises: "See, place, change and cancel the orders of every customer".
describe('orders.manage alone', () => {
  test('is enough to see the orders of every customer', async () => {
    const order = await placed();
    for (const path of ['/orders', `/orders?user_id=${order.user_id}`, `/orders?payment_status=unpaid`]) {
      const { status, body } = await mandate.call('GET', `/api/v1${path}`, { token: clerk });
      expect([status, body.data[0].id], path).toEqual([200, order.id]);
    }
    expect((await mandate.call('GET', `/api/v1/orders/${order.id}`, { token: clerk })).body.id).toBe(order.id);
    expect((await mandate.call('GET', `/api/v1/orders/${order.id}/shipments`, { token: clerk })).status).toBe(200);
  });

  test('is enough to change and to cancel them', async () => {
    const order = await placed();
    const changed = await mandate.call('PATCH', `/api/v1/orders/${order.id}`, { token: clerk, body: { note: 'Ring twice' } });
    expect([changed.status, changed.body.note]).toEqual([200, 'Ring twice']);
    const canceled = await mandate.call('POST', `/api/v1/orders/${order.id}/cancellation`, { token: clerk, body: {} });
    expect([canceled.status, canceled.body.cancel_reason]).toEqual([201, 'staff']);
  });

  test('is enough to export them, to a task that needs the same scope', async () => {
    const started = await mandate.call('POST', '/api/v1/order-exports', { token: clerk, body: {} });
    expect(started.status, started.text).toBe(202);
    const path = `/api/v1/tasks/${started.body.id}`;
    expect((await mandate.call('GET', path, { token: clerk })).status).toBe(200);
  });

  test('is no use to somebody who has lost the role', async () => {
    const former = await signUpAs(mandate.db, mandate.origin, 'staff');
    const { access_token: token } = await tokensFor(mandate.origin, former, ['orders.manage']);
    await mandate.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [former.id]);
    expect((await mandate.call('GET', '/api/v1/orders', { token })).status).toBe(403);
    expect((await mandate.call('GET', `/api/v1/orders/${(await placed()).id}`, { token })).status).toBe(403);
  });

  test('changes no payment and ships nothing', async () => {
    const { id } = await placed();
    for (const path of ['payments', 'refunds', 'shipments']) {
      const body = path === 'payments' ? { provider: 'manual' } : {};
      expect((await mandate.call('POST', `/api/v1/orders/${id}/${path}`, { token: clerk, body })).status, path).toBe(403);
    }
  });
});

const routes = [...listRoutes(contract.orders), ...listRoutes(contractV2.orders)];

test.each(routes.map((route) => [`${route.method} ${route.path}`, getRouteMetadata(route).access] as const))(
  '%s accepts orders.manage besides the scope of customers',
  (_, access) => {
    expect(access).toEqual([expect.stringMatching(/^orders\.(?:read|write)$/), 'orders.manage']);
  },
);
