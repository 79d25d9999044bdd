import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildProductInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { readEventTypes } from '../../support/read-event-types.ts';

const shop = withShop();

const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1/products${path}`, { token: shop.token, body, headers });
const get = (path: string, token?: string): Promise<ApiResponse> =>
  shop.callApi('GET', `/api/v1/products${path}`, token === undefined ? {} : { token });
const errorsOf = ({ body }: ApiResponse): string[] =>
  body.errors.map((entry: JsonBody) => `${entry.pointer ?? entry.parameter} ${entry.code}`);

describe('POST /products', () => {
  test('201: creates a draft with default values', async () => {
    const { sku, name, category, price, currency } = buildProductInput();
    const { status, body, headers } = await send('POST', '', { sku, name, category, price, currency });
    expect([status, headers.get('location')]).toEqual([201, `/api/v1/products/${body.id}`]);
    expect(body).toMatchObject({ sku, name, description: '', tax_rate_bps: 0, stock: null, status: 'draft', metadata: {}, version: 1 });
  });

  test('409: rejects an existing SKU', async () => {
    const product = buildProductInput();
    await send('POST', '', product);
    const response = await send('POST', '', product);
    expect([response.status, response.body.code, errorsOf(response)]).toEqual([409, 'sku_taken', ['#/sku not_unique']]);
  });

  test('400: reports all invalid fields', async () => {
    const response = await send('POST', '', {
      sku: ' x',
      name: 'a\u0007b',
      category: 'Bags & more',
      price: 1.5,
      currency: 'eur',
      stock: -1,
      metadata: { a: 1 },
    });
    expect(errorsOf(response).toSorted()).toEqual([
      '#/category invalid_value',
      '#/currency invalid_value',
      '#/metadata/a invalid_type',
      '#/name invalid_value',
      '#/price invalid_type',
      '#/sku invalid_value',
      '#/stock out_of_range',
    ]);
  });

  test('403: rejects customers, regardless of the scopes of their application', async () => {
    const anna = await shop.createAccount('customer', ['orders.read']);
    const refused = await shop.callApi('POST', '/api/v1/products', { token: anna.token, body: buildProductInput() });
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope']);
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const { access_token: token } = await obtainTokens(shop.origin, staffUser, ['products.write']);
    expect((await shop.callApi('POST', '/api/v1/products', { token, body: buildProductInput() })).status).toBe(201);
    await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [staffUser.id]);
    const demoted = await shop.callApi('POST', '/api/v1/products', { token, body: buildProductInput() });
    expect([demoted.status, demoted.body.code]).toEqual([403, 'forbidden']);
  });
});

describe('GET /products', () => {
  test('200: lists active products for all callers, with sorting and filters', async () => {
    const category = 'garden';
    const products = [];
    for (const price of [300, 100, 200, 200]) products.push(await shop.createProduct({ category, price, name: `G${price}` }));
    await shop.createProduct({ category, status: 'draft' });
    const prices = async (query: string): Promise<number[]> =>
      (await get(`?category=${category}&${query}`)).body.data.map((product: JsonBody) => product.price);
    expect(await prices('sort=price')).toEqual([100, 200, 200, 300]);
    expect(await prices('sort=-price')).toEqual([300, 200, 200, 100]);
    expect(await prices('sort=name')).toEqual([100, 200, 200, 300]);
    expect(await prices('')).toEqual([200, 200, 100, 300]);
    expect(await prices('price_gte=150&price_lte=250')).toEqual([200, 200]);
    expect((await get(`?sku=${products[0].sku}`)).body.data).toMatchObject([{ id: products[0].id }]);
    expect((await get(`?category=${category}&include_total=true&limit=1`)).body.total_count).toBe(4);
  });

  test.each(['price', '-price', 'name', '-name', 'created_at', '-created_at'])(
    '200: returns each product once in pages sorted by %s',
    async (sort) => {
      const seenIds: number[] = [];
      let path = `?limit=2&category=garden&sort=${sort}`;
      for (;;) {
        const response = await get(path);
        seenIds.push(...response.body.data.map((product: JsonBody) => product.id));
        const next = /<\/api\/v1\/products([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
        if (next === undefined) break;
        path = next;
      }
      expect(new Set(seenIds).size).toBe(4);
      expect(seenIds).toHaveLength(4);
    },
  );

  test('403: only staff can list drafts', async () => {
    expect((await get('?status=draft')).body.code).toBe('forbidden');
    expect((await get('?status=draft,active', shop.token)).status).toBe(200);
  });

  test('401: rejects an invalid token even on a public path', async () => {
    expect((await get('', 'nonsense')).body.code).toBe('invalid_token');
  });
});

describe('GET /products/{product_id}', () => {
  test('200: returns the current stock; 404 for a draft unless the caller is staff', async () => {
    const draft = await shop.createProduct({ status: 'draft' });
    expect((await get(`/${draft.id}`)).body.code).toBe('not_found');
    expect((await get(`/${draft.id}`, shop.token)).body).toEqual(draft);
    const product = await shop.createProduct({ stock: 7 });
    expect((await get(`/${product.id}`)).body).toEqual(product);
    expect((await get('/999999')).status).toBe(404);
  });
});

describe('PATCH /products/{product_id}', () => {
  test('200: changes the given fields, increments the version, and accepts both media types', async () => {
    const product = await shop.createProduct({ metadata: { a: '1', b: '2' } });
    const changed = await send(
      'PATCH',
      `/${product.id}`,
      { price: 1, metadata: { a: null, c: '3' }, tax_rate_bps: 700 },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(changed.body).toMatchObject({
      ...product,
      price: 1,
      metadata: { b: '2', c: '3' },
      tax_rate_bps: 700,
      version: 2,
      updated_at: expect.any(String),
    });
    expect((await send('PATCH', `/${product.id}`, {})).body).toEqual(changed.body);
  });

  test('400: rejects unknown, read-only and null fields', async () => {
    const { id } = await shop.createProduct();
    expect(errorsOf(await send('PATCH', `/${id}`, { sku: 'other', stock: 4, colour: 'red', name: null })).toSorted()).toEqual([
      '#/colour unknown_field',
      '#/name not_nullable',
      '#/sku read_only_field',
      '#/stock read_only_field',
    ]);
  });

  test('409: a product cannot become a draft again', async () => {
    const { id } = await shop.createProduct();
    expect((await send('PATCH', `/${id}`, { status: 'draft' })).body.code).toBe('invalid_transition');
    expect((await send('PATCH', `/${id}`, { status: 'archived' })).body.status).toBe('archived');
    expect((await send('PATCH', `/${id}`, { status: 'active' })).body.status).toBe('active');
  });

  test('404 for an unknown product, and 415 with the accepted media types', async () => {
    expect((await send('PATCH', '/999999', { price: 1 })).status).toBe(404);
    const { id } = await shop.createProduct();
    const { body, headers } = await send('PATCH', `/${id}`, 'price=1', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([body.code, headers.get('accept-patch')]).toEqual(['unsupported_media_type', 'application/merge-patch+json, application/json']);
  });
});

describe('/products/{product_id}/stock-adjustments', () => {
  const adjust = (id: number, delta: number, headers: Record<string, string> = {}): Promise<ApiResponse> =>
    send('POST', `/${id}/stock-adjustments`, { delta, reason: 'correction', note: 'counted' }, headers);

  test('201: changes the stock, starts stock tracking, and records the adjustment', async () => {
    const product = await shop.createProduct({ stock: null });
    expect((await adjust(product.id, 5)).body).toMatchObject({
      product_id: product.id,
      delta: 5,
      stock_after: 5,
      reason: 'correction',
      note: 'counted',
    });
    expect((await adjust(product.id, -2)).body.stock_after).toBe(3);
    const { body } = await shop.callApi('GET', `/api/v1/products/${product.id}/stock-adjustments?limit=1&include_total=true`, {
      token: shop.token,
    });
    expect(body).toMatchObject({ data: [{ delta: -2 }], has_more: true, total_count: 2 });
    const next = await shop.callApi('GET', `/api/v1/products/${product.id}/stock-adjustments?limit=1&cursor=${body.next_cursor}`, {
      token: shop.token,
    });
    expect(next.body).toMatchObject({ data: [{ delta: 5 }], has_more: false });
    expect((await get(`/${product.id}`)).body.stock).toBe(3);
  });

  test('201: an event records each stock change, and when stock runs out and returns', async () => {
    const { id } = await shop.createProduct({ stock: 3 });
    for (const delta of [-1, -2, 4, 1]) expect((await adjust(id, delta)).status).toBe(201);
    expect(await readEventTypes(shop.db, 'product', id)).toEqual([
      'product.created',
      'product.stock_changed',
      'product.stock_changed',
      'product.out_of_stock',
      'product.stock_changed',
      'product.back_in_stock',
      'product.stock_changed',
    ]);
  });

  test('201: applies the same idempotency key once', async () => {
    const { id } = await shop.createProduct({ stock: 1 });
    const [first, again] = [await adjust(id, 1, { 'idempotency-key': 'once' }), await adjust(id, 1, { 'idempotency-key': 'once' })];
    expect(again.text).toBe(first.text);
    expect((await get(`/${id}`)).body.stock).toBe(2);
  });

  test('409: rejects a stock below zero or above the maximum', async () => {
    const { id } = await shop.createProduct({ stock: 3 });
    const response = await adjust(id, -4);
    expect([response.status, response.body.code, response.body.errors[0].available]).toEqual([409, 'insufficient_stock', 3]);
    expect((await adjust(id, 2_000_000_000)).status).toBe(409);
    expect((await adjust((await shop.createProduct({ stock: null })).id, -1)).status).toBe(409);
    expect((await get(`/${id}`)).body.stock).toBe(3);
  });

  test('400 for a delta of zero, and 404 for an unknown product', async () => {
    const { id } = await shop.createProduct();
    expect(errorsOf(await adjust(id, 0))).toEqual(['#/delta invalid_value']);
    expect((await adjust(999_999, 1)).status).toBe(404);
    expect((await shop.callApi('GET', '/api/v1/products/999999/stock-adjustments', { token: shop.token })).status).toBe(404);
  });
});
