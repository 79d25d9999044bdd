import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Stripe } from 'stripe';
import { cancelExpiredOrders } from '../../../server/order-lifecycle/cancel-expired-orders.ts';
import { submitPollOrCancelDuePayments } from '../../../server/order-lifecycle/submit-poll-or-cancel-due-payments.ts';
import { applyCurrentStatesForDueProviderEvents } from '../../../server/order-lifecycle/store-and-apply-provider-events.ts';
import { indexPaymentProvidersByName } from '../../../server/payments/providers/payment-provider.ts';
import { createStripeProvider } from '../../../server/payments/providers/stripe-provider.ts';
import { submitOrPollDueRefunds } from '../../../server/refunds/submit-or-poll-due-refunds.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { startFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { afterOrderHold, startPaymentTestShop, inOneMinute, type PaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';

requireOneProcess('the tests start a fake Stripe server');

const webhookSecret = 'whsec_of_the_tests';
let fakeStripe: FakeStripe;
let till: PaymentTestShop;
beforeAll(async () => {
  fakeStripe = await startFakeStripe();
  till = await startPaymentTestShop(
    indexPaymentProvidersByName(await createStripeProvider({ secretKey: 'sk_test_1', webhookSecret, api: fakeStripe.apiOptions })),
  );
});
afterAll(async () => {
  await till.mandate.close();
  await fakeStripe.close();
});

const em = () => till.mandate.db.em.fork();
const processEvents = (): Promise<number> => applyCurrentStatesForDueProviderEvents(em(), till.providers, inOneMinute());
let events = 0;
const sendStripeEvent = (object: object): Promise<ApiResponse> => {
  events += 1;
  const body = JSON.stringify({ id: `evt_${events}`, object: 'event', type: 'reported', data: { object } });
  const signature = new Stripe('sk_test_1').webhooks.generateTestHeaderString({ payload: body, secret: webhookSecret });
  return till.mandate.callApi('POST', '/api/v1/provider-events/stripe', { body, headers: { 'stripe-signature': signature } });
};
const pay = async (orderId: number, method?: string): Promise<JsonBody> =>
  (await till.post(`/orders/${orderId}/payments`, { provider: 'stripe', ...(method !== undefined && { method_token: method }) })).body;

describe('a Stripe payment', () => {
  test('in the browser returns a client secret, and the webhook marks the order as paid', async () => {
    const order = await till.placeOrder();
    const payment = await pay(order.id);
    expect(payment).toMatchObject({ status: 'pending', next_action: { type: 'sdk', client_secret: expect.any(String) } });
    fakeStripe.completePayment(payment.provider_reference);
    expect((await sendStripeEvent({ id: payment.provider_reference, object: 'payment_intent' })).body).toEqual({ received: 1 });
    expect(await processEvents()).toBe(1);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'paid', payment_status: 'paid' });
  });

  test('may redirect the customer only if the application states where to return', async () => {
    const returnUrl = 'https://shop.example/paid';
    const startPayment = async (body: object): Promise<Readonly<Record<string, string>> | undefined> => {
      const order = await till.placeOrder();
      await till.post(`/orders/${order.id}/payments`, { provider: 'stripe', ...body });
      return fakeStripe.requests.findLast(({ path }) => path === '/v1/payment_intents')?.form;
    };
    const allowed = 'automatic_payment_methods[allow_redirects]';
    const direct = await startPayment({ method_token: 'pm_ok' });
    expect(direct).toMatchObject({ [allowed]: 'never', confirm: 'true', payment_method: 'pm_ok' });
    expect(direct).not.toHaveProperty('return_url');
    const redirected = await startPayment({ method_token: 'pm_ok', return_url: returnUrl });
    expect(redirected).toMatchObject({ [allowed]: 'always', confirm: 'true', return_url: returnUrl });
    // in the browser, Stripe's SDK sends the return URL when it confirms the payment
    const inBrowser = await startPayment({ return_url: returnUrl });
    expect(inBrowser).toMatchObject({ [allowed]: 'always' });
    expect(inBrowser).not.toHaveProperty('confirm');
    expect(inBrowser).not.toHaveProperty('return_url');
  });

  test('that was declined can still succeed', async () => {
    const order = await till.placeOrder();
    const payment = await pay(order.id, 'pm_declined');
    expect(payment).toMatchObject({ status: 'failed', failure_code: 'insufficient_funds' });
    fakeStripe.completePayment(payment.provider_reference);
    await sendStripeEvent({ id: payment.provider_reference, object: 'payment_intent' });
    await processEvents();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
    const types = await readEventTypes(till.mandate.db, 'payment', payment.id);
    expect(types).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
  });

  test('without a response from Stripe is created once', async () => {
    const order = await till.placeOrder();
    const before = fakeStripe.listIntents().length;
    expect((await pay(order.id, 'pm_lost')).status).toBe('pending');
    await submitPollOrCancelDuePayments(em(), till.providers, inOneMinute());
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
    expect(fakeStripe.listIntents()).toHaveLength(before + 1);
  });

  test('of an unexpected amount is not accepted, and the error is recorded', async () => {
    const order = await till.placeOrder();
    const payment = await pay(order.id);
    fakeStripe.completePayment(payment.provider_reference);
    const intent = fakeStripe.listIntents().find(({ id }) => id === payment.provider_reference);
    if (intent) intent['amount_received'] = 1;
    await sendStripeEvent({ id: payment.provider_reference, object: 'payment_intent' });
    await expect(processEvents()).rejects.toThrow('the provider received 1 EUR');
    expect((await till.get(`/orders/${order.id}`)).status).toBe('pending');
    const [row] = await em().execute('select error, processed_at from provider_events where reference = ?', [payment.provider_reference]);
    expect(row).toMatchObject({ error: expect.stringContaining('the provider received 1 EUR'), processed_at: null });
    if (intent) intent['amount_received'] = intent.amount;
    await em().execute('update provider_events set next_attempt_at = now() where processed_at is null');
    expect(await processEvents()).toBe(1);
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
  });

  test('of an unexpected amount does not delay the expiry of other orders', async () => {
    const [mismatched, normal] = [await till.placeOrder(), await till.placeOrder()];
    const payment = await pay(mismatched.id, 'pm_action');
    const waiting = await pay(normal.id, 'pm_action');
    fakeStripe.completePayment(payment.provider_reference);
    const intent = fakeStripe.listIntents().find(({ id }) => id === payment.provider_reference);
    if (intent) intent['amount_received'] = 1;
    await expect(cancelExpiredOrders(em(), till.providers, afterOrderHold())).rejects.toThrow('the provider received 1 EUR');
    expect((await till.get(`/orders/${normal.id}`)).status).toBe('canceled');
    expect((await till.get(`/payments/${waiting.id}`)).status).toBe('canceled');
    expect((await till.get(`/orders/${mismatched.id}`)).status).toBe('pending');
    if (intent) intent['amount_received'] = intent.amount;
    await cancelExpiredOrders(em(), till.providers, afterOrderHold());
    expect((await till.get(`/orders/${mismatched.id}`)).status).toBe('paid');
  });

  test('is canceled at Stripe before the cancellation of its order', async () => {
    const order = await till.placeOrder();
    const payment = await pay(order.id, 'pm_action');
    expect(payment.next_action).toMatchObject({ type: 'redirect', url: 'https://hooks.stripe.example/3ds' });
    expect((await till.post(`/orders/${order.id}/cancellation`, {})).status).toBe(201);
    expect(fakeStripe.listIntents().find(({ id }) => id === payment.provider_reference)?.status).toBe('canceled');
  });

  test('that succeeds just before the order is canceled is refunded', async () => {
    const order = await till.placeOrder();
    const payment = await pay(order.id, 'pm_action');
    fakeStripe.completePayment(payment.provider_reference);
    await till.post(`/orders/${order.id}/cancellation`, {});
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({
      status: 'canceled',
      payment_status: 'refunded',
      refunded_total: order.total,
    });
  });
});

describe('a Stripe refund', () => {
  const createPendingRefund = async (): Promise<{ order: JsonBody; refund: JsonBody; reference: string }> => {
    const order = await till.placeOrder();
    const payment = await pay(order.id, 'pm_ok');
    const intent = fakeStripe.listIntents().find(({ id }) => id === payment.provider_reference);
    if (intent) intent['slow_refunds'] = true;
    const refund = (await till.post(`/orders/${order.id}/refunds`, { amount: 100 })).body;
    const [row] = await em().execute<{ provider_reference: string }[]>('select provider_reference from refunds where id = ?', [refund.id]);
    return { order, refund, reference: row?.provider_reference ?? '' };
  };

  test('is counted after Stripe has confirmed it', async () => {
    const { order, refund, reference } = await createPendingRefund();
    expect(refund.status).toBe('pending');
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(0);
    fakeStripe.completeRefund(reference, 'succeeded');
    await sendStripeEvent({ id: reference, object: 'refund' });
    expect(await processEvents()).toBe(1);
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(100);
  });

  test('is counted once, even if Stripe reports it twice', async () => {
    const { order, refund, reference } = await createPendingRefund();
    fakeStripe.completeRefund(reference, 'succeeded');
    for (let report = 1; report <= 2; report += 1) {
      await sendStripeEvent({ id: reference, object: 'refund' });
      expect(await processEvents()).toBe(1);
    }
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(100);
    expect(await readEventTypes(till.mandate.db, 'refund', refund.id)).toEqual(['refund.created', 'refund.succeeded']);
  });

  test('that fails can be created again', async () => {
    const { order, refund, reference } = await createPendingRefund();
    fakeStripe.completeRefund(reference, 'failed');
    await submitOrPollDueRefunds(em(), till.providers, inOneMinute());
    expect(await till.get(`/refunds/${refund.id}`)).toMatchObject({ status: 'failed', failure_code: 'lost_or_stolen_card' });
    expect(await readEventTypes(till.mandate.db, 'refund', refund.id)).toEqual(['refund.created', 'refund.failed']);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ payment_status: 'paid', refunded_total: 0 });
    expect((await till.post(`/orders/${order.id}/refunds`, {})).body.amount).toBe(order.total);
  });
});
