import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { deliveryAddress } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

// Compares the rows that the database function writes with the representation that the server returns.
const shop = withShop({ previewVersions: true });
let userId: number;
beforeAll(async () => {
  userId = (await shop.createUser()).id;
});

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi(method, path, { token: shop.token, headers, ...(body !== undefined && { body }) });
const findEvents = (
  type: string,
  id: number,
): Promise<{ type: string; user_id: number | null; subject_version: number; data: JsonBody }[]> =>
  shop.db.em
    .fork()
    .execute('select type, user_id, subject_version, data from events where subject_type = ? and subject_id = ? order by id', [type, id]);
const findIdempotencyKeys = (key: string): Promise<{ body: string }[]> =>
  shop.db.em.fork().execute('select body from idempotency_keys where key = ?', [key]);

const hostileText = '"quoted" \\ </script> ünïcödé 😀';
const recipient = { recipient_name: hostileText, ...deliveryAddress };
const deliveryFields = {
  v1: { delivery: { method: 'standard', ...recipient } },
  v2: { shipping_method: 'standard', shipping_address: recipient },
};
const orderBody = (version: 'v1' | 'v2', products: JsonBody[], overrides: object = {}): object => ({
  user_id: userId,
  items: products.map(({ id }) => ({ product_id: id, quantity: 2 })),
  ...deliveryFields[version],
  ...overrides,
});

describe.each(['v1', 'v2'] as const)('an order placed with %s', (version) => {
  test('is equal in the response, in the stored response and in its event', async () => {
    const products = [await shop.createProduct({ name: hostileText, tax_rate_bps: 1900 }), await shop.createProduct()];
    const metadata = { z: hostileText, a: '1', 10: 'ten', 9: 'nine', nested: '{"a":1}' };
    const order = orderBody(version, products, { reference: 'R-1', note: `two\nlines, ${hostileText}`, metadata, discount_total: 7 });
    const key = `whole-${version}`;
    const first = await call('POST', `/api/${version}/orders`, order, { 'idempotency-key': key });
    expect(first.status).toBe(201);
    const read = await call('GET', `/api/${version}/orders/${first.body.id}`);
    expect(first.body).toEqual(read.body);
    expect((await findIdempotencyKeys(key)).map(({ body }) => body)).toEqual([first.text]);
    expect((await call('POST', `/api/${version}/orders`, order, { 'idempotency-key': key })).text).toBe(first.text);
    const { body: data } = await call('GET', `/api/v1/orders/${first.body.id}`);
    expect(await findEvents('order', first.body.id)).toEqual([{ type: 'order.created', user_id: userId, subject_version: 1, data }]);
  });
});

test('an order with a total of zero is paid, and both events contain this state', async () => {
  const products = [await shop.createProduct({ price: 0 })];
  const { body } = await call('POST', '/api/v1/orders', {
    ...orderBody('v1', products),
    delivery: { method: 'pickup', recipient_name: 'Ben Test' },
  });
  const { body: data } = await call('GET', `/api/v1/orders/${body.id}`);
  expect(data).toMatchObject({ status: 'paid', total: 0, expires_at: null, paid_at: data.created_at });
  expect((await findEvents('order', body.id)).map((event) => [event.type, event.data])).toEqual([
    ['order.created', data],
    ['order.paid', data],
  ]);
});

test('products with no remaining stock get an out_of_stock event', async () => {
  const products = [
    await shop.createProduct({ stock: 2, description: hostileText }),
    await shop.createProduct({ stock: 3 }),
    await shop.createProduct({ stock: 2 }),
  ];
  expect((await call('POST', '/api/v1/orders', orderBody('v1', products))).status).toBe(201);
  for (const [index, { id }] of products.entries()) {
    const { body: data } = await call('GET', `/api/v1/products/${id}`);
    const soldOut = (await findEvents('product', id)).filter(({ type }) => type === 'product.out_of_stock');
    expect(soldOut).toEqual(index === 1 ? [] : [{ type: 'product.out_of_stock', user_id: null, subject_version: 1, data }]);
  }
});

test('a rejected request writes no key, order or event, and leaves the stock unchanged', async () => {
  const products = [await shop.createProduct({ stock: 10 }), await shop.createProduct({ stock: 1 })];
  const count = async (): Promise<unknown> =>
    shop.db.em.fork().execute('select (select count(*) from orders) as orders, (select count(*) from events) as events');
  const before = await count();
  expect((await call('POST', '/api/v1/orders', orderBody('v1', products), { 'idempotency-key': 'refused' })).body.code).toBe(
    'out_of_stock',
  );
  expect([await findIdempotencyKeys('refused'), await count()]).toEqual([[], before]);
  expect((await call('GET', `/api/v1/products/${products[0]?.id}`)).body.stock).toBe(10);
});

test('an expired idempotency key is deleted if the new request is rejected', async () => {
  const order = orderBody('v1', [await shop.createProduct({ stock: 2 })]);
  expect((await call('POST', '/api/v1/orders', order, { 'idempotency-key': 'old' })).status).toBe(201);
  await shop.db.em.fork().execute(`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'`);
  expect((await call('POST', '/api/v1/orders', order, { 'idempotency-key': 'old' })).body.code).toBe('out_of_stock');
  expect(await findIdempotencyKeys('old')).toEqual([]);
});

// PGlite has only one connection, so requests never wait for a lock.
describe.skipIf(databaseKind === 'pglite')('a concurrent request', () => {
  /** Executes `statement` in a transaction, runs `work` while the transaction is open, and rolls the transaction back. */
  async function duringOpenTransaction<Result>(statement: string, parameters: unknown[], work: () => Promise<Result>): Promise<Result> {
    const em = shop.db.em.fork();
    const shortTimeout = `alter function mandate_place_order_v10 set lock_timeout = '200ms'`;
    await shop.db.em.fork().execute(shortTimeout);
    await em.begin();
    try {
      await em.execute(statement, parameters);
      return await work();
    } finally {
      await em.rollback();
      await shop.db.em.fork().execute('alter function mandate_place_order_v10 reset lock_timeout');
    }
  }

  test('that waits too long for stock returns 503, and writes nothing', async () => {
    const product = await shop.createProduct();
    const send = (): Promise<ApiResponse> => call('POST', '/api/v1/orders', orderBody('v1', [product]), { 'idempotency-key': 'waits' });
    const waited = await duringOpenTransaction('update product_stock set available = available where product_id = ?', [product.id], send);
    expect([waited.status, waited.body.code]).toEqual([503, 'unavailable']);
    expect(await findIdempotencyKeys('waits')).toEqual([]);
    expect((await send()).status).toBe(201);
  });

  test('that waits too long for the same idempotency key returns 409', async () => {
    const order = orderBody('v1', [await shop.createProduct()]);
    const send = (key: string): Promise<ApiResponse> => call('POST', '/api/v1/orders', order, { 'idempotency-key': key });
    const first = await send('twin');
    const statement = `insert into idempotency_keys (caller, operation, key, request_hash)
                  select caller, operation, 'another', request_hash from idempotency_keys where key = 'twin'`;
    const { status, body, headers } = await duringOpenTransaction(statement, [], () => send('another'));
    expect([status, body.code, headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '1']);
    expect((await send('twin')).text).toBe(first.text);
    expect((await send('another')).status).toBe(201);
  });

  test('with the same key is rejected like the first one', async () => {
    const order = orderBody('v1', [await shop.createProduct({ stock: 1 })]);
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => call('POST', '/api/v1/orders', order, { 'idempotency-key': 'all-refused' })),
    );
    expect(new Set(responses.map(({ body }) => body.code))).toEqual(new Set(['out_of_stock']));
    expect(await findIdempotencyKeys('all-refused')).toEqual([]);
  });
});
