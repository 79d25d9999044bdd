import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { maxPrice } from '@mandate/contract';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput, pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);
const ben = shop.customer(['orders.read', 'orders.write']);

const createQuote = (body: object): Promise<ApiResponse> => anna.callApi('POST', '/api/v1/quotes', { body });
const countRows = (): Promise<unknown> =>
  shop.db.em
    .fork()
    .execute(
      'select (select count(*) from quotes) as quotes, (select count(*) from quote_reservations) as reservations, (select count(*) from events) as events',
    );

/** Attempts to create a quote, with and without `hold`. Returns the problems, and whether the database is unchanged. */
async function attempt(body: object) {
  const before = await countRows();
  const responses = [await createQuote(body), await createQuote({ ...body, hold: true })];
  const problems = responses.map(({ status, body: { code, errors } }) => ({ status, code, errors }));
  return { problems, isUnchanged: isDeepStrictEqual(await countRows(), before) };
}
const rejection = (status: number, code: string, errors: readonly object[]) => ({
  problems: [
    { status, code, errors },
    { status, code, errors },
  ],
  isUnchanged: true,
});

describe('a quote is rejected, and nothing is written, for', () => {
  test.each([
    ['a negative quantity', -1],
    ['a quantity of zero', 0],
    ['a fractional quantity', 1.5],
    ['a quantity above the maximum', 100_001],
    ['a quantity that no integer can represent', 1e300],
    ['a quantity that is text', '1'],
  ])('%s', async (_name, quantity) => {
    const product = await shop.createProduct();
    expect(await attempt({ items: [{ product_id: product.id, quantity }], delivery: pickupDelivery })).toMatchObject(
      rejection(400, 'invalid_request', [{ pointer: '#/items/0/quantity' }]),
    );
  });

  test('a total that overflows', async () => {
    const product = await shop.createProduct({ price: maxPrice, stock: null });
    const lines = Array.from({ length: 100 }, (): [JsonBody, number] => [product, 100_000]);
    expect(await attempt(buildOrderInput(...lines))).toMatchObject(rejection(400, 'invalid_request', [{ pointer: '#/items' }]));
  });

  test('an unknown product', async () => {
    const items = [{ product_id: 987_654_321, quantity: 1 }];
    expect(await attempt({ items, delivery: pickupDelivery })).toMatchObject(
      rejection(400, 'invalid_request', [{ pointer: '#/items/0/product_id', code: 'unknown_reference' }]),
    );
  });

  test('a product that is not for sale', async () => {
    const product = await shop.createProduct({ status: 'draft' });
    expect(await attempt(buildOrderInput([product, 1]))).toMatchObject(
      rejection(409, 'product_unavailable', [{ pointer: '#/items/0/product_id' }]),
    );
  });

  test('no items, and no delivery', async () => {
    expect(await attempt({ items: [] })).toMatchObject(
      rejection(400, 'invalid_request', [{ pointer: '#/items' }, { pointer: '#/delivery' }]),
    );
  });

  test('a delivery method that is not offered', async () => {
    const input = buildOrderInput([await shop.createProduct(), 1]);
    expect(await attempt({ ...input, delivery: { ...pickupDelivery, method: 'drone' } })).toMatchObject(
      rejection(400, 'invalid_request', [{ pointer: '#/delivery/method' }]),
    );
  });

  test('a total that differs from the shown total', async () => {
    const input = buildOrderInput([await shop.createProduct({ price: 500 }), 1]);
    expect(await attempt({ ...input, total: 499 })).toMatchObject(rejection(409, 'price_changed', [{ actual: 500 }]));
  });

  test('another customer', async () => {
    const input = { ...buildOrderInput([await shop.createProduct(), 1]), user_id: ben.id };
    const before = await countRows();
    expect([(await createQuote(input)).body.code, await countRows()]).toEqual(['forbidden', before]);
  });

  test.each([
    ['shorter than a minute', { expires_in: 59 }],
    ['longer than seven days', { expires_in: 604_801 }],
    ['fractional', { expires_in: 90.5 }],
    ['longer than 30 minutes with `hold`', { expires_in: 1801, hold: true }],
  ])('a validity that is %s', async (_name, validity) => {
    const input = buildOrderInput([await shop.createProduct(), 1]);
    const before = await countRows();
    const { status, body } = await createQuote({ ...input, ...validity });
    expect([status, body.code, body.errors]).toMatchObject([400, 'invalid_request', [{ pointer: '#/expires_in' }]]);
    expect(await countRows()).toEqual(before);
  });
});

test("another customer's quote returns 404", async () => {
  const { body: quote } = await createQuote(buildOrderInput([await shop.createProduct(), 1]));
  const requests = [
    ['GET', (id: number) => `/api/v1/quotes/${id}`],
    ['POST', (id: number) => `/api/v1/quotes/${id}/cancellation`],
  ] as const;
  for (const [method, path] of requests) {
    const other = await ben.callApi(method, path(quote.id));
    expect([other.status, other.body.code, other.body.detail]).toEqual([404, 'not_found', `Quote ${quote.id} was not found.`]);
    expect((await ben.callApi(method, path(987_654_321))).body.detail).toBe('Quote 987654321 was not found.');
  }
  expect((await ben.callApi('GET', '/api/v1/quotes')).body.data).toEqual([]);
  expect((await ben.callApi('GET', `/api/v1/quotes?user_id=${anna.id}`)).body.code).toBe('forbidden');
});
