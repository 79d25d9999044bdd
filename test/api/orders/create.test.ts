import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput, deliveryAddress, pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);

const placeOrder = (body: unknown, headers: Record<string, string> = {}, as = anna.token): Promise<ApiResponse> =>
  shop.callApi('POST', '/api/v1/orders', { token: as, body, headers });

describe('201', () => {
  test('stores the prices, computes the totals and takes the stock', async () => {
    const [heart, mug] = [await shop.createProduct({ tax_rate_bps: 2000 }), await shop.createProduct({ price: 1250, name: 'Mug' })];
    const delivery = { method: 'standard', recipient_name: 'Anna Test', ...deliveryAddress };
    const { status, body, headers } = await placeOrder({
      ...buildOrderInput([heart, 3], [mug, 2]),
      delivery,
      reference: 'A-7',
      note: 'Ring\ntwice',
      metadata: { till: '4' },
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/orders/${body.id}`);
    expect(body).toMatchObject({
      user_id: anna.id,
      client_id: 'mandate-cli',
      status: 'pending',
      payment_status: 'unpaid',
      fulfillment_status: 'unfulfilled',
      currency: 'EUR',
      subtotal: 3 * 255 + 2 * 1250,
      shipping_total: 395,
      tax_total: 128, // at a tax rate of 20%, 765 includes 127.5 of tax; half a cent is rounded up
      total: 3 * 255 + 2 * 1250 + 395,
      item_count: 2,
      delivery,
      reference: 'A-7',
      note: 'Ring\ntwice',
      metadata: { till: '4' },
      version: 1,
    });
    expect(body.items).toMatchObject([
      { line: 1, product_id: heart.id, sku: heart.sku, name: heart.name, unit_price: 255, quantity: 3, tax: 128, total: 765 },
      { line: 2, product_id: mug.id, unit_price: 1250, quantity: 2, tax: 0, total: 2500 },
    ]);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(30 * 60_000);
    expect([await shop.getStock(heart), await shop.getStock(mug)]).toEqual([97, 98]);
  });

  test('keeps lines of the same product separate, and checks the stock for their sum', async () => {
    const product = await shop.createProduct({ stock: 5 });
    const { status, body } = await placeOrder(buildOrderInput([product, 2], [product, 3]));
    expect(status).toBe(201);
    expect(body.items.map((item: JsonBody) => [item.line, item.quantity])).toEqual([
      [1, 2],
      [2, 3],
    ]);
    expect(await shop.getStock(product)).toBe(0);
  });

  test('accepts up to 100,000 units per line if the stock is not tracked', async () => {
    const product = await shop.createProduct({ stock: null, price: 999_999_999 });
    const { status, body } = await placeOrder(buildOrderInput([product, 100_000]));
    expect([status, body.total]).toEqual([201, 99_999_999_900_000]);
  });

  test.each(['JPY', 'EUR', 'KWD'])('calculates in the minor unit of %s', async (currency) => {
    const method = `pickup_${currency.toLowerCase()}`;
    const body = { name: 'Pick up', price: 5, currency, requires_address: false };
    await shop.callApi('PUT', `/api/v1/delivery-methods/${method}`, { token: shop.token, body });
    const product = await shop.createProduct({ currency, price: 1234 });
    const placed = await placeOrder({ ...buildOrderInput([product, 3]), delivery: { ...pickupDelivery, method } });
    expect(placed.body).toMatchObject({ currency, subtotal: 3702, shipping_total: 5, total: 3707 });
  });

  test.each(['-1', '1.5', '1e3.5', '"3"', 'null', '1e400'])('rejects a quantity of %s, with a pointer', async (quantity) => {
    const { id } = await shop.createProduct();
    const response = await placeOrder(
      `{"items":[{"product_id":${id},"quantity":${quantity}}],"delivery":${JSON.stringify(pickupDelivery)}}`,
    );
    expect(response.status).toBe(400);
    expect(response.body.code === 'malformed_json' || response.body.errors[0].pointer === '#/items/0/quantity').toBe(true);
  });

  test('accepts an order with 2,000 lines', async () => {
    const product = await shop.createProduct({ stock: 2000, price: 1 });
    const { status, body } = await placeOrder(buildOrderInput(...Array.from({ length: 2000 }, (): [JsonBody, number] => [product, 1])));
    expect([status, body.item_count, body.total, body.items.length]).toEqual([201, 2000, 2000, 2000]);
  });

  test('marks an order with a total of zero as paid', async () => {
    const { body } = await placeOrder(buildOrderInput([await shop.createProduct({ price: 0 }), 1]));
    expect(body).toMatchObject({ status: 'paid', payment_status: 'paid', total: 0, expires_at: null });
    expect(body.paid_at).not.toBeNull();
  });

  test('staff and applications with orders.manage can order for a customer', async () => {
    const [product, ben] = [await shop.createProduct(), await shop.createUser()];
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const { access_token } = await obtainTokens(shop.origin, staffUser, ['orders.write', 'orders.manage']);
    for (const as of [shop.token, access_token]) {
      const { status, body } = await placeOrder({ ...buildOrderInput([product, 1]), user_id: ben.id }, {}, as);
      expect([status, body.user_id]).toEqual([201, ben.id]);
    }
  });

  test('keeps the original price when the product changes', async () => {
    const product = await shop.createProduct({ price: 700 });
    const { body: placed } = await placeOrder(buildOrderInput([product, 1]));
    await shop.callApi('PATCH', `/api/v1/products/${product.id}`, { token: shop.token, body: { price: 900, name: 'Dearer' } });
    const { body } = await shop.callApi('GET', `/api/v1/orders/${placed.id}`, { token: anna.token });
    expect(body).toEqual(placed);
  });
});

describe('400', () => {
  const validationErrors = async (body: unknown): Promise<[number, string, string[]]> => {
    const response = await placeOrder(body);
    return [response.status, response.body.code, (response.body.errors ?? []).map((entry: JsonBody) => `${entry.pointer} ${entry.code}`)];
  };

  test('reports all errors at once, with pointers', async () => {
    const product = await shop.createProduct();
    const body = {
      items: [{ product_id: product.id, quantity: 0 }, { product_id: '7', quantity: 1.5, price: 1 }, { quantity: 1e21 }],
      delivery: { method: 'Pick up', recipient_name: ' ', country: 'England' },
      total: -1,
      id: 7,
      colour: 'red',
    };
    expect(await validationErrors(body)).toEqual([
      400,
      'invalid_request',
      expect.arrayContaining([
        '#/items/0/quantity out_of_range',
        '#/items/1/product_id invalid_type',
        '#/items/1/quantity invalid_type',
        '#/items/1/price unknown_field',
        '#/items/2/product_id required',
        '#/items/2/quantity out_of_range',
        '#/delivery/method invalid_value',
        '#/delivery/recipient_name out_of_range',
        '#/delivery/country invalid_value',
        '#/total out_of_range',
        '#/id read_only_field',
        '#/colour unknown_field',
      ]),
    ]);
  });

  test('names each unknown product, the unknown delivery method and missing address fields', async () => {
    const product = await shop.createProduct();
    const unknown = { ...buildOrderInput([{ id: 999_999 }, 1], [product, 1]), delivery: { ...pickupDelivery, method: 'pigeon' } };
    expect(await validationErrors(unknown)).toEqual([
      400,
      'invalid_request',
      ['#/items/0/product_id unknown_reference', '#/delivery/method unknown_reference'],
    ]);
    const withoutAddress = { ...buildOrderInput([product, 1]), delivery: { ...pickupDelivery, method: 'standard', city: 'Leeds' } };
    expect(await validationErrors(withoutAddress)).toEqual([
      400,
      'invalid_request',
      ['#/delivery/line1 required', '#/delivery/country required'],
    ]);
    const withRetiredMethod = { ...buildOrderInput([product, 1]), delivery: { ...pickupDelivery, ...deliveryAddress, method: 'drone' } };
    expect(await validationErrors(withRetiredMethod)).toEqual([400, 'invalid_request', ['#/delivery/method unknown_reference']]);
  });

  test('rejects two currencies, among products or with the delivery method', async () => {
    const [euro, dollar] = [await shop.createProduct(), await shop.createProduct({ currency: 'USD' })];
    expect(await validationErrors(buildOrderInput([euro, 1], [dollar, 1]))).toEqual([
      400,
      'invalid_request',
      ['#/items currency_mismatch'],
    ]);
    expect(await validationErrors({ ...buildOrderInput([euro, 1]), delivery: { ...pickupDelivery, method: 'overseas' } })).toEqual([
      400,
      'invalid_request',
      ['#/delivery/method currency_mismatch'],
    ]);
  });

  test('rejects a total above 2^53-1', async () => {
    const product = await shop.createProduct({ stock: null, price: 999_999_999 });
    const items = Array.from({ length: 91 }, (): [JsonBody, number] => [product, 100_000]);
    expect(await validationErrors(buildOrderInput(...items))).toEqual([400, 'invalid_request', ['#/items out_of_range']]);
  });

  test('rejects zero lines, more than 2,000 lines, and a body that is not an object', async () => {
    const product = await shop.createProduct();
    expect((await validationErrors({ items: [], delivery: pickupDelivery }))[2]).toEqual(['#/items out_of_range']);
    expect((await validationErrors(buildOrderInput(...Array.from({ length: 2001 }, (): [JsonBody, number] => [product, 1]))))[2]).toEqual([
      '#/items out_of_range',
    ]);
    expect((await validationErrors([]))[2]).toEqual(['# invalid_type']);
    expect((await placeOrder('"text"')).body.code).toBe('malformed_json');
    expect((await placeOrder('{"items":')).body.code).toBe('malformed_json');
    expect((await shop.callApi('POST', '/api/v1/orders', { token: anna.token })).body.errors).toMatchObject([
      { pointer: '#', code: 'required' },
    ]);
  });

  test('names user_id if the user is unknown or missing', async () => {
    const product = await shop.createProduct();
    const { body } = await placeOrder({ ...buildOrderInput([product, 1]), user_id: 999_999 }, {}, shop.token);
    expect(body.errors).toMatchObject([{ pointer: '#/user_id', code: 'unknown_reference' }]);
    const withoutUser = await placeOrder(buildOrderInput([product, 1]), {}, shop.token);
    expect(withoutUser.body.errors).toMatchObject([{ pointer: '#/user_id', code: 'required' }]);
  });
});

describe('401', () => {
  test('requires a token before it validates the body', async () => {
    const { status, body, headers } = await shop.callApi('POST', '/api/v1/orders', { body: '{"items":' });
    expect([status, body.code, headers.get('www-authenticate')]).toEqual([
      401,
      'missing_token',
      expect.stringMatching(/^Bearer realm="api", resource_metadata="/),
    ]);
  });
});

describe('403', () => {
  test('rejects a token without orders.write, and names the scope', async () => {
    const reader = await obtainTokens(shop.origin, anna, ['orders.read']);
    const { status, body, headers } = await placeOrder(buildOrderInput([await shop.createProduct(), 1]), {}, reader.access_token);
    expect([status, body.code]).toEqual([403, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="api", error="insufficient_scope", scope="orders.write"');
  });

  test('a customer cannot order for another user', async () => {
    const ben = await shop.createUser();
    const { status, body } = await placeOrder({ ...buildOrderInput([await shop.createProduct(), 1]), user_id: ben.id });
    expect([status, body.code]).toEqual([403, 'forbidden']);
    expect((await placeOrder({ ...buildOrderInput([await shop.createProduct(), 1]), user_id: anna.id })).status).toBe(201);
  });
});

describe('409', () => {
  test('reports requested and available quantities, and takes no stock', async () => {
    const [scarce, plenty] = [await shop.createProduct({ stock: 3 }), await shop.createProduct()];
    const { status, body } = await placeOrder(buildOrderInput([plenty, 1], [scarce, 2], [scarce, 2]));
    expect([status, body.code]).toEqual([409, 'out_of_stock']);
    const shortage = { code: 'out_of_stock', product_id: scarce.id, requested: 4, available: 3 };
    expect(body.errors).toMatchObject([
      { pointer: '#/items/1/product_id', ...shortage },
      { pointer: '#/items/2/product_id', ...shortage },
    ]);
    expect([await shop.getStock(scarce), await shop.getStock(plenty)]).toEqual([3, 100]);
  });

  test('rejects an outdated total, and returns the current one', async () => {
    const product = await shop.createProduct({ price: 500 });
    const { status, body } = await placeOrder({ ...buildOrderInput([product, 2]), total: 999 });
    expect([status, body.code, body.errors[0].actual]).toEqual([409, 'price_changed', 1000]);
    expect((await placeOrder({ ...buildOrderInput([product, 2]), total: 1000 })).status).toBe(201);
  });

  test('rejects draft products', async () => {
    const draft = await shop.createProduct({ status: 'draft' });
    const { status, body } = await placeOrder(buildOrderInput([draft, 1]));
    expect([status, body.code, body.errors[0].pointer]).toEqual([409, 'product_unavailable', '#/items/0/product_id']);
  });
});

describe('413, 415', () => {
  test('rejects bodies over 1 MB, other media types and other charsets', async () => {
    expect((await placeOrder({ note: 'x'.repeat(1_000_001) })).body.code).toBe('payload_too_large');
    expect((await placeOrder('<order/>', { 'content-type': 'text/xml' })).body.code).toBe('unsupported_media_type');
    expect((await placeOrder('{}', { 'content-type': 'application/json; charset=latin1' })).body.code).toBe('unsupported_media_type');
  });
});
