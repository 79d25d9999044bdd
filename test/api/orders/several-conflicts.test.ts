import { expect, test } from 'vitest';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.write']);

test('an order with insufficient stock and an outdated total reports the stock first, and then the total', async () => {
  const product = await shop.createProduct({ price: 500, stock: 2 });
  const placeOrder = (quantity: number, total: number): Promise<ApiResponse> =>
    shop.callApi('POST', '/api/v1/orders', {
      token: anna.token,
      body: { items: [{ product_id: product.id, quantity }], delivery: pickupDelivery, total },
    });
  const short = await placeOrder(3, 1);
  expect([short.status, short.body.code]).toEqual([409, 'out_of_stock']);
  expect(short.body.errors).toMatchObject([{ pointer: '#/items/0/product_id', product_id: product.id, requested: 3, available: 2 }]);
  const changed = await placeOrder(2, 1);
  expect([changed.status, changed.body.code, changed.body.errors[0].actual]).toEqual([409, 'price_changed', 1_000]);
  expect((await placeOrder(2, 1_000)).status).toBe(201);
});
