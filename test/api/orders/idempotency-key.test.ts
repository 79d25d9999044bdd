import { expect, test } from 'vitest';
import { deleteExpiredIdempotencyKeysBatch } from '../../../server/http/writes/stored-idempotent-requests.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);

const placeOrder = (body: unknown, headers: Record<string, string> = {}, as = anna.token): Promise<ApiResponse> =>
  shop.callApi('POST', '/api/v1/orders', { token: as, body, headers });

test('a repeated request returns the same response, regardless of the field order', async () => {
  const product = await shop.createProduct({ stock: 10 });
  const order = { ...buildOrderInput([product, 1]), reference: 'twice' };
  const first = await placeOrder(order, { 'idempotency-key': 'k-1' });
  const again = await placeOrder(Object.fromEntries(Object.entries(order).toReversed()), { 'idempotency-key': '"k-1"' });
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([null, 'true']);
  expect(await shop.getStock(product)).toBe(9);
});

test('the same key with another request returns 422', async () => {
  const product = await shop.createProduct();
  await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': 'k-2' });
  const { status, body } = await placeOrder(buildOrderInput([product, 2]), { 'idempotency-key': 'k-2' });
  expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
});

test('each caller has separate keys', async () => {
  const product = await shop.createProduct();
  const ben = await shop.createAccount('customer', ['orders.write']);
  const annasOrder = await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': 'k-3' });
  const bensOrder = await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': 'k-3' }, ben.token);
  expect([annasOrder.status, bensOrder.status]).toEqual([201, 201]);
  expect(bensOrder.body.id).not.toBe(annasOrder.body.id);
});

test('a key can be used again after a rejected request', async () => {
  const product = await shop.createProduct({ stock: 0 });
  expect((await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': 'k-4' })).status).toBe(409);
  await shop.callApi('POST', `/api/v1/products/${product.id}/stock-adjustments`, {
    token: shop.token,
    body: { delta: 1, reason: 'received' },
  });
  expect((await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': 'k-4' })).status).toBe(201);
});

test('a key expires after 24 hours', async () => {
  const product = await shop.createProduct();
  const first = await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': 'k-5' });
  await shop.db.em.fork().execute(`update idempotency_keys set created_at = now() - interval '24 hours 1 second' where key = 'k-5'`);
  const afterExpiry = await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': 'k-5' });
  expect([afterExpiry.status, afterExpiry.headers.get('idempotent-replayed')]).toEqual([201, null]);
  expect(afterExpiry.body.id).not.toBe(first.body.id);
});

test('the cleanup deletes only expired keys', async () => {
  const order = buildOrderInput([await shop.createProduct(), 1]);
  for (const key of ['old', 'young']) await placeOrder(order, { 'idempotency-key': key });
  const em = shop.db.em.fork();
  await em.execute(`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'`);
  while ((await deleteExpiredIdempotencyKeysBatch(em, new Date())) > 0);
  expect(await em.execute(`select key from idempotency_keys where key in ('old', 'young')`)).toEqual([{ key: 'young' }]);
  expect((await placeOrder(order, { 'idempotency-key': 'young' })).headers.get('idempotent-replayed')).toBe('true');
});

test.each(['', 'a b', 'ü', 'x'.repeat(256), '"open'])('rejects the key %j with 400', async (key) => {
  const product = await shop.createProduct();
  const { status, body } = await placeOrder(buildOrderInput([product, 1]), { 'idempotency-key': Buffer.from(key).toString('latin1') });
  expect([status, body.code]).toEqual([400, 'idempotency_key_invalid']);
});
