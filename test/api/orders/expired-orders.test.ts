import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancelExpiredOrders } from '../../../server/order-lifecycle/expire-orders.ts';
import { pollPendingPayments } from '../../../server/order-lifecycle/poll-pending-payments.ts';
import { eventsOf } from '../../support/events.ts';
import { later, openTill, type Till } from '../../support/order-arithmetic.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till.mandate.close());

const em = () => till.mandate.db.em.fork();
const orderEvents = (id: number): Promise<string[]> => eventsOf(till.mandate.db, 'order', id);

describe('the sweeper', () => {
  const sweep = () => cancelExpiredOrders(em(), till.providers, later());

  test('gives the goods of unpaid orders back, once', async () => {
    await sweep();
    const order = await till.order({ stock: 2 });
    expect(await till.stock(order.items[0].product_id)).toBe(0);
    expect(await cancelExpiredOrders(em(), till.providers, new Date())).toBe(0);
    expect(await sweep()).toBe(1);
    expect(await sweep()).toBe(0);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'canceled', cancel_reason: 'payment_expired' });
    expect(await till.stock(order.items[0].product_id)).toBe(2);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.canceled']);
    expect(await eventsOf(till.mandate.db, 'product', order.items[0].product_id)).toContain('product.back_in_stock');
  });

  test('says when the payment had failed', async () => {
    const order = await till.order();
    await till.pay(order.id, 'test_declined');
    await sweep();
    expect((await till.get(`/orders/${order.id}`)).cancel_reason).toBe('payment_failed');
  });

  test('cancels the open payment at its provider first', async () => {
    const order = await till.order();
    const { body } = await till.pay(order.id, 'test_requires_action');
    await sweep();
    expect((await till.get(`/payments/${body.id}`)).status).toBe('canceled');
    expect((await till.get(`/orders/${order.id}`)).status).toBe('canceled');
  });

  test('leaves alone what the provider is working on', async () => {
    const order = await till.order();
    await till.pay(order.id, 'test_processing_then_ok');
    await sweep();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('pending');
    await pollPendingPayments(em(), till.providers, later());
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
  });

  test('leaves alone what is paid', async () => {
    const order = await till.paidOrder();
    await sweep();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
  });
});
