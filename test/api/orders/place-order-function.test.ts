import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { startMandate, type Answer, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { address, openShop, type Shop } from '../../support/server/shop.ts';

// What the function in the database writes by itself, beside what is written elsewhere of the same things.
let mandate: Mandate;
let shop: Shop;
let userId: number;
beforeAll(async () => {
  mandate = await startMandate({ previewVersions: true });
  shop = await openShop(mandate);
  userId = (await shop.user()).id;
});
afterAll(() => mandate.close());

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  mandate.call(method, path, { token: shop.token, headers, ...(body !== undefined && { body }) });
const eventsOf = (type: string, id: number): Promise<{ type: string; user_id: number | null; subject_version: number; data: Body }[]> =>
  mandate.db.em
    .fork()
    .execute('select type, user_id, subject_version, data from events where subject_type = ? and subject_id = ? order by id', [type, id]);
const keysOf = (key: string): Promise<{ body: string }[]> =>
  mandate.db.em.fork().execute('select body from idempotency_keys where key = ?', [key]);

const hostile = '"quoted" \\ </script> ünïcödé 😀';
const recipient = { recipient_name: hostile, ...address };
const words = {
  v1: { delivery: { method: 'standard', ...recipient } },
  v2: { shipping_method: 'standard', shipping_address: recipient },
};
const orderOf = (version: 'v1' | 'v2', products: Body[], more: object = {}): object => ({
  user_id: userId,
  items: products.map(({ id }) => ({ product_id: id, quantity: 2 })),
  ...words[version],
  ...more,
});

describe.each(['v1', 'v2'] as const)('what is written of an order of %s', (version) => {
  test('is the order as it is read: in the answer, in what is kept of it, and in its event', async () => {
    const products = [await shop.product({ name: hostile, tax_rate_bps: 1900 }), await shop.product()];
    const metadata = { z: hostile, a: '1', 10: 'ten', 9: 'nine', nested: '{"a":1}' };
    const order = orderOf(version, products, { reference: 'R-1', note: `two\nlines, ${hostile}`, metadata, discount_total: 7 });
    const key = `whole-${version}`;
    const first = await call('POST', `/api/${version}/orders`, order, { 'idempotency-key': key });
    expect(first.status).toBe(201);
    const read = await call('GET', `/api/${version}/orders/${first.body.id}`);
    expect(first.body).toEqual(read.body);
    expect((await keysOf(key)).map(({ body }) => body)).toEqual([first.text]);
    expect((await call('POST', `/api/${version}/orders`, order, { 'idempotency-key': key })).text).toBe(first.text);
    const { body: data } = await call('GET', `/api/v1/orders/${first.body.id}`);
    expect(await eventsOf('order', first.body.id)).toEqual([{ type: 'order.created', user_id: userId, subject_version: 1, data }]);
  });
});

test('an order of nothing to pay is paid, and both of its events say so', async () => {
  const products = [await shop.product({ price: 0 })];
  const { body } = await call('POST', '/api/v1/orders', {
    ...orderOf('v1', products),
    delivery: { method: 'pickup', recipient_name: 'Ben Test' },
  });
  const { body: data } = await call('GET', `/api/v1/orders/${body.id}`);
  expect(data).toMatchObject({ status: 'paid', total: 0, expires_at: null, paid_at: data.created_at });
  expect((await eventsOf('order', body.id)).map((event) => [event.type, event.data])).toEqual([
    ['order.created', data],
    ['order.paid', data],
  ]);
});

test('products that it leaves nothing of are said to be sold out, as they are read', async () => {
  const products = [
    await shop.product({ stock: 2, description: hostile }),
    await shop.product({ stock: 3 }),
    await shop.product({ stock: 2 }),
  ];
  expect((await call('POST', '/api/v1/orders', orderOf('v1', products))).status).toBe(201);
  for (const [index, { id }] of products.entries()) {
    const { body: data } = await call('GET', `/api/v1/products/${id}`);
    const soldOut = (await eventsOf('product', id)).filter(({ type }) => type === 'product.out_of_stock');
    expect(soldOut).toEqual(index === 1 ? [] : [{ type: 'product.out_of_stock', user_id: null, subject_version: 1, data }]);
  }
});

test('a refused request leaves nothing: no key, no order, no event, and the stock as it was', async () => {
  const products = [await shop.product({ stock: 10 }), await shop.product({ stock: 1 })];
  const count = async (): Promise<unknown> =>
    mandate.db.em.fork().execute('select (select count(*) from orders) as orders, (select count(*) from events) as events');
  const before = await count();
  expect((await call('POST', '/api/v1/orders', orderOf('v1', products), { 'idempotency-key': 'refused' })).body.code).toBe('out_of_stock');
  expect([await keysOf('refused'), await count()]).toEqual([[], before]);
  expect((await call('GET', `/api/v1/products/${products[0]?.id}`)).body.stock).toBe(10);
});

test('a key of a day ago that is refused now is gone', async () => {
  const order = orderOf('v1', [await shop.product({ stock: 2 })]);
  expect((await call('POST', '/api/v1/orders', order, { 'idempotency-key': 'old' })).status).toBe(201);
  await mandate.db.em.fork().execute(`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'`);
  expect((await call('POST', '/api/v1/orders', order, { 'idempotency-key': 'old' })).body.code).toBe('out_of_stock');
  expect(await keysOf('old')).toEqual([]);
});

// PGlite has one connection, and nobody to wait for.
describe.skipIf(databaseKind === 'pglite')('who waits', () => {
  /** While `held` is done and not yet committed. */
  async function whileHeld<Result>(held: string, parameters: unknown[], work: () => Promise<Result>): Promise<Result> {
    const em = mandate.db.em.fork();
    const hasty = `alter function mandate_place_order_v4 set lock_timeout = '200ms'`;
    await mandate.db.em.fork().execute(hasty);
    await em.begin();
    try {
      await em.execute(held, parameters);
      return await work();
    } finally {
      await em.rollback();
      await mandate.db.em.fork().execute('alter function mandate_place_order_v4 reset lock_timeout');
    }
  }

  test('too long for stock is told to try again, and nothing was done', async () => {
    const product = await shop.product();
    const send = (): Promise<Answer> => call('POST', '/api/v1/orders', orderOf('v1', [product]), { 'idempotency-key': 'waits' });
    const waited = await whileHeld('update product_stock set available = available where product_id = ?', [product.id], send);
    expect([waited.status, waited.body.code]).toEqual([503, 'unavailable']);
    expect(await keysOf('waits')).toEqual([]);
    expect((await send()).status).toBe(201);
  });

  test('too long for a request with the same key is told that it is being carried out', async () => {
    const order = orderOf('v1', [await shop.product()]);
    const send = (key: string): Promise<Answer> => call('POST', '/api/v1/orders', order, { 'idempotency-key': key });
    const first = await send('twin');
    const held = `insert into idempotency_keys (caller, operation, key, request_hash)
                  select caller, operation, 'another', request_hash from idempotency_keys where key = 'twin'`;
    const { status, body, headers } = await whileHeld(held, [], () => send('another'));
    expect([status, body.code, headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '1']);
    expect((await send('twin')).text).toBe(first.text);
    expect((await send('another')).status).toBe(201);
  });

  test('for a twin that is refused is refused in its turn', async () => {
    const order = orderOf('v1', [await shop.product({ stock: 1 })]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call('POST', '/api/v1/orders', order, { 'idempotency-key': 'all-refused' })),
    );
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['out_of_stock']));
    expect(await keysOf('all-refused')).toEqual([]);
  });
});
