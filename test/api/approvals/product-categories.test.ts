import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { connectApplicationAndDecider } from '../../support/shop/approval-requests.ts';
import { buildOrderOf, createProductsInCategories, limitedTo } from '../../support/shop/category-limits.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
let products: Record<'books' | 'tea' | 'office', number>;
beforeAll(async () => {
  products = await createProductsInCategories(shop, ['books', 'tea', 'office']);
});

/** Connects an application that can order only books, and requests approval for an order of the given products. */
async function requestApproval(...productIds: number[]) {
  const { app, anna, decide } = await connectApplicationAndDecider(shop, limitedTo('books'));
  const { body: quote } = await app.post('/quotes', buildOrderOf(productIds));
  return { app, anna, decide, quoteId: quote.id, requested: await app.requestApproval(quote.id) };
}

/** Sets the application's ceiling. */
async function setCeiling(clientId: string, categories: readonly string[]): Promise<void> {
  const { body } = await shop.callApi('GET', '/api/v1/applications?limit=100', { token: shop.token });
  const { id } = body.data.find((each: JsonBody) => each.client_id === clientId);
  const change = { token: shop.token, body: { order_products_ceiling: { categories } } };
  expect((await shop.callApi('PATCH', `/api/v1/applications/${id}`, change)).status).toBe(200);
}

describe('an approval of an order with products of other categories', () => {
  test('states the categories as its reason, even on the page, and permits the order and its payment', async () => {
    const { app, anna, decide, quoteId, requested } = await requestApproval(products.tea, products.books, products.office);
    expect([requested.status, requested.body.reason]).toEqual([
      201,
      { code: 'categories', currency: null, limit: null, spent: null, period: null, categories: ['office', 'tea'] },
    ]);
    const path = `/account/approvals/${requested.body.id}`;
    expect((await anna.browser.open(path)).text).toContain(
      'You do not allow Test application to order products in these categories: office and tea.',
    );
    await anna.browser.open('/account?language=de');
    expect((await anna.browser.open(path)).text).toContain('keine Bestellungen von Produkten dieser Kategorien: office und tea.');
    expect((await app.orderFromQuote(quoteId)).body.errors).toMatchObject([{ approval_id: requested.body.id }, {}]);
    expect((await decide(requested.body.id, 'approval')).status).toBe(201);
    const { status, body } = await app.orderFromQuote(quoteId);
    expect(status).toBe(201);
    expect((await app.post(`/orders/${body.id}/payments`, { provider: 'manual' })).status).toBe(201);
  });

  test('does not replace the ceiling of the application', async () => {
    const { app, decide, quoteId, requested } = await requestApproval(products.tea);
    expect((await decide(requested.body.id, 'approval')).status).toBe(201);
    await setCeiling(app.clientId, ['books', 'office']);
    const { status, body } = await app.orderFromQuote(quoteId);
    expect([status, body.errors]).toMatchObject([
      403,
      [{ code: 'limit_exceeded', category: 'tea', permitted_categories: ['books', 'office'], approvable: false }],
    ]);
    const { body: quote } = await app.post('/quotes', buildOrderOf([products.tea]));
    const again = await app.requestApproval(quote.id);
    expect([again.status, again.body.errors]).toMatchObject([403, [{ pointer: '#/quote_id', product_id: products.tea }]]);
  });
});
