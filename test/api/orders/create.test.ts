import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMandate, type Answer, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { signUp, signUpAs, tokensFor, type Person } from '../../support/oauth/oauth-flow.ts';
import { address, openShop, pickup, type Shop } from '../../support/server/shop.ts';

let mandate: Mandate;
let shop: Shop;
let anna: Person;
let token: string;

beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
  anna = await signUp(mandate.origin);
  token = (await tokensFor(mandate.origin, anna, ['orders.read', 'orders.write'])).access_token;
});
afterAll(() => mandate.close());

const place = (body: unknown, headers: Record<string, string> = {}, as = token): Promise<Answer> =>
  mandate.call('POST', '/api/v1/orders', { token: as, body, headers });
const orderOf = (...items: [Body, number][]) => ({
  items: items.map(([{ id }, quantity]) => ({ product_id: id, quantity })),
  delivery: pickup,
});
const stockOf = async ({ id }: Body): Promise<number> => (await mandate.call('GET', `/api/v1/products/${id}`)).body.stock;

describe('201', () => {
  test('fixes the prices, computes the totals and takes the stock', async () => {
    const [heart, mug] = [await shop.product({ tax_rate_bps: 2000 }), await shop.product({ price: 1250, name: 'Mug' })];
    const delivery = { method: 'standard', recipient_name: 'Anna Test', ...address };
    const { status, body, headers } = await place({
      ...orderOf([heart, 3], [mug, 2]),
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
      tax_total: 128, // 765 contain 127.5 at 20 %, and half a cent rounds up
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
    expect([await stockOf(heart), await stockOf(mug)]).toEqual([97, 98]);
  });

  test('keeps the same product on several lines, and counts them together against the stock', async () => {
    const product = await shop.product({ stock: 5 });
    const { status, body } = await place(orderOf([product, 2], [product, 3]));
    expect(status).toBe(201);
    expect(body.items.map((item: Body) => [item.line, item.quantity])).toEqual([
      [1, 2],
      [2, 3],
    ]);
    expect(await stockOf(product)).toBe(0);
  });

  test('sells without end what is not counted, up to 100,000 units a line', async () => {
    const product = await shop.product({ stock: null, price: 999_999_999 });
    const { status, body } = await place(orderOf([product, 100_000]));
    expect([status, body.total]).toEqual([201, 99_999_999_900_000]);
  });

  test.each(['JPY', 'EUR', 'KWD'])('counts in the minor unit of %s, whatever its decimals', async (currency) => {
    const method = `pickup_${currency.toLowerCase()}`;
    const body = { name: 'Pick up', price: 5, currency, requires_address: false };
    await mandate.call('PUT', `/api/v1/delivery-methods/${method}`, { token: shop.token, body });
    const product = await shop.product({ currency, price: 1234 });
    const placed = await place({ ...orderOf([product, 3]), delivery: { ...pickup, method } });
    expect(placed.body).toMatchObject({ currency, subtotal: 3702, shipping_total: 5, total: 3707 });
  });

  test.each(['-1', '1.5', '1e3.5', '"3"', 'null', '1e400'])('refuses a quantity of %s where it stands', async (quantity) => {
    const { id } = await shop.product();
    const answer = await place(`{"items":[{"product_id":${id},"quantity":${quantity}}],"delivery":${JSON.stringify(pickup)}}`);
    expect(answer.status).toBe(400);
    expect(answer.body.code === 'malformed_json' || answer.body.errors[0].pointer === '#/items/0/quantity').toBe(true);
  });

  test('takes an order of 2,000 lines', async () => {
    const product = await shop.product({ stock: 2000, price: 1 });
    const { status, body } = await place(orderOf(...Array.from({ length: 2000 }, (): [Body, number] => [product, 1])));
    expect([status, body.item_count, body.total, body.items.length]).toEqual([201, 2000, 2000, 2000]);
  });

  test('is paid at once when there is nothing to pay', async () => {
    const { body } = await place(orderOf([await shop.product({ price: 0 }), 1]));
    expect(body).toMatchObject({ status: 'paid', payment_status: 'paid', total: 0, expires_at: null });
    expect(body.paid_at).not.toBeNull();
  });

  test('lets staff and applications with orders.manage order for a customer', async () => {
    const [product, ben] = [await shop.product(), await shop.user()];
    const boss = await signUpAs(mandate.db, mandate.origin, 'staff');
    const { access_token } = await tokensFor(mandate.origin, boss, ['orders.write', 'orders.manage']);
    for (const as of [shop.token, access_token]) {
      const { status, body } = await place({ ...orderOf([product, 1]), user_id: ben.id }, {}, as);
      expect([status, body.user_id]).toEqual([201, ben.id]);
    }
  });

  test('keeps the price it was placed with when the product changes', async () => {
    const product = await shop.product({ price: 700 });
    const { body: placed } = await place(orderOf([product, 1]));
    await mandate.call('PATCH', `/api/v1/products/${product.id}`, { token: shop.token, body: { price: 900, name: 'Dearer' } });
    const { body } = await mandate.call('GET', `/api/v1/orders/${placed.id}`, { token });
    expect(body).toEqual(placed);
  });
});

describe('400', () => {
  const mistakes = async (body: unknown): Promise<[number, string, string[]]> => {
    const answer = await place(body);
    return [answer.status, answer.body.code, (answer.body.errors ?? []).map((entry: Body) => `${entry.pointer} ${entry.code}`)];
  };

  test('reports everything that is wrong at once, with pointers', async () => {
    const product = await shop.product();
    const body = {
      items: [{ product_id: product.id, quantity: 0 }, { product_id: '7', quantity: 1.5, price: 1 }, { quantity: 1e21 }],
      delivery: { method: 'Pick up', recipient_name: ' ', country: 'England' },
      total: -1,
      id: 7,
      colour: 'red',
    };
    expect(await mistakes(body)).toEqual([
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

  test('names each unknown product, the unknown method and what an address lacks', async () => {
    const product = await shop.product();
    const unknown = { ...orderOf([{ id: 999_999 }, 1], [product, 1]), delivery: { ...pickup, method: 'pigeon' } };
    expect(await mistakes(unknown)).toEqual([
      400,
      'invalid_request',
      ['#/items/0/product_id unknown_reference', '#/delivery/method unknown_reference'],
    ]);
    const homeless = { ...orderOf([product, 1]), delivery: { ...pickup, method: 'standard', city: 'Leeds' } };
    expect(await mistakes(homeless)).toEqual([400, 'invalid_request', ['#/delivery/line1 required', '#/delivery/country required']]);
    const retired = { ...orderOf([product, 1]), delivery: { ...pickup, ...address, method: 'drone' } };
    expect(await mistakes(retired)).toEqual([400, 'invalid_request', ['#/delivery/method unknown_reference']]);
  });

  test('refuses two currencies in one order, among products and with the delivery', async () => {
    const [euro, dollar] = [await shop.product(), await shop.product({ currency: 'USD' })];
    expect(await mistakes(orderOf([euro, 1], [dollar, 1]))).toEqual([400, 'invalid_request', ['#/items currency_mismatch']]);
    expect(await mistakes({ ...orderOf([euro, 1]), delivery: { ...pickup, method: 'overseas' } })).toEqual([
      400,
      'invalid_request',
      ['#/delivery/method currency_mismatch'],
    ]);
  });

  test('refuses a total beyond 2^53-1', async () => {
    const product = await shop.product({ stock: null, price: 999_999_999 });
    const items = Array.from({ length: 91 }, (): [Body, number] => [product, 100_000]);
    expect(await mistakes(orderOf(...items))).toEqual([400, 'invalid_request', ['#/items out_of_range']]);
  });

  test('refuses no lines, more than 2,000 lines, and a body that is no object', async () => {
    const product = await shop.product();
    expect((await mistakes({ items: [], delivery: pickup }))[2]).toEqual(['#/items out_of_range']);
    expect((await mistakes(orderOf(...Array.from({ length: 2001 }, (): [Body, number] => [product, 1]))))[2]).toEqual([
      '#/items out_of_range',
    ]);
    expect((await mistakes([]))[2]).toEqual(['# invalid_type']);
    expect((await place('"text"')).body.code).toBe('malformed_json');
    expect((await place('{"items":')).body.code).toBe('malformed_json');
    expect((await mandate.call('POST', '/api/v1/orders', { token })).body.errors).toMatchObject([{ pointer: '#', code: 'required' }]);
  });

  test('an order for a user who is not there names the field', async () => {
    const product = await shop.product();
    const { body } = await place({ ...orderOf([product, 1]), user_id: 999_999 }, {}, shop.token);
    expect(body.errors).toMatchObject([{ pointer: '#/user_id', code: 'unknown_reference' }]);
    const nobody = await place(orderOf([product, 1]), {}, shop.token);
    expect(nobody.body.errors).toMatchObject([{ pointer: '#/user_id', code: 'required' }]);
  });
});

describe('401', () => {
  test('asks for a token before it looks at anything else', async () => {
    const { status, body, headers } = await mandate.call('POST', '/api/v1/orders', { body: '{"items":' });
    expect([status, body.code, headers.get('www-authenticate')]).toEqual([
      401,
      'missing_token',
      expect.stringMatching(/^Bearer realm="api", resource_metadata="/),
    ]);
  });
});

describe('403', () => {
  test('a token that may only read places no order, and names the scope', async () => {
    const reader = await tokensFor(mandate.origin, anna, ['orders.read']);
    const { status, body, headers } = await place(orderOf([await shop.product(), 1]), {}, reader.access_token);
    expect([status, body.code]).toEqual([403, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="api", error="insufficient_scope", scope="orders.write"');
  });

  test('a customer cannot order for somebody else', async () => {
    const ben = await shop.user();
    const { status, body } = await place({ ...orderOf([await shop.product(), 1]), user_id: ben.id });
    expect([status, body.code]).toEqual([403, 'forbidden']);
    expect((await place({ ...orderOf([await shop.product(), 1]), user_id: anna.id })).status).toBe(201);
  });
});

describe('409', () => {
  test('names what is short, with what was asked for and what there is, and takes nothing', async () => {
    const [scarce, plenty] = [await shop.product({ stock: 3 }), await shop.product()];
    const { status, body } = await place(orderOf([plenty, 1], [scarce, 2], [scarce, 2]));
    expect([status, body.code]).toEqual([409, 'out_of_stock']);
    const shortage = { code: 'out_of_stock', product_id: scarce.id, requested: 4, available: 3 };
    expect(body.errors).toMatchObject([
      { pointer: '#/items/1/product_id', ...shortage },
      { pointer: '#/items/2/product_id', ...shortage },
    ]);
    expect([await stockOf(scarce), await stockOf(plenty)]).toEqual([3, 100]);
  });

  test('refuses another total than the customer was shown, and tells the present one', async () => {
    const product = await shop.product({ price: 500 });
    const { status, body } = await place({ ...orderOf([product, 2]), total: 999 });
    expect([status, body.code, body.errors[0].actual]).toEqual([409, 'price_changed', 1000]);
    expect((await place({ ...orderOf([product, 2]), total: 1000 })).status).toBe(201);
  });

  test('refuses drafts and archived products', async () => {
    const draft = await shop.product({ status: 'draft' });
    const { status, body } = await place(orderOf([draft, 1]));
    expect([status, body.code, body.errors[0].pointer]).toEqual([409, 'product_unavailable', '#/items/0/product_id']);
  });
});

describe('413, 415', () => {
  test('refuses more than 1 MB, other media types and other charsets', async () => {
    expect((await place({ note: 'x'.repeat(1_000_001) })).body.code).toBe('payload_too_large');
    expect((await place('<order/>', { 'content-type': 'text/xml' })).body.code).toBe('unsupported_media_type');
    expect((await place('{}', { 'content-type': 'application/json; charset=latin1' })).body.code).toBe('unsupported_media_type');
  });
});
