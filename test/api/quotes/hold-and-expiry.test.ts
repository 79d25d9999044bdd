import { describe, expect, test } from 'vitest';
import {
  deleteOldUnorderedQuotesBatch,
  unorderedQuoteRetentionDays,
  recordExpiredQuotesAndReleaseStock,
} from '../../../server/quotes/record-and-delete-expired-quotes.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);

const em = () => shop.db.em.fork();
const createQuote = (body: object): Promise<ApiResponse> => anna.callApi('POST', '/api/v1/quotes', { body });
const hold = async (...items: readonly [JsonBody, number][]): Promise<JsonBody> => {
  const { status, body } = await createQuote({ ...buildOrderInput(...items), hold: true });
  expect([status, body]).toMatchObject([201, { hold: true, is_available: true }]);
  return body;
};
const readQuote = async ({ id }: JsonBody): Promise<JsonBody> => (await anna.callApi('GET', `/api/v1/quotes/${id}`)).body;
const cancel = ({ id }: JsonBody): Promise<ApiResponse> => anna.callApi('POST', `/api/v1/quotes/${id}/cancellation`);
const quoteEvents = ({ id }: JsonBody): Promise<string[]> => readEventTypes(shop.db, 'quote', id);
const productEvents = async ({ id }: JsonBody): Promise<string[]> =>
  (await readEventTypes(shop.db, 'product', id)).filter((type) => type.includes('stock'));
const inMinutes = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);

describe('a quote with `hold`', () => {
  test('reserves the units for 15 minutes, and the order takes over exactly these units', async () => {
    const [one, two] = [await shop.createProduct({ stock: 5 }), await shop.createProduct({ stock: null })];
    const quote = await hold([one, 2], [two, 7], [one, 1]);
    expect(Date.parse(quote.expires_at) - Date.parse(quote.created_at)).toBe(15 * 60 * 1000);
    expect([await shop.getStock(one), await shop.getStock(two)]).toEqual([2, null]);
    await shop.placeOrder(buildOrderInput([one, 2]));
    const { status, body: order } = await anna.callApi('POST', '/api/v1/orders', { body: { quote_id: quote.id } });
    expect([status, await shop.getStock(one)]).toEqual([201, 0]);
    expect((await anna.callApi('POST', `/api/v1/orders/${order.id}/cancellation`, { body: {} })).status).toBe(201);
    expect(await shop.getStock(one)).toBe(3);
    expect((await cancel(quote)).body.code).toBe('invalid_transition');
    expect(await shop.getStock(one)).toBe(3);
  });

  test('is rejected if too few units of a product are available, and reserves nothing of the others', async () => {
    const [one, two] = [await shop.createProduct({ stock: 5 }), await shop.createProduct({ stock: 1 })];
    const { status, body } = await createQuote({ ...buildOrderInput([one, 1], [two, 1], [two, 1]), hold: true });
    expect([status, body.code, body.errors]).toMatchObject([
      409,
      'out_of_stock',
      [
        { pointer: '#/items/1/product_id', product_id: two.id, requested: 2, available: 1 },
        { pointer: '#/items/2/product_id', product_id: two.id },
      ],
    ]);
    expect([await shop.getStock(one), await shop.getStock(two)]).toEqual([5, 1]);
  });

  test('of the last units makes the product sold out until the quote is canceled', async () => {
    const product = await shop.createProduct({ stock: 2 });
    const quote = await hold([product, 2]);
    expect(await productEvents(product)).toEqual(['product.out_of_stock']);
    const order = { body: buildOrderInput([product, 1]) };
    expect((await anna.callApi('POST', '/api/v1/orders', order)).body.code).toBe('out_of_stock');
    const canceled = await cancel(quote);
    expect([canceled.status, canceled.body]).toMatchObject([201, { status: 'canceled', canceled_at: expect.any(String), version: 2 }]);
    expect([await shop.getStock(product), await productEvents(product)]).toEqual([2, ['product.out_of_stock', 'product.back_in_stock']]);
    expect(await quoteEvents(quote)).toEqual(['quote.created', 'quote.canceled']);
    const again = await cancel(quote);
    expect([again.status, again.body]).toMatchObject([409, { code: 'invalid_transition', detail: expect.stringContaining('is canceled') }]);
    expect(await shop.getStock(product)).toBe(2);
  });

  test('can be requested for up to 30 minutes', async () => {
    const input = buildOrderInput([await shop.createProduct(), 1]);
    const { body } = await createQuote({ ...input, hold: true, expires_in: 1800 });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(30 * 60 * 1000);
  });
});

describe('the job for expired quotes', () => {
  test('returns the reserved units once, and records one event', async () => {
    await recordExpiredQuotesAndReleaseStock(em(), inMinutes(7 * 24 * 60 + 1));
    const product = await shop.createProduct({ stock: 3 });
    const [held, open] = [await hold([product, 3]), (await createQuote(buildOrderInput([product, 1]))).body];
    expect(await recordExpiredQuotesAndReleaseStock(em(), new Date())).toBe(0);
    expect(await recordExpiredQuotesAndReleaseStock(em(), inMinutes(16))).toBe(1);
    expect(await recordExpiredQuotesAndReleaseStock(em(), inMinutes(16))).toBe(0);
    expect([await shop.getStock(product), await productEvents(product)]).toEqual([3, ['product.out_of_stock', 'product.back_in_stock']]);
    expect([await quoteEvents(held), await quoteEvents(open)]).toEqual([['quote.created', 'quote.expired'], ['quote.created']]);
    const [event] = await em().execute<{ data: JsonBody }[]>(`select data from events where type = 'quote.expired' and subject_id = ?`, [
      held.id,
    ]);
    expect(event?.data).toMatchObject({ id: held.id, status: 'expired', version: 2, total: held.total, limits: null });
    const { status, body } = await anna.callApi('POST', '/api/v1/orders', { body: { quote_id: held.id } });
    expect([status, body.code]).toEqual([409, 'quote_not_open']);
  });

  test('skips converted and canceled quotes', async () => {
    const product = await shop.createProduct();
    const [converted, canceled] = [await hold([product, 1]), await hold([product, 1])];
    await anna.callApi('POST', '/api/v1/orders', { body: { quote_id: converted.id } });
    await cancel(canceled);
    await recordExpiredQuotesAndReleaseStock(em(), inMinutes(7 * 24 * 60 + 1));
    expect([await quoteEvents(converted), await quoteEvents(canceled)]).toEqual([
      ['quote.created', 'quote.converted'],
      ['quote.created', 'quote.canceled'],
    ]);
  });

  test('handles more quotes than one transaction contains', { timeout: 60_000 }, async () => {
    await recordExpiredQuotesAndReleaseStock(em(), inMinutes(7 * 24 * 60 + 1));
    const quote = (await createQuote(buildOrderInput([await shop.createProduct(), 1]))).body;
    await em().execute(
      `insert into quotes (user_id, client_id, currency, tax_mode, subtotal, discount_total, shipping_total, tax_total, total, items, delivery, hold, expires_at)
       select user_id, client_id, currency, tax_mode, subtotal, discount_total, shipping_total, tax_total, total, items, delivery, hold, expires_at
         from quotes, generate_series(1, 200) where id = ?`,
      [quote.id],
    );
    expect(await recordExpiredQuotesAndReleaseStock(em(), inMinutes(25 * 60))).toBe(201);
  });
});

describe('the job for old quotes', () => {
  test(`deletes quotes without an order ${unorderedQuoteRetentionDays} days after they expired, and keeps the others`, async () => {
    const input = buildOrderInput([await shop.createProduct(), 1]);
    const create = async (): Promise<JsonBody> => (await createQuote(input)).body;
    const [converted, canceled, expired, recent] = [await create(), await create(), await create(), await create()];
    await anna.callApi('POST', '/api/v1/orders', { body: { quote_id: converted.id } });
    await cancel(canceled);
    const backdate = (quotes: JsonBody[], days: number): Promise<unknown> =>
      em().execute(`update quotes set expires_at = now() - ? * interval '1 day' where id in (?)`, [days, quotes.map(({ id }) => id)]);
    await backdate([converted, canceled, expired], unorderedQuoteRetentionDays + 1);
    await backdate([recent], unorderedQuoteRetentionDays - 1);
    await recordExpiredQuotesAndReleaseStock(em(), new Date());
    await deleteOldUnorderedQuotesBatch(em(), new Date());
    const statuses = await Promise.all([converted, canceled, expired, recent].map(async (quote) => (await readQuote(quote)).status));
    expect(statuses).toEqual(['converted', 404, 404, 'expired']);
  });
});
