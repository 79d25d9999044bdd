import { beforeAll, expect, test } from 'vitest';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

beforeAll(async () => {
  const products = { mugs: ['active', 'active', 'draft'], bags: ['active'], aprons: ['draft'], tins: ['active', 'archived'] };
  for (const [category, statuses] of Object.entries(products)) {
    for (const status of statuses) {
      const { id } = await shop.createProduct({ category, status: status === 'archived' ? 'active' : status });
      if (status === 'archived') await shop.callApi('PATCH', `/api/v1/products/${id}`, { token: shop.token, body: { status } });
    }
  }
});

const list = (query = '', token?: string): Promise<ApiResponse> =>
  shop.callApi('GET', `/api/v1/product-categories${query}`, token === undefined ? {} : { token });
const bags = { category: 'bags', product_count: 1 };
const mugs = { category: 'mugs', product_count: 2 };
const tins = { category: 'tins', product_count: 1 };

test('200: returns the categories of active products with counts, sorted by name', async () => {
  for (const token of [undefined, shop.token]) {
    const { status, body } = await list('', token);
    expect([status, body]).toEqual([200, { data: [bags, mugs, tins], has_more: false, next_cursor: null }]);
  }
});

test('200: returns pages, and the total on request', async () => {
  const first = await list('?limit=2&include_total=true');
  expect(first.body).toMatchObject({ data: [bags, mugs], has_more: true, total_count: 3, total_count_capped: false });
  const second = await list(`?limit=2&cursor=${first.body.next_cursor}`);
  expect(second.body).toEqual({ data: [tins], has_more: false, next_cursor: null });
});

test('200: counts equal those of the product list with the same filters', async () => {
  const statuses = 'status=draft,active,archived';
  const { body } = await list(`?${statuses}`, shop.token);
  expect(body.data.map(({ category }: { category: string }) => category)).toEqual(['aprons', 'bags', 'mugs', 'tins']);
  for (const { category, product_count: count } of body.data) {
    const products = await shop.callApi('GET', `/api/v1/products?${statuses}&category=${category}&include_total=true`, {
      token: shop.token,
    });
    expect(products.body.total_count).toBe(count);
  }
});

test('403: customers cannot list categories of drafts', async () => {
  const anna = (await shop.createAccount('customer', ['orders.read'])).token;
  for (const token of [undefined, anna]) {
    const { status, body } = await list('?status=draft', token);
    expect([status, body.code]).toEqual([403, 'forbidden']);
  }
});
