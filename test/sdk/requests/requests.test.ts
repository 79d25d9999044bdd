import { describe, expect, test } from 'vitest';
import { createClient } from '@mandate/client-sdk';
import { startStubServer } from '../stub-server.ts';

const item = { product_id: 1, quantity: 2 };
const delivery = { method: 'pickup', recipient_name: 'Ann' };

describe('the URL of a request', () => {
  test('encodes a path parameter as one segment', async () => {
    await using server = await startStubServer(() => ({ body: {} }));
    await createClient({ baseUrl: server.url }).orders.get('../users/me?x=1#f');
    expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/api/v1/orders/..%2Fusers%2Fme%3Fx%3D1%23f' });
  });

  test.each(['', '.', '..'])('rejects the path parameter %j, which would address another resource, before sending anything', async (id) => {
    await using server = await startStubServer(() => ({ body: {} }));
    await expect(createClient({ baseUrl: server.url }).orders.get(id)).rejects.toThrow(TypeError);
    expect(server.seen).toEqual([]);
  });

  test('joins lists with commas and omits undefined values', async () => {
    await using server = await startStubServer(() => ({ body: { data: [], has_more: false, next_cursor: null } }));
    const client = createClient({ baseUrl: server.url });
    await client.orders.list({ status: ['paid', 'shipped'], limit: 5, reference: 'a&b c', created_at_gte: undefined });
    await client.orders.list();
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/v1/orders?status=paid,shipped&limit=5&reference=a%26b+c', '/api/v1/orders']);
  });
});

describe('a request with a body', () => {
  test('sends the body as JSON and the token as a bearer token', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: { id: 7 } }));
    const order = await createClient({ baseUrl: server.url, auth: 'secret' }).orders.create({ items: [item], delivery });
    expect(order.id).toBe(7);
    expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json' });
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({ items: [item], delivery });
  });

  test('has the first arguments in its path', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: {} }));
    await createClient({ baseUrl: `${server.url}/` }).products.adjustStock(5, { delta: -1, reason: 'damaged' }, { idempotencyKey: 'mine' });
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/products/5/stock-adjustments',
      body: '{"delta":-1,"reason":"damaged"}',
    });
    expect(server.seen[0]?.headers['idempotency-key']).toBe('mine');
  });

  test('has a new idempotency key if the operation accepts one', async () => {
    await using server = await startStubServer(() => ({ body: {} }));
    const client = createClient({ baseUrl: server.url });
    await client.orders.create({ items: [item], delivery });
    await client.orders.create({ items: [item], delivery });
    await client.products.update(1, { name: 'New' });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).not.toBe(keys[0]);
    expect(keys[2]).toBeUndefined();
  });
});

describe('a response', () => {
  test('is available with status and headers', async () => {
    await using server = await startStubServer(() => ({ body: { id: 3 }, headers: { 'x-request-id': 'req_9' } }));
    const answer = await createClient({ baseUrl: server.url }).users.me().withResponse();
    expect(answer).toMatchObject({ status: 200, requestId: 'req_9', data: { id: 3 } });
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test.each([undefined, 'true'])('reports whether it is a replay (Idempotent-Replayed: %s)', async (replayed) => {
    const headers = replayed === undefined ? {} : { 'idempotent-replayed': replayed };
    await using server = await startStubServer(() => ({
      status: 201,
      body: { id: 3, key: replayed === undefined ? 'mk_1' : null },
      headers,
    }));
    const { apiKeys } = createClient({ baseUrl: server.url });
    const { data, replayed: isReplay } = await apiKeys.create({ name: 'Mine', scopes: ['orders.read'] }).withResponse();
    expect([data.key, isReplay]).toEqual(replayed === undefined ? ['mk_1', false] : [null, true]);
    expect(server.seen[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
  });

  test('keeps unknown fields', async () => {
    await using server = await startStubServer(() => ({ body: { id: 3, new_field: { x: 1 } } }));
    expect(await createClient({ baseUrl: server.url }).users.me()).toEqual({ id: 3, new_field: { x: 1 } });
  });
});

describe('the base URL', () => {
  test.each(['http://shop.example', 'ftp://shop.example', 'shop.example', 'https://ann:pw@shop.example', 'https://shop.example/?a=1'])(
    'refuses %s',
    (baseUrl) => {
      expect(() => createClient({ baseUrl })).toThrow(TypeError);
    },
  );

  test.each(['https://shop.example', 'http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'])('accepts %s', (baseUrl) => {
    expect(() => createClient({ baseUrl })).not.toThrow();
  });

  test('accepts plain HTTP to another machine with allowInsecureRequests', () => {
    expect(() => createClient({ baseUrl: 'http://server:3000', allowInsecureRequests: true })).not.toThrow();
  });
});
