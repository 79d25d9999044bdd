import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { connectMcpClient } from '../../support/mcp/mcp-client.ts';
import { obtainTokens, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startEventJobs } from '../../support/webhooks/event-jobs.ts';

const shop = withShop();
const scopes: readonly Scope[] = ['orders.read', 'orders.write', 'events.read'];
beforeAll(() => startEventJobs(shop.db));

async function connect(origin: string, person: TestUser, options: Parameters<typeof connectMcpClient>[3] = {}): Promise<Client> {
  const client = await connectMcpClient(origin, person, scopes, { protocol: 'auto', ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Subscribes to resources. `updates` contains the URIs from the notifications, in order. */
async function subscribe(client: Client, ...uris: string[]) {
  const updates: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updates.push(params.uri));
  return { updates, subscription: await client.listen({ resourceSubscriptions: uris }) };
}

const formatOrderUri = ({ id }: { id?: number }): string => `mandate://orders/${id}`;

describe('an assistant that subscribes to resources', () => {
  test('is notified of each change of its orders and of products, and of no other change', async () => {
    const [anna, ben] = [await shop.createAccount('customer', ['orders.write']), await shop.createAccount('customer', ['orders.write'])];
    const product = await shop.createProduct();
    const [watched, unwatched] = [
      await shop.placeOrder(buildOrderInput([product, 1]), anna.token),
      await shop.placeOrder(buildOrderInput([product, 1]), anna.token),
    ];
    const other = await shop.placeOrder(buildOrderInput([product, 1]), ben.token);
    const uris = [formatOrderUri(watched), formatOrderUri(other), `mandate://products/${product.id}`];
    const { updates, subscription } = await subscribe(await connect(shop.origin, anna), ...uris);
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: uris });
    await shop.callApi('PATCH', `/api/v1/products/${product.id}`, { token: shop.token, body: { price: 999 } });
    for (const [order, token] of [
      [other, ben.token],
      [unwatched, anna.token],
      [watched, anna.token],
    ] as const)
      expect((await shop.callApi('POST', `/api/v1/orders/${order.id}/cancellation`, { token, body: {} })).status).toBeLessThan(300);
    // Events are sent in order, so the notification about the last change arrives last.
    await waitUntil(() => updates.includes(formatOrderUri(watched)));
    expect(updates).toEqual([`mandate://products/${product.id}`, formatOrderUri(watched)]);
    await subscription.close();
  });

  test('is not notified of orders of other applications if the user allows only its own orders', async () => {
    const anna = await signUp(shop.origin);
    const order = await shop.placeOrder({ user_id: anna.id });
    const product = await shop.createProduct();
    const client = await connect(shop.origin, anna, { consentForm: { decision: 'allow', limit_orders: 'own' } });
    const { updates } = await subscribe(client, formatOrderUri(order), `mandate://products/${product.id}`);
    await shop.callApi('POST', `/api/v1/orders/${order.id}/cancellation`, { token: shop.token, body: {} });
    await shop.callApi('PATCH', `/api/v1/products/${product.id}`, { token: shop.token, body: { price: 999 } });
    await waitUntil(() => updates.length > 0);
    expect(updates).toEqual([`mandate://products/${product.id}`]);
  });

  test('is not notified after its access has been revoked', async () => {
    const anna = await signUp(shop.origin);
    const product = await shop.createProduct();
    const { updates, subscription } = await subscribe(await connect(shop.origin, anna), `mandate://products/${product.id}`);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['connected_apps.read', 'connected_apps.write']);
    const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token });
    const assistant = body.data.find((app: { scopes: string[] }) => app.scopes.includes('events.read'));
    expect((await shop.callApi('DELETE', `/api/v1/connected-apps/${assistant.id}`, { token })).status).toBe(204);
    await shop.callApi('PATCH', `/api/v1/products/${product.id}`, { token: shop.token, body: { price: 999 } });
    expect(await subscription.closed).toBe('graceful');
    expect(updates).toEqual([]);
  });

  test('cannot open more than four subscriptions at a time', async () => {
    const client = await connect(shop.origin, await signUp(shop.origin));
    const open = [];
    for (let n = 0; n < 4; n += 1) open.push(await client.listen({ resourceSubscriptions: [`mandate://orders/${n}`] }));
    await expect(client.listen({ resourceSubscriptions: ['mandate://orders/5'] })).rejects.toThrow('Close another subscription first.');
    await open[0]?.close();
    const next = await waitUntil(() => client.listen({ resourceSubscriptions: ['mandate://orders/5'] }).catch(() => undefined));
    await Promise.all([...open, next].map((one) => one.close()));
  });

  test('needs the scope of the event feed', async () => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read'], { protocol: 'auto' });
    expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: false, subscribe: false });
    const { honoredFilter } = await client.listen({ resourceSubscriptions: ['mandate://orders/1'] });
    expect(honoredFilter).toEqual({});
    await client.close();
  });
});
