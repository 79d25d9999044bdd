import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readEventTypes } from '../../support/read-event-types.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { ownerCreateStatuses, ownerListStatuses, ownerStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';
import { buildOrderInput, deliveryAddress } from '../../support/shop/test-shop.ts';

const newQuoteBody = async (): Promise<JsonBody> => buildOrderInput([await shop.createProduct(), 2]);
const createOwnQuote = async (): Promise<number> => (await createResource('POST', '/quotes', await newQuoteBody(), tokens.owner)).id;

const { shop, owner, tokens, createResource } = testAuthorization({
  'quotes.create': {
    send: async () => ['POST', '/quotes', { ...(await newQuoteBody()), user_id: owner.id }],
    statuses: [401, 403, 403, 201, 201, 201, 201, 201],
  },
  'quotes.list': { send: () => ['GET', `/quotes?user_id=${owner.id}`], statuses: ownerListStatuses },
  'quotes.get': { send: async () => ['GET', `/quotes/${await createOwnQuote()}`], statuses: ownerStatuses },
  'quotes.cancel': { send: async () => ['POST', `/quotes/${await createOwnQuote()}/cancellation`], statuses: ownerCreateStatuses },
});

const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1${path}`, { token: tokens.owner ?? '', headers, ...(body && { body }) });
const quoteEvents = (id: number): Promise<string[]> => readEventTypes(shop.db, 'quote', id);

describe('a quote', () => {
  test('has the prices, taxes, delivery price and lines of the order that is placed from it', async () => {
    const [one, two] = [await shop.createProduct({ price: 1000, tax_rate_bps: 1900 }), await shop.createProduct({ price: 333, stock: 1 })];
    const input = {
      ...buildOrderInput([one, 2], [two, 3]),
      delivery: { method: 'standard', recipient_name: 'Anna', ...deliveryAddress },
      reference: 'PO-1',
      note: 'Please ring',
      metadata: { a: '1' },
    };
    const { status, body, headers } = await call('POST', '/quotes', input);
    expect([status, body]).toMatchObject([
      201,
      { status: 'open', hold: false, is_available: false, limits: null, order_id: null, canceled_at: null, subtotal: 2999, total: 3394 },
    ]);
    expect(body.items).toMatchObject([
      { line: 1, product_id: one.id, unit_price: 1000, tax: 319, total: 2000, is_available: true, available_quantity: 100 },
      { line: 2, product_id: two.id, unit_price: 333, tax: 0, total: 999, is_available: false, available_quantity: 1 },
    ]);
    expect(headers.get('location')).toBe(`/api/v1/quotes/${body.id}`);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(24 * 60 * 60 * 1000);
    const read = await call('GET', `/quotes/${body.id}`);
    expect([read.body, read.headers.get('etag')]).toEqual([body, headers.get('etag')]);
    expect((await call('GET', `/quotes/${body.id}`, undefined, { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(304);

    expect((await call('POST', '/orders', { quote_id: body.id })).body.code).toBe('out_of_stock');
    await shop.callApi('POST', `/api/v1/products/${two.id}/stock-adjustments`, {
      token: shop.token,
      body: { delta: 5, reason: 'received' },
    });
    const placed = await call('POST', '/orders', { quote_id: body.id });
    expect(placed.status).toBe(201);
    expect(body.items).toMatchObject(
      placed.body.items.map(({ shipped_quantity: _shipped, restocked_quantity: _restocked, ...line }: JsonBody) => line),
    );
    const sameFields = ['user_id', 'currency', 'tax_mode', 'subtotal', 'discount_total', 'shipping_total', 'tax_total', 'total'];
    for (const name of [...sameFields, 'item_count', 'delivery', 'reference', 'note', 'metadata'])
      expect([name, placed.body[name]]).toEqual([name, body[name]]);
    expect((await call('GET', `/quotes/${body.id}`)).body).toMatchObject({
      status: 'converted',
      order_id: placed.body.id,
      converted_at: expect.any(String),
      version: 2,
    });
    expect(await quoteEvents(body.id)).toEqual(['quote.created', 'quote.converted']);
  });

  test('is created once for repeated requests with the same Idempotency-Key', async () => {
    const product = await shop.createProduct({ stock: 10 });
    const body = { ...buildOrderInput([product, 2]), hold: true };
    const key = { 'idempotency-key': randomUUID() };
    const first = await call('POST', '/quotes', body, key);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
    const quotes = (await call('GET', '/quotes')).body;
    const repeated = await call('POST', '/quotes', body, key);
    expect([repeated.status, repeated.headers.get('idempotent-replayed'), repeated.body]).toEqual([201, 'true', first.body]);
    expect(repeated.headers.get('location')).toBe(first.headers.get('location'));
    const changed = await call('POST', '/quotes', { ...body, note: 'Another order' }, key);
    expect([changed.status, changed.body.code]).toEqual([422, 'idempotency_key_reused']);
    expect((await call('GET', '/quotes')).body).toEqual(quotes);
    expect([await shop.getStock(product), await quoteEvents(first.body.id)]).toEqual([8, ['quote.created']]);
  });

  test('reserves nothing without `hold`', async () => {
    const product = await shop.createProduct({ stock: 2 });
    expect((await call('POST', '/quotes', buildOrderInput([product, 2]))).body.is_available).toBe(true);
    expect(await shop.getStock(product)).toBe(2);
  });
});
