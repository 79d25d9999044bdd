import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Stripe } from 'stripe';
import { cancelExpiredOrders } from '../../../server/order-lifecycle/expire-orders.ts';
import { pollPendingPayments } from '../../../server/order-lifecycle/poll-pending-payments.ts';
import { applyProviderEvents } from '../../../server/order-lifecycle/provider-events.ts';
import { indexPaymentProviders } from '../../../server/payments/providers/payment-provider.ts';
import { createStripeProvider } from '../../../server/payments/providers/stripe-provider.ts';
import { pollPendingRefunds } from '../../../server/refunds/poll-pending-refunds.ts';
import { eventsOf } from '../../support/events.ts';
import { startFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts';
import type { Answer, Body } from '../../support/server/start-mandate.ts';
import { later, openTill, soon, type Till } from '../../support/order-arithmetic.ts';
import { needsOneProcess } from '../../support/server/process-mode.ts';

needsOneProcess('Stripe is a fake one of its own');

const webhookSecret = 'whsec_of_the_tests';
let fake: FakeStripe;
let till: Till;
beforeAll(async () => {
  fake = await startFakeStripe();
  till = await openTill(indexPaymentProviders(await createStripeProvider({ secretKey: 'sk_test_1', webhookSecret, api: fake.api })));
});
afterAll(async () => {
  await till.mandate.close();
  await fake.close();
});

const em = () => till.mandate.db.em.fork();
const apply = (): Promise<number> => applyProviderEvents(em(), till.providers, soon());
let events = 0;
const report = (object: object): Promise<Answer> => {
  events += 1;
  const body = JSON.stringify({ id: `evt_${events}`, object: 'event', type: 'reported', data: { object } });
  const signature = new Stripe('sk_test_1').webhooks.generateTestHeaderString({ payload: body, secret: webhookSecret });
  return till.mandate.call('POST', '/api/v1/provider-events/stripe', { body, headers: { 'stripe-signature': signature } });
};
const pay = async (orderId: number, method?: string): Promise<Body> =>
  (await till.post(`/orders/${orderId}/payments`, { provider: 'stripe', ...(method !== undefined && { method_token: method }) })).body;

describe('an order paid by Stripe', () => {
  test('in the browser: the customer gets a client secret, and the report makes the order paid', async () => {
    const order = await till.order();
    const payment = await pay(order.id);
    expect(payment).toMatchObject({ status: 'pending', next_action: { type: 'sdk', client_secret: expect.any(String) } });
    fake.complete(payment.provider_reference);
    expect((await report({ id: payment.provider_reference, object: 'payment_intent' })).body).toEqual({ received: 1 });
    expect(await apply()).toBe(1);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'paid', payment_status: 'paid' });
  });

  test('declined, and then by the same form after all', async () => {
    const order = await till.order();
    const payment = await pay(order.id, 'pm_declined');
    expect(payment).toMatchObject({ status: 'failed', failure_code: 'insufficient_funds' });
    fake.complete(payment.provider_reference);
    await report({ id: payment.provider_reference, object: 'payment_intent' });
    await apply();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
    const types = await eventsOf(till.mandate.db, 'payment', payment.id);
    expect(types).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
  });

  test('whose answers are lost: one payment at Stripe, one here', async () => {
    const order = await till.order();
    const before = fake.intents().length;
    expect((await pay(order.id, 'pm_lost')).status).toBe('pending');
    await pollPendingPayments(em(), till.providers, soon());
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
    expect(fake.intents()).toHaveLength(before + 1);
  });

  test('of another amount than asked for is not paid, and somebody learns of it', async () => {
    const order = await till.order();
    const payment = await pay(order.id);
    fake.complete(payment.provider_reference);
    const intent = fake.intents().find(({ id }) => id === payment.provider_reference);
    if (intent) intent['amount_received'] = 1;
    await report({ id: payment.provider_reference, object: 'payment_intent' });
    await expect(apply()).rejects.toThrow('the provider received 1 EUR');
    expect((await till.get(`/orders/${order.id}`)).status).toBe('pending');
    const [row] = await em().execute('select error, processed_at from provider_events where reference = ?', [payment.provider_reference]);
    expect(row).toMatchObject({ error: expect.stringContaining('the provider received 1 EUR'), processed_at: null });
    if (intent) intent['amount_received'] = intent.amount;
    await em().execute('update provider_events set next_attempt_at = now() where processed_at is null');
    expect(await apply()).toBe(1);
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
  });

  test('of another amount keeps no other order from giving its goods back', async () => {
    const [strange, usual] = [await till.order(), await till.order()];
    const payment = await pay(strange.id, 'pm_action');
    const waiting = await pay(usual.id, 'pm_action');
    fake.complete(payment.provider_reference);
    const intent = fake.intents().find(({ id }) => id === payment.provider_reference);
    if (intent) intent['amount_received'] = 1;
    await expect(cancelExpiredOrders(em(), till.providers, later())).rejects.toThrow('the provider received 1 EUR');
    expect((await till.get(`/orders/${usual.id}`)).status).toBe('canceled');
    expect((await till.get(`/payments/${waiting.id}`)).status).toBe('canceled');
    expect((await till.get(`/orders/${strange.id}`)).status).toBe('pending');
    if (intent) intent['amount_received'] = intent.amount;
    await cancelExpiredOrders(em(), till.providers, later());
    expect((await till.get(`/orders/${strange.id}`)).status).toBe('paid');
  });

  test('is canceled at Stripe before its order is', async () => {
    const order = await till.order();
    const payment = await pay(order.id, 'pm_action');
    expect(payment.next_action).toMatchObject({ type: 'redirect', url: 'https://hooks.stripe.example/3ds' });
    expect((await till.post(`/orders/${order.id}/cancellation`, {})).status).toBe(201);
    expect(fake.intents().find(({ id }) => id === payment.provider_reference)?.status).toBe('canceled');
  });

  test('that succeeded a moment before the cancellation is paid back by it', async () => {
    const order = await till.order();
    const payment = await pay(order.id, 'pm_action');
    fake.complete(payment.provider_reference);
    await till.post(`/orders/${order.id}/cancellation`, {});
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({
      status: 'canceled',
      payment_status: 'refunded',
      refunded_total: order.total,
    });
  });
});

describe('a refund by Stripe', () => {
  const slowly = async (): Promise<{ order: Body; refund: Body; reference: string }> => {
    const order = await till.order();
    const payment = await pay(order.id, 'pm_ok');
    const intent = fake.intents().find(({ id }) => id === payment.provider_reference);
    if (intent) intent['slow_refunds'] = true;
    const refund = (await till.post(`/orders/${order.id}/refunds`, { amount: 100 })).body;
    const [row] = await em().execute<{ provider_reference: string }[]>('select provider_reference from refunds where id = ?', [refund.id]);
    return { order, refund, reference: row?.provider_reference ?? '' };
  };

  test('that takes its time counts when Stripe says so', async () => {
    const { order, refund, reference } = await slowly();
    expect(refund.status).toBe('pending');
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(0);
    fake.completeRefund(reference, 'succeeded');
    await report({ id: reference, object: 'refund' });
    expect(await apply()).toBe(1);
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(100);
  });

  test('that fails in the end can be made again', async () => {
    const { order, refund, reference } = await slowly();
    fake.completeRefund(reference, 'failed');
    await pollPendingRefunds(em(), till.providers, soon());
    expect(await till.get(`/refunds/${refund.id}`)).toMatchObject({ status: 'failed', failure_code: 'lost_or_stolen_card' });
    expect(await eventsOf(till.mandate.db, 'refund', refund.id)).toEqual(['refund.created', 'refund.failed']);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ payment_status: 'paid', refunded_total: 0 });
    expect((await till.post(`/orders/${order.id}/refunds`, {})).body.amount).toBe(order.total);
  });
});
