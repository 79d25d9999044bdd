import { describe, expect, test } from 'vitest';
import { cancelExpiredOrders } from '../../../server/order-lifecycle/cancel-expired-orders.ts';
import { submitPollOrCancelDuePayments } from '../../../server/order-lifecycle/submit-poll-or-cancel-due-payments.ts';
import { indexPaymentProvidersByName, type PaymentProvider } from '../../../server/payments/providers/payment-provider.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { afterOrderHold, withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';

const till = withPaymentTestShop();

const em = () => till.mandate.db.em.fork();
const orderEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'order', id);

describe('the cancellation of expired orders', () => {
  const cancelExpired = () => cancelExpiredOrders(em(), till.providers, afterOrderHold());

  test('returns the stock of unpaid orders once', async () => {
    await cancelExpired();
    const order = await till.placeOrder({ stock: 2 });
    expect(await till.stock(order.items[0].product_id)).toBe(0);
    expect(await cancelExpiredOrders(em(), till.providers, new Date())).toBe(0);
    expect(await cancelExpired()).toBe(1);
    expect(await cancelExpired()).toBe(0);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'canceled', cancel_reason: 'payment_expired' });
    expect(await till.stock(order.items[0].product_id)).toBe(2);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.canceled']);
    expect(await readEventTypes(till.mandate.db, 'product', order.items[0].product_id)).toContain('product.back_in_stock');
  });

  test('records a failed payment as the reason', async () => {
    const order = await till.placeOrder();
    await till.createPayment(order.id, 'test_declined');
    await cancelExpired();
    expect((await till.get(`/orders/${order.id}`)).cancel_reason).toBe('payment_failed');
  });

  test('cancels the open payment at its provider first', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_requires_action');
    await cancelExpired();
    expect((await till.get(`/payments/${body.id}`)).status).toBe('canceled');
    expect((await till.get(`/orders/${order.id}`)).status).toBe('canceled');
  });

  test('cancels the other payments if a provider fails, and throws the error', async () => {
    const orders = [await till.placeOrder(), await till.placeOrder()];
    const payments: JsonBody[] = [];
    for (const { id } of orders) payments.push((await till.createPayment(id, 'test_requires_action')).body);
    let calls = 0;
    const cancel: PaymentProvider['cancel'] = (...parameters) => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('planted failure')) : till.provider.cancel(...parameters);
    };
    const providers = indexPaymentProvidersByName({ ...till.provider, cancel });
    await expect(cancelExpiredOrders(em(), providers, afterOrderHold())).rejects.toThrow('planted failure');
    const statuses = await Promise.all(payments.map(async ({ id }) => (await till.get(`/payments/${id}`)).status));
    expect(statuses).toEqual(['requires_action', 'canceled']);
    await cancelExpired();
    expect((await till.get(`/payments/${payments[0].id}`)).status).toBe('canceled');
  });

  test('skips orders with a payment that the provider is processing', async () => {
    const order = await till.placeOrder();
    await till.createPayment(order.id, 'test_processing_then_ok');
    await cancelExpired();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('pending');
    await submitPollOrCancelDuePayments(em(), till.providers, afterOrderHold());
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
  });

  test('skips paid orders', async () => {
    const order = await till.placePaidOrder();
    await cancelExpired();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
  });
});
