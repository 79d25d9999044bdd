import { describe, expect, test } from 'vitest';
import { submitPollOrCancelDuePayments } from '../../../server/order-lifecycle/submit-poll-or-cancel-due-payments.ts';
import { applyCurrentStatesForDueProviderEvents } from '../../../server/order-lifecycle/store-and-apply-provider-events.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { afterOrderHold, withPaymentTestShop, inOneMinute } from '../../support/shop/payment-test-shop.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';

const till = withPaymentTestShop();

const em = () => till.mandate.db.em.fork();
const paymentEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'payment', id);
const orderEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'order', id);

describe('payment provider events', () => {
  requireOneProcess('the test provider signs its events with a key that only its process has');
  const send = (body: string, headers: Record<string, string>, provider = 'test') =>
    till.mandate.callApi('POST', `/api/v1/provider-events/${provider}`, { body, headers });
  const processEvents = (): Promise<number> => applyCurrentStatesForDueProviderEvents(em(), till.providers, inOneMinute());

  test.each(['test_duplicate_webhook', 'test_out_of_order_webhook'])('%s: the payment succeeds once', async (method) => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, method);
    expect(body.status).toBe('processing');
    const responses = [];
    for (const event of till.provider.webhooksFor(body.provider_reference)) responses.push(await send(event.body, event.headers));
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(responses.map((response) => response.body.received)).toEqual(method === 'test_duplicate_webhook' ? [1, 0] : [1, 1]);
    expect((await till.get(`/payments/${body.id}`)).status).toBe('processing');
    expect(await processEvents()).toBe(method === 'test_duplicate_webhook' ? 1 : 2);
    expect(await paymentEvents(body.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.paid']);
    expect(await processEvents()).toBe(0);
  });

  test('a success after the cancellation of the order is refunded in full', async () => {
    const order = await till.placeOrder({ stock: 2 });
    const { body } = await till.createPayment(order.id, 'test_late_success');
    expect((await till.post(`/orders/${order.id}/cancellation`, {})).body.status).toBe('canceled');
    for (const event of till.provider.webhooksFor((await till.get(`/payments/${body.id}`)).provider_reference))
      await send(event.body, event.headers);
    expect(await processEvents()).toBe(1);
    expect(await till.get(`/payments/${body.id}`)).toMatchObject({ status: 'succeeded', refunded_total: order.total });
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({
      status: 'canceled',
      payment_status: 'refunded',
      refunded_total: order.total,
    });
    expect(await paymentEvents(body.id)).toEqual(['payment.created', 'payment.canceled', 'payment.succeeded']);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.canceled', 'order.refunded']);
    expect(await till.stock(order.items[0].product_id)).toBe(2);
  });

  test('a second success for a paid order is refunded and does not count', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_late_success');
    const reference = (await till.get(`/payments/${body.id}`)).provider_reference;
    await till.post(`/payments/${body.id}/cancellation`);
    await till.createPayment(order.id);
    for (const event of till.provider.webhooksFor(reference)) await send(event.body, event.headers);
    expect(await processEvents()).toBe(1);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'paid', payment_status: 'paid', refunded_total: 0 });
    expect((await till.get(`/orders/${order.id}/refunds`)).data).toMatchObject([
      { payment_id: body.id, status: 'succeeded', reason: 'duplicate', amount: order.total },
    ]);
  });

  test('a success of a canceled attempt pays a pending order, and the open attempt is canceled', async () => {
    const order = await till.placeOrder();
    const { body: first } = await till.createPayment(order.id, 'test_late_success');
    const reference = (await till.get(`/payments/${first.id}`)).provider_reference;
    await till.post(`/payments/${first.id}/cancellation`);
    const { body: second } = await till.createPayment(order.id, 'test_requires_action');
    for (const event of till.provider.webhooksFor(reference)) await send(event.body, event.headers);
    await processEvents();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
    await submitPollOrCancelDuePayments(em(), till.providers, inOneMinute());
    expect((await till.get(`/payments/${second.id}`)).status).toBe('canceled');
  });

  test('unsigned or changed events and events of an unknown provider are rejected', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_duplicate_webhook');
    const [event] = till.provider.webhooksFor(body.provider_reference);
    if (!event) throw new Error('the provider created no event');
    expect((await send(event.body, { 'content-type': 'application/json' })).body.code).toBe('invalid_signature');
    expect((await send(event.body.replace('succeeded', 'failed'), event.headers)).body.code).toBe('invalid_signature');
    expect((await send(event.body, event.headers, 'manual')).status).toBe(404);
    expect((await send(event.body, event.headers, 'nobody')).status).toBe(404);
    const stored = await em().execute('select count(*)::int as count from provider_events where reference = ?', [body.provider_reference]);
    expect(stored).toEqual([{ count: 0 }]);
  });

  test('an event for an unknown payment is stored and retried', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_duplicate_webhook');
    const [event] = till.provider.webhooksFor(body.provider_reference);
    if (!event) throw new Error('the provider created no event');
    await em().execute('update payments set provider_reference = null where id = ?', [body.id]);
    expect((await send(event.body, event.headers)).body.received).toBe(1);
    expect(await processEvents()).toBe(0);
    await em().execute('update payments set provider_reference = ? where id = ?', [body.provider_reference, body.id]);
    expect(await applyCurrentStatesForDueProviderEvents(em(), till.providers, afterOrderHold())).toBe(1);
    expect((await till.get(`/payments/${body.id}`)).status).toBe('succeeded');
  });
});
