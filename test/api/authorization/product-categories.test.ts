import { beforeAll, describe, expect, test } from 'vitest';
import { obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import {
  buildOrderOf,
  connectApplication,
  createProductsInCategories,
  limitedTo,
  moveProduct,
} from '../../support/shop/category-limits.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });
let products: Record<'books' | 'tea' | 'office', number>;
beforeAll(async () => {
  products = await createProductsInCategories(shop, ['books', 'tea', 'office']);
});

const codeOf = ({ status, body }: ApiResponse): unknown[] => [status, body.code];

describe('an order', () => {
  test('can contain products of all permitted categories, which the authorization details list', async () => {
    const app = await connectApplication(shop, limitedTo('books', 'tea'));
    expect((await app.order(products.books, products.tea)).status).toBe(201);
    expect(await app.details()).toEqual({
      type: 'mandate_orders',
      actions: ['place', 'pay', 'cancel'],
      products: { categories: ['books', 'tea'] },
      orders: 'own',
      approval: 'above_limit',
    });
  });

  test('with one line of another category is rejected, without writing anything, and the problem names the product', async () => {
    const app = await connectApplication(shop, limitedTo('books', 'tea'));
    const counts = 'select (select count(*) from orders) as orders, (select count(*) from events) as events';
    const before = await shop.db.em.fork().execute(counts);
    const { status, body } = await app.order(products.books, products.office, products.tea);
    expect([status, body.code, body.detail]).toEqual([
      403,
      'limit_exceeded',
      `Only products in the categories books and tea can be ordered, and product ${products.office} is in the category office. Order only products in these categories, or request approval of a quote with POST /api/v1/approvals. The customer can change this on the /account/apps page.`,
    ]);
    expect(body.errors).toEqual([
      {
        in: 'body',
        pointer: '#/items/1/product_id',
        code: 'limit_exceeded',
        detail: `Product ${products.office} is in the category office, which is not permitted.`,
        product_id: products.office,
        category: 'office',
        permitted_categories: ['books', 'tea'],
        requested: 300,
        approvable: true,
      },
    ]);
    expect(await shop.db.em.fork().execute(counts)).toEqual(before);
  });

  test('names every product of another category', async () => {
    const app = await connectApplication(shop, limitedTo('books'));
    const { body } = await app.order(products.tea, products.office);
    const entries = body.errors.map(({ pointer, category }: Record<string, string>) => `${pointer} ${category}`);
    expect(entries.toSorted()).toEqual(['#/items/0/product_id tea', '#/items/1/product_id office']);
    expect(body.detail).toContain('the category books can be ordered, and product');
  });

  test('is rejected in version 2 of the API and in a dry run', async () => {
    const app = await connectApplication(shop, limitedTo('books'));
    expect(codeOf(await app.call('POST', '/orders?dry_run=true', buildOrderOf([products.tea])))).toEqual([403, 'limit_exceeded']);
    const v2 = {
      items: [{ product_id: products.tea, quantity: 1 }],
      shipping_method: 'pickup',
      shipping_address: { recipient_name: 'Anna Test' },
    };
    expect(codeOf(await shop.callApi('POST', '/api/v2/orders', { token: app.tokens.access_token, body: v2 }))).toEqual([
      403,
      'limit_exceeded',
    ]);
  });

  test('is also checked against the amounts', async () => {
    const app = await connectApplication(shop, { ...limitedTo('books'), limits: { currency: 'EUR', per_order: 100 } });
    const { body } = await app.order(products.books, products.books);
    expect([body.code, body.errors[0].limit, (await app.order(products.books)).status]).toEqual(['limit_exceeded', 100, 201]);
  });

  test('does not reveal the category of a product that is not for sale', async () => {
    const app = await connectApplication(shop, limitedTo('books'));
    const draft = await shop.createProduct({ category: 'secret-plans', status: 'draft' });
    expect(JSON.stringify((await app.order(draft.id)).body)).not.toContain('secret-plans');
  });
});

describe('a quote', () => {
  test('names the limit, and a quote with a hold is rejected', async () => {
    const app = await connectApplication(shop, limitedTo('books'));
    expect((await app.quote(products.books)).limits).toMatchObject({ exceeded: null });
    const quote = await app.quote(products.tea);
    expect(quote).toMatchObject({ status: 'open', limits: { exceeded: 'categories', currency: null, per_order: null, budget: null } });
    const order = await app.call('POST', '/orders', { quote_id: quote.id });
    expect([...codeOf(order), order.body.errors]).toMatchObject([
      403,
      'limit_exceeded',
      [{ pointer: '#/quote_id', product_id: products.tea, permitted_categories: ['books'] }],
    ]);
    expect(codeOf(await app.call('POST', '/quotes', { ...buildOrderOf([products.tea]), hold: true }))).toEqual([403, 'limit_exceeded']);
  });

  test('for a product that was moved to another category cannot be ordered until the product is moved back', async () => {
    const app = await connectApplication(shop, limitedTo('books'));
    const { id } = await shop.createProduct({ category: 'books' });
    const quote = await app.quote(id);
    const convert = () => app.call('POST', '/orders', { quote_id: quote.id });
    await moveProduct(shop, id, 'office');
    expect(codeOf(await convert())).toEqual([403, 'limit_exceeded']);
    await moveProduct(shop, id, 'books');
    expect((await convert()).status).toBe(201);
  });
});

describe('a payment', () => {
  test('for an order that another application placed is rejected if a product is of another category', async () => {
    const anna = await signUp(shop.origin);
    const app = await connectApplication(shop, { ...limitedTo('books'), orders: 'all' }, {}, anna);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
    const place = async (...ids: number[]) => (await shop.callApi('POST', '/api/v1/orders', { token, body: buildOrderOf(ids) })).body.id;
    const outside = await app.pay(await place(products.books, products.tea));
    expect([...codeOf(outside), outside.body.errors]).toMatchObject([
      403,
      'limit_exceeded',
      [{ pointer: '#', product_id: products.tea, category: 'tea', permitted_categories: ['books'] }],
    ]);
    expect((await app.pay(await place(products.books))).status).toBe(201);
  });
});

describe('an API key', () => {
  async function createKey(limits: object, requested: readonly string[] = ['orders.write']) {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['api_keys.manage', 'orders.write']);
    const body = { name: 'Tea machine', scopes: requested, order_limits: limits };
    return { anna, created: await shop.callApi('POST', '/api/v1/api-keys', { token, body }) };
  }

  test('can order only products of the permitted categories', async () => {
    const { anna, created } = await createKey(limitedTo('tea'));
    expect(created.body.order_limits).toMatchObject({ products: { categories: ['tea'] } });
    const order = (id: number) => shop.callApi('POST', '/api/v1/orders', { token: created.body.key, body: buildOrderOf([id]) });
    expect((await order(products.tea)).status).toBe(201);
    const { body } = await order(products.books);
    expect(body.detail).toBe(
      `Only products in the category tea can be ordered, and product ${products.books} is in the category books. Order only products in these categories. The limits of an API key cannot be changed.`,
    );
    expect((await anna.browser.open('/account/api-keys')).text).toContain('Only products in these categories: tea');
  });

  test.each([
    [{ products: { categories: [] } }, '#/order_limits/products/categories'],
    [{ products: { categories: ['tea', 'tea'] } }, '#/order_limits/products/categories'],
    [{ products: { categories: ['x'.repeat(65)] } }, '#/order_limits/products/categories/0'],
    [{ products: { categories: ['tea', 'unheard-of'] } }, '#/order_limits/products/categories/1'],
  ])('is not created with %o', async (limits, pointer) => {
    const { created } = await createKey(limits);
    expect([created.status, created.body.errors]).toMatchObject([400, [{ pointer }]]);
  });
});
