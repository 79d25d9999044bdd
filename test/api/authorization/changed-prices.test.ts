import { expect, test } from 'vitest';
import type { RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { connectLimitedApplication } from '../../support/shop/limited-application.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { deliveryAddress } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop();
const limits = { currency: 'EUR', per_order: 100, per_period: 1000, period: 'month' };
const connect = (details: RequestedLimits = { limits }) => connectLimitedApplication(till, details);

test('after a price increase, the same order exceeds the limit per order, even in a dry run', async () => {
  const app = await connect();
  expect((await app.order(10)).status).toBe(201);
  const raised = await till.mandate.callApi('PATCH', `/api/v1/products/${app.product.id}`, { token: till.shop.token, body: { price: 11 } });
  expect([raised.status, raised.body.price]).toEqual([200, 11]);
  for (const path of ['/api/v1/orders?dry_run=true', '/api/v1/orders']) {
    const { status, body } = await app.order(10, path);
    expect([status, body]).toMatchObject([403, { code: 'limit_exceeded', errors: [{ limit: 100, requested: 110, available: 100 }] }]);
  }
  expect((await app.order(9)).body.total).toBe(99);
  expect(await app.budget()).toMatchObject({ spent: 199 });
});

test('changing to a more expensive delivery method is rejected, and changes neither the order nor the budget', async () => {
  const app = await connect();
  const { body: order } = await app.order(10);
  const before = await app.budget();
  expect(before).toMatchObject({ spent: 100, remaining: 900 });
  const delivery = { method: 'standard', recipient_name: 'Anna Test', ...deliveryAddress };
  const { status, body } = await app.call('PATCH', `/api/v1/orders/${order.id}`, { delivery });
  expect([status, body.code]).toEqual([409, 'price_changed']);
  expect((await app.call('GET', `/api/v1/orders/${order.id}`)).body).toEqual(order);
  expect(await app.budget()).toEqual(before);
});
