import { describe, expect, test } from 'vitest';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop();

const em = () => till.mandate.db.em.fork();

describe('permissions', () => {
  test('a customer can pay only for their orders, and see only their payments', async () => {
    const { mandate, shop } = till;
    const anna = (await obtainTokens(mandate.origin, await signUp(mandate.origin), ['orders.write', 'payments.write', 'payments.read']))
      .access_token;
    const product = await shop.createProduct();
    const body = buildOrderInput([product, 1]);
    const order = (await mandate.callApi('POST', '/api/v1/orders', { token: anna, body })).body;
    const pay = (id: number) =>
      mandate.callApi('POST', `/api/v1/orders/${id}/payments`, {
        token: anna,
        body: { provider: 'test', method_token: 'test_requires_action' },
      });
    const paid = await pay(order.id);
    expect([paid.status, paid.body.provider_reference, paid.body.next_action.type]).toEqual([201, null, 'redirect']);

    const otherOrder = await till.placeOrder();
    expect((await pay(otherOrder.id)).status).toBe(404);
    const otherPayment = (await till.createPayment(otherOrder.id)).body;
    for (const [method, path] of [
      ['GET', `/payments/${otherPayment.id}`],
      ['POST', `/payments/${otherPayment.id}/cancellation`],
      ['GET', `/orders/${otherOrder.id}/payments`],
      ['GET', `/orders/${otherOrder.id}/refunds`],
    ] as const) {
      expect((await mandate.callApi(method, `/api/v1${path}`, { token: anna })).status, path).toBe(404);
    }
    expect((await mandate.callApi('POST', `/api/v1/payments/${paid.body.id}/confirmation`, { token: anna })).status).toBe(403);
    expect((await mandate.callApi('GET', `/api/v1/payments/${paid.body.id}`)).status).toBe(401);
  });

  test('events and read-only callers do not receive next_action', async () => {
    const { mandate, shop } = till;
    const anna = await signUp(mandate.origin);
    const payer = (await obtainTokens(mandate.origin, anna, ['orders.write', 'payments.write'])).access_token;
    const reader = (await obtainTokens(mandate.origin, anna, ['payments.read'])).access_token;
    const product = await shop.createProduct();
    const body = buildOrderInput([product, 1]);
    const order = (await mandate.callApi('POST', '/api/v1/orders', { token: payer, body })).body;
    const payment = (await mandate.callApi('POST', `/api/v1/orders/${order.id}/payments`, { token: payer, body: { provider: 'test' } }))
      .body;
    expect(payment.next_action).not.toBeNull();
    expect((await mandate.callApi('GET', `/api/v1/payments/${payment.id}`, { token: reader })).body.next_action).toBeNull();
    const rows = await em().execute(`select data from events where subject_type = 'payment' and subject_id = ?`, [payment.id]);
    expect(JSON.stringify(rows)).not.toContain('bank.example');
  });
});
