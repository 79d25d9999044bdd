import { testPaymentOutcomeTextsByToken } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { submitPollOrCancelDuePayments } from '../../../server/order-lifecycle/submit-poll-or-cancel-due-payments.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { usesTwoProcesses } from '../../support/server/process-mode.ts';
import { withPaymentTestShop, inOneMinute } from '../../support/shop/payment-test-shop.ts';

const till = withPaymentTestShop();

const paymentEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'payment', id);
const orderEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'order', id);
const em = () => till.mandate.db.em.fork();

describe('a new payment', () => {
  test('pays the order and records events if it succeeds immediately', async () => {
    const order = await till.placeOrder();
    const { status, body, headers } = await till.createPayment(order.id);
    expect([status, headers.get('location')]).toEqual([201, `/api/v1/payments/${body.id}`]);
    expect(body).toMatchObject({
      order_id: order.id,
      attempt: 1,
      status: 'succeeded',
      amount: order.total,
      currency: 'EUR',
      next_action: null,
    });
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'paid', payment_status: 'paid', expires_at: null });
    expect(await paymentEvents(body.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.paid']);
  });

  test('with an unknown test token is rejected, and the response lists the valid tokens', async () => {
    const order = await till.placeOrder();
    const { status, body } = await till.createPayment(order.id, 'test_okay');
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    const { detail, ...entry } = body.errors[0];
    expect(entry).toEqual({
      in: 'body',
      pointer: '#/method_token',
      code: 'invalid_value',
      allowed: Object.keys(testPaymentOutcomeTextsByToken),
    });
    for (const token of Object.keys(testPaymentOutcomeTextsByToken)) expect(detail).toContain(token);
    expect((await till.get(`/orders/${order.id}/payments`)).data).toEqual([]);
    expect((await till.createPayment(order.id)).body).toMatchObject({ attempt: 1, status: 'succeeded' });
  });

  test('that is declined can be followed by another attempt', async () => {
    const order = await till.placeOrder();
    const declined = await till.createPayment(order.id, 'test_declined');
    expect(declined.body).toMatchObject({ status: 'failed', failure_code: 'card_declined', attempt: 1 });
    expect(await paymentEvents(declined.body.id)).toEqual(['payment.created', 'payment.failed']);
    expect((await till.get(`/orders/${order.id}`)).status).toBe('pending');
    expect((await till.createPayment(order.id)).body).toMatchObject({ status: 'succeeded', attempt: 2 });
  });

  test('returns a redirect URL if the customer must act, and succeeds when it is polled', async () => {
    const order = await till.placeOrder();
    const { body } = await till.post(`/orders/${order.id}/payments`, {
      provider: 'test',
      method_token: 'test_requires_action',
      return_url: 'https://shop.example/back',
    });
    expect(body).toMatchObject({ status: 'requires_action', next_action: { type: 'redirect', url: 'https://shop.example/back' } });
    await submitPollOrCancelDuePayments(em(), till.providers, inOneMinute());
    expect(await till.get(`/payments/${body.id}`)).toMatchObject({ status: 'succeeded', next_action: null });
    expect(await paymentEvents(body.id)).toEqual(['payment.created', 'payment.requires_action', 'payment.succeeded']);
  });

  test('stays pending after a provider timeout, and is retried with the same key', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: the test provider keeps timed-out payments in memory');
    const order = await till.placeOrder();
    const { status, body } = await till.createPayment(order.id, 'test_timeout');
    expect([status, body.status, body.provider_reference]).toEqual([201, 'pending', null]);
    await submitPollOrCancelDuePayments(em(), till.providers, inOneMinute());
    expect(await till.get(`/payments/${body.id}`)).toMatchObject({ status: 'succeeded', attempt: 1 });
  });

  test('returns the stored response for the same idempotency key', async () => {
    const order = await till.placeOrder();
    const call = {
      token: till.shop.token,
      body: { provider: 'test', method_token: 'test_ok' },
      headers: { 'idempotency-key': 'pay-once' },
    };
    const [first, second] = [
      await till.mandate.callApi('POST', `/api/v1/orders/${order.id}/payments`, call),
      await till.mandate.callApi('POST', `/api/v1/orders/${order.id}/payments`, call),
    ];
    expect(first.body.status).toBe('succeeded');
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect((await till.get(`/orders/${order.id}/payments`)).data).toHaveLength(1);
  });
});

describe('409', () => {
  test('payment_in_progress while another payment is open', async () => {
    const order = await till.placeOrder();
    await till.createPayment(order.id, 'test_processing_then_ok');
    const { status, body } = await till.createPayment(order.id);
    expect([status, body.code]).toEqual([409, 'payment_in_progress']);
  });

  test('already_paid for a paid order', async () => {
    const order = await till.placePaidOrder();
    const { status, body } = await till.createPayment(order.id);
    expect([status, body.code]).toEqual([409, 'already_paid']);
  });

  test('invalid_transition for a canceled order', async () => {
    const order = await till.placeOrder();
    await till.post(`/orders/${order.id}/cancellation`, {});
    const { status, body } = await till.createPayment(order.id);
    expect([status, body.code]).toEqual([409, 'invalid_transition']);
  });

  test('invalid_transition after the reservation has expired, even before the stock is released', async () => {
    const order = await till.placeOrder();
    await em().execute(`update orders set expires_at = now() - interval '1 second' where id = ?`, [order.id]);
    const { status, body } = await till.createPayment(order.id);
    expect([status, body.code]).toEqual([409, 'invalid_transition']);
  });
});

describe('400', () => {
  test('rejects a disabled provider, and lists the enabled ones', async () => {
    const order = await till.placeOrder();
    const { status, body } = await till.createPayment(order.id, '', 'stripe');
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ pointer: '#/provider', allowed: ['manual', 'test'] })]]);
  });

  test.each(['javascript:alert(1)', 'ftp://shop.example', 'shop'])('rejects %s as return_url', async (url) => {
    const order = await till.placeOrder();
    const { status, body } = await till.post(`/orders/${order.id}/payments`, { provider: 'manual', return_url: url });
    expect([status, body.errors[0].pointer]).toEqual([400, '#/return_url']);
  });
});

describe('canceling a payment', () => {
  test('that requires customer action leaves the order pending', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_requires_action');
    const canceled = await till.post(`/payments/${body.id}/cancellation`);
    expect([canceled.status, canceled.body.status]).toEqual([201, 'canceled']);
    expect(await paymentEvents(body.id)).toEqual(['payment.created', 'payment.requires_action', 'payment.canceled']);
    expect((await till.get(`/orders/${order.id}`)).status).toBe('pending');
    const again = await till.post(`/payments/${body.id}/cancellation`);
    expect([again.status, again.body.code]).toEqual([409, 'invalid_transition']);
  });

  test.each(['test_processing_then_ok', 'test_ok', 'test_declined'])('is rejected after %s', async (method) => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, method);
    const { status, body: refused } = await till.post(`/payments/${body.id}/cancellation`);
    expect([status, refused.code]).toEqual([409, 'invalid_transition']);
  });
});

describe('a manual payment', () => {
  test('reserves the stock for a week, until staff confirm the payment', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, '', 'manual');
    expect(body.status).toBe('pending');
    const reservedMs = Date.parse((await till.get(`/orders/${order.id}`)).expires_at) - Date.parse(order.created_at);
    expect(reservedMs).toBe(7 * 24 * 3600_000);
    await submitPollOrCancelDuePayments(em(), till.providers, inOneMinute());
    expect((await till.get(`/payments/${body.id}`)).status).toBe('pending');
    const confirmed = await till.post(`/payments/${body.id}/confirmation`);
    expect([confirmed.status, confirmed.body.status]).toEqual([201, 'succeeded']);
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
    const again = await till.post(`/payments/${body.id}/confirmation`);
    expect([again.status, again.body.code]).toEqual([409, 'invalid_transition']);
  });

  test('that is canceled leaves the order reserved for at most 30 minutes', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, '', 'manual');
    await till.post(`/payments/${body.id}/cancellation`);
    const remainingMs = Date.parse((await till.get(`/orders/${order.id}`)).expires_at) - Date.now();
    expect(remainingMs).toBeLessThanOrEqual(30 * 60_000);
  });

  test('is the only kind of payment that staff can confirm', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_requires_action');
    expect((await till.post(`/payments/${body.id}/confirmation`)).body.code).toBe('invalid_transition');
  });

  test('that arrives after the cancellation of the order is refunded', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, '', 'manual');
    await till.post(`/orders/${order.id}/cancellation`, {});
    expect(await till.get(`/payments/${body.id}`)).toMatchObject({ status: 'canceled' });
    expect((await till.post(`/payments/${body.id}/confirmation`)).body.status).toBe('succeeded');
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'canceled', payment_status: 'paid' });
    const [refund] = (await till.get(`/orders/${order.id}/refunds`)).data;
    expect(refund).toMatchObject({ status: 'pending', reason: 'order_canceled', amount: order.total });
    expect((await till.post(`/refunds/${refund.id}/confirmation`)).body.status).toBe('succeeded');
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ payment_status: 'refunded', refunded_total: order.total });
  });
});

describe('lists and conditional requests', () => {
  test('lists the payments of an order, newest first, in pages', async () => {
    const order = await till.placeOrder();
    for (const method of ['test_declined', 'test_declined', 'test_ok']) await till.createPayment(order.id, method);
    const first = await till.get(`/orders/${order.id}/payments?limit=2&include_total=true`);
    expect([first.data.map((payment: { attempt: number }) => payment.attempt), first.total_count]).toEqual([[3, 2], 3]);
    const next = await till.get(`/orders/${order.id}/payments?limit=2&cursor=${first.next_cursor}`);
    expect([next.data.map((payment: { attempt: number }) => payment.attempt), next.has_more]).toEqual([[1], false]);
  });

  test('returns 304 for an unchanged payment', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id);
    const first = await till.mandate.callApi('GET', `/api/v1/payments/${body.id}`, { token: till.shop.token });
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    expect((await till.mandate.callApi('GET', `/api/v1/payments/${body.id}`, { token: till.shop.token, headers })).status).toBe(304);
  });
});
