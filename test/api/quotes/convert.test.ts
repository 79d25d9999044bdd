import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readEventTypes } from '../../support/read-event-types.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput, deliveryAddress } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });
const anna = shop.customer(['orders.read', 'orders.write']);
const ben = shop.customer(['orders.read', 'orders.write']);

const post = (path: string, body?: object, headers: Record<string, string> = {}, token = anna.token): Promise<ApiResponse> =>
  shop.callApi('POST', `/api/v1${path}`, { token, headers, ...(body && { body }) });
const createQuote = async (body: object, token = anna.token): Promise<JsonBody> => {
  const created = await post('/quotes', body, {}, token);
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  return created.body;
};
const convert = (quote: JsonBody, headers: Record<string, string> = {}, token = anna.token): Promise<ApiResponse> =>
  post('/orders', { quote_id: quote.id }, headers, token);
const readQuote = async ({ id }: JsonBody): Promise<JsonBody> => (await anna.callApi('GET', `/api/v1/quotes/${id}`)).body;
const execute = (sql: string, parameters: unknown[]): Promise<unknown> => shop.db.em.fork().execute(sql, parameters);
const changeProduct = async ({ id }: JsonBody, change: object): Promise<void> => {
  const { status } = await shop.callApi('PATCH', `/api/v1/products/${id}`, { token: shop.token, body: change });
  expect(status).toBe(200);
};
const countRows = async (): Promise<unknown> =>
  execute(
    `select (select count(*) from orders) as orders, (select count(*) from events) as events,
            (select sum(version) from quotes) as versions, (select count(*) from idempotency_keys) as keys`,
    [],
  );

/** Attempts to convert a quote. Returns the problem, and whether the database is unchanged. */
async function attemptConversion(quote: JsonBody, token = anna.token) {
  const before = await countRows();
  const { status, body } = await convert(quote, { 'idempotency-key': randomUUID() }, token);
  return { status, code: body.code, errors: body.errors, isUnchanged: isDeepStrictEqual(await countRows(), before) };
}
const rejection = (status: number, code: string, ...errors: object[]) => ({
  status,
  code,
  errors: errors.map((error) => ({ pointer: '#/quote_id', ...error })),
  isUnchanged: true,
});

/** Creates or replaces a delivery method. */
async function putDeliveryMethod(code: string, change: object = {}): Promise<void> {
  const path = `/api/v1/delivery-methods/${code}`;
  const exists = (await shop.callApi('GET', path)).status === 200;
  const { status } = await shop.callApi('PUT', path, {
    token: shop.token,
    body: { name: code, price: 100, currency: 'EUR', requires_address: false, ...change },
    headers: exists ? { 'if-match': '*' } : {},
  });
  expect(status).toBe(exists ? 200 : 201);
}

describe('an order from a quote', () => {
  test('is placed once; the next attempt names the order', async () => {
    const product = await shop.createProduct({ stock: 10 });
    const quote = await createQuote(buildOrderInput([product, 2]));
    const placed = await convert(quote);
    expect([placed.status, placed.headers.get('location')]).toEqual([201, `/api/v1/orders/${placed.body.id}`]);
    const again = await convert(quote);
    expect([again.status, again.body.code]).toEqual([409, 'quote_not_open']);
    expect(again.body.detail).toBe(
      `No order can be placed from quote ${quote.id}. Order ${placed.body.id} has already been placed from the quote.`,
    );
    expect(again.body.errors).toMatchObject([{ pointer: '#/quote_id', code: 'converted' }]);
    expect(await shop.getStock(product)).toBe(8);
    expect(await readEventTypes(shop.db, 'quote', quote.id)).toEqual(['quote.created', 'quote.converted']);
  });

  test('a repeated request with the same key returns the same order', async () => {
    const quote = await createQuote(buildOrderInput([await shop.createProduct(), 1]));
    const key = { 'idempotency-key': 'convert-twice' };
    const [first, again] = [await convert(quote, key), await convert(quote, key)];
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await readEventTypes(shop.db, 'quote', quote.id)).toEqual(['quote.created', 'quote.converted']);
  });

  test('a dry run prices the order and leaves the quote open', async () => {
    const quote = await createQuote({ ...buildOrderInput([await shop.createProduct(), 1]), hold: true });
    const before = await countRows();
    const { status, body } = await post('/orders?dry_run=true', { quote_id: quote.id });
    expect([status, body.total]).toEqual([201, quote.total]);
    expect([await readQuote(quote), await countRows()]).toEqual([quote, before]);
    expect((await convert(quote)).status).toBe(201);
  });

  test('has the discount that staff granted, which the customer could not request', async () => {
    const input = { ...buildOrderInput([await shop.createProduct({ price: 1000 }), 1]), discount_total: 250 };
    expect((await post('/quotes', input)).body.code).toBe('forbidden');
    const quote = await createQuote({ ...input, user_id: anna.id }, shop.token);
    const { status, body } = await convert(quote);
    expect([status, body]).toMatchObject([201, { discount_total: 250, total: 750, user_id: anna.id }]);
  });

  test('can be placed by staff for the customer', async () => {
    const quote = await createQuote(buildOrderInput([await shop.createProduct(), 1]));
    const { status, body } = await convert(quote, {}, shop.token);
    expect([status, body.user_id]).toEqual([201, anna.id]);
  });

  test('can be placed with version 2 of the API', async () => {
    const delivery = { method: 'standard', recipient_name: 'Anna Test', ...deliveryAddress };
    const quote = await createQuote({ ...buildOrderInput([await shop.createProduct(), 1]), delivery });
    const { method, ...address } = delivery;
    const send = (body: object): Promise<ApiResponse> => anna.callApi('POST', '/api/v2/orders', { body });
    const mixed = await send({ quote_id: quote.id, shipping_method: method, shipping_address: address });
    expect(mixed.body.errors).toMatchObject([{ pointer: '#/shipping_address', code: 'conflicting_fields' }]);
    expect((await send({ items: quote.items.map(({ product_id, quantity }: JsonBody) => ({ product_id, quantity })) })).body).toMatchObject(
      {
        code: 'invalid_request',
        errors: [{ pointer: '#/shipping_address', code: 'required' }],
      },
    );
    const placed = await send({ quote_id: quote.id });
    expect([placed.status, placed.body]).toMatchObject([201, { shipping_method: method, shipping_address: address, total: quote.total }]);
    const again = await send({ quote_id: quote.id });
    expect([again.status, again.body]).toMatchObject([409, { code: 'quote_not_open', errors: [{ code: 'converted' }] }]);
  });
});

describe('a quote whose prices have changed', () => {
  const priceChanged = (...errors: object[]) => rejection(409, 'price_changed', ...errors);

  test('is rejected with the product and its new price, and accepted once the old price applies again', async () => {
    const product = await shop.createProduct({ price: 500 });
    const quote = await createQuote(buildOrderInput([product, 2]));
    await changeProduct(product, { price: 501 });
    expect(await attemptConversion(quote)).toMatchObject(
      priceChanged({ product_id: product.id, actual: 501, detail: `Product ${product.id} now costs 501, not 500.` }),
    );
    await changeProduct(product, { price: 500 });
    expect((await convert(quote)).body.total).toBe(quote.total);
  });

  test('is rejected even if the total is the same', async () => {
    const [one, two] = [await shop.createProduct({ price: 500 }), await shop.createProduct({ price: 300 })];
    const quote = await createQuote(buildOrderInput([one, 1], [two, 1]));
    await changeProduct(one, { price: 400 });
    await changeProduct(two, { price: 400 });
    expect(await attemptConversion(quote)).toMatchObject(
      priceChanged({ product_id: one.id, actual: 400 }, { product_id: two.id, actual: 400 }),
    );
  });

  test('is rejected if the tax rate of a product has changed', async () => {
    const product = await shop.createProduct({ price: 500, tax_rate_bps: 1900 });
    const quote = await createQuote(buildOrderInput([product, 1]));
    await changeProduct(product, { tax_rate_bps: 700 });
    expect(await attemptConversion(quote)).toMatchObject(
      priceChanged({ product_id: product.id, detail: `The tax rate of product ${product.id} has changed.` }),
    );
  });

  test.each([
    ['costs_more', { price: 120 }, { actual: 120, detail: 'Delivery now costs 120, not 100.' }],
    ['requires_an_address', { requires_address: true }, { detail: 'The delivery method now requires an address.' }],
    ['has_another_currency', { currency: 'USD' }, { detail: 'The currency of the products or the delivery has changed.' }],
    ['is_no_longer_offered', undefined, { detail: 'The delivery method is no longer offered.' }],
  ])('is rejected if the delivery %s', async (method, change, error) => {
    await putDeliveryMethod(method);
    const input = buildOrderInput([await shop.createProduct(), 1]);
    const quote = await createQuote({ ...input, delivery: { method, recipient_name: 'Anna Test' } });
    if (change) await putDeliveryMethod(method, change);
    else await shop.callApi('DELETE', `/api/v1/delivery-methods/${method}`, { token: shop.token, headers: { 'if-match': '*' } });
    expect(await attemptConversion(quote)).toMatchObject(priceChanged(error));
  });
});

describe('no order is placed from', () => {
  test('an expired quote', async () => {
    const quote = await createQuote(buildOrderInput([await shop.createProduct(), 1]));
    await execute(`update quotes set expires_at = now() - interval '1 millisecond' where id = ?`, [quote.id]);
    expect(await attemptConversion(quote)).toMatchObject(
      rejection(409, 'quote_not_open', {
        code: 'expired',
        detail: expect.stringMatching(/^No order can be placed from quote \d+\. The quote expired at 20\S+Z\.$/),
      }),
    );
    expect((await readQuote(quote)).status).toBe('expired');
  });

  test('a canceled quote', async () => {
    const quote = await createQuote(buildOrderInput([await shop.createProduct(), 1]));
    expect((await post(`/quotes/${quote.id}/cancellation`)).status).toBe(201);
    expect(await attemptConversion(quote)).toMatchObject(rejection(409, 'quote_not_open', { code: 'canceled' }));
  });

  test('a quote with a product that is no longer for sale', async () => {
    const product = await shop.createProduct();
    const quote = await createQuote({ ...buildOrderInput([product, 1]), hold: true });
    await changeProduct(product, { status: 'archived' });
    expect(await attemptConversion(quote)).toMatchObject(rejection(409, 'product_unavailable', { product_id: product.id }));
  });

  test('a quote for more units than are now available', async () => {
    const product = await shop.createProduct({ stock: 3 });
    const quote = await createQuote(buildOrderInput([product, 3]));
    await shop.placeOrder(buildOrderInput([product, 1]), ben.token);
    expect(await attemptConversion(quote)).toMatchObject(
      rejection(409, 'out_of_stock', { product_id: product.id, requested: 3, available: 2 }),
    );
  });

  test("another customer's quote, with the same response as for a quote that does not exist", async () => {
    const quote = await createQuote(buildOrderInput([await shop.createProduct(), 1]));
    const unknown = { code: 'unknown_reference', detail: 'There is no quote with this ID.' };
    expect(await attemptConversion(quote, ben.token)).toMatchObject(rejection(400, 'invalid_request', unknown));
    expect(await attemptConversion({ id: 987_654_321 })).toMatchObject(rejection(400, 'invalid_request', unknown));
  });

  test('a quote for a customer whose account has been suspended', async () => {
    const quote = await createQuote({ ...buildOrderInput([await shop.createProduct(), 1]), user_id: ben.id }, shop.token);
    await execute(`update users set status = 'suspended' where id = ?`, [ben.id]);
    expect(await attemptConversion(quote, shop.token)).toMatchObject(
      rejection(400, 'invalid_request', { detail: 'The customer for whom this quote was created is no longer active.' }),
    );
    await execute(`update users set status = 'active' where id = ?`, [ben.id]);
  });

  test('a quote if the request contains other details', async () => {
    const input = buildOrderInput([await shop.createProduct(), 1]);
    const quote = await createQuote(input);
    const { status, body } = await post('/orders', { ...input, quote_id: quote.id, total: 1, metadata: { a: '1' } });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors.map(({ pointer, code }: JsonBody) => [pointer, code])).toEqual(
      ['#/items', '#/delivery', '#/total', '#/metadata'].map((pointer) => [pointer, 'conflicting_fields']),
    );
  });
});

test('an order without a quote requires items and a delivery', async () => {
  const { status, body } = await post('/orders', {});
  expect([status, body.code]).toEqual([400, 'invalid_request']);
  expect(body.errors).toMatchObject([
    { pointer: '#/items', code: 'required' },
    { pointer: '#/delivery', code: 'required' },
  ]);
});
