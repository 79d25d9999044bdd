import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['users.read', 'orders.read', 'orders.write']);
let reader: string;
let userId: number;

beforeAll(async () => {
  userId = anna.id;
  reader = (await obtainTokens(shop.origin, anna, ['users.read'])).access_token;
});

// The paths in the specification have no version, but the specification allows a version prefix.
describe.each(['/api', '/api/v1'])('%s', (prefix) => {
  const call = (method: string, path: string, as?: string, body?: unknown): Promise<ApiResponse> =>
    shop.callApi(method, `${prefix}${path}`, { ...(as !== undefined && { token: as }), ...(body !== undefined && { body }) });
  const statusAndCode = async (response: Promise<ApiResponse>): Promise<[number, string]> => {
    const { status, body } = await response;
    return [status, body.code];
  };
  const newOrderBody = async (quantity = 1): Promise<JsonBody> => ({
    items: [{ product_id: (await shop.createProduct({ stock: 5 })).id, quantity }],
    delivery: pickupDelivery,
  });

  test('GET /users/{user_id}: 200, 400, 401, 403, 404', async () => {
    expect((await call('GET', `/users/${userId}`, anna.token)).body).toMatchObject({ id: userId, status: 'active' });
    expect(await statusAndCode(call('GET', '/users/x', anna.token))).toEqual([400, 'invalid_request']);
    const { status, headers } = await call('GET', `/users/${userId}`);
    expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer realm="api", resource_metadata="/)]);
    expect(await statusAndCode(call('GET', '/users/987654', anna.token))).toEqual([404, 'not_found']);
    const orders = await call('GET', '/orders', reader);
    expect([orders.status, orders.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="api", error="insufficient_scope", scope="orders.read"',
    ]);
  });

  test('POST /users: 201, 400, 401, 403, 409', async () => {
    const user = { name: 'Eva', email: `eva${prefix.length}@example.com` };
    expect((await call('POST', '/users', shop.token, user)).body).toMatchObject({ ...user, id: expect.any(Number), status: 'active' });
    expect(await statusAndCode(call('POST', '/users', shop.token, user))).toEqual([409, 'email_taken']);
    expect(await statusAndCode(call('POST', '/users', shop.token, { name: 'Eva', email: 'eva' }))).toEqual([400, 'invalid_request']);
    expect(await statusAndCode(call('POST', '/users', undefined, user))).toEqual([401, 'missing_token']);
    expect(await statusAndCode(call('POST', '/users', anna.token, user))).toEqual([403, 'insufficient_scope']);
  });

  test('GET /products: 200 without a token, 400', async () => {
    expect((await call('GET', '/products')).status).toBe(200);
    expect(await statusAndCode(call('GET', '/products?price_gte=-1'))).toEqual([400, 'invalid_request']);
  });

  test('POST /orders: 201, 400, 401, 403, 409', async () => {
    const { status, body, headers } = await call('POST', '/orders', anna.token, await newOrderBody());
    expect([status, headers.get('location')]).toEqual([201, `/api/v1/orders/${body.id}`]);
    expect(body).toMatchObject({ id: expect.any(Number), status: 'pending', total: 255 });
    expect(
      await statusAndCode(call('POST', '/orders', anna.token, { items: [{ product_id: 987_654, quantity: 1 }], delivery: pickupDelivery })),
    ).toEqual([400, 'invalid_request']);
    expect(await statusAndCode(call('POST', '/orders', anna.token, { ...(await newOrderBody()), total: -1 }))).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await statusAndCode(call('POST', '/orders', undefined, await newOrderBody()))).toEqual([401, 'missing_token']);
    expect(await statusAndCode(call('POST', '/orders', reader, await newOrderBody()))).toEqual([403, 'insufficient_scope']);
    expect(await statusAndCode(call('POST', '/orders', anna.token, await newOrderBody(6)))).toEqual([409, 'out_of_stock']);
  });

  test('GET /orders and GET /orders/{order_id}: 200, 400, 401, 403, 404', async () => {
    const { body: placed } = await call('POST', '/orders', anna.token, await newOrderBody());
    expect((await call('GET', '/orders', anna.token)).body.data[0]).toMatchObject({ id: placed.id });
    expect((await call('GET', `/orders/${placed.id}`, anna.token)).body).toEqual(placed);
    for (const path of ['/orders', `/orders/${placed.id}`]) {
      expect(await statusAndCode(call('GET', path))).toEqual([401, 'missing_token']);
      expect(await statusAndCode(call('GET', path, reader))).toEqual([403, 'insufficient_scope']);
    }
    expect(await statusAndCode(call('GET', '/orders?status=lost', anna.token))).toEqual([400, 'invalid_request']);
    expect(await statusAndCode(call('GET', '/orders/987654', anna.token))).toEqual([404, 'not_found']);
  });
});
