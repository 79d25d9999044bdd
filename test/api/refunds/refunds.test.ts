import { describe, expect, test } from 'vitest';
import { readEventTypes } from '../../support/read-event-types.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';

const till = withPaymentTestShop();

const refund = (orderId: number, body: object = {}) => till.post(`/orders/${orderId}/refunds`, body);

describe('201', () => {
  test('a partial and a full refund change the totals, but not the stock', async () => {
    const order = await till.placePaidOrder();
    const part = await refund(order.id, { amount: 100, reason: 'damaged', note: 'A scratch' });
    expect([part.status, part.headers.get('location')]).toEqual([201, `/api/v1/refunds/${part.body.id}`]);
    expect(part.body).toMatchObject({ status: 'succeeded', amount: 100, reason: 'damaged', note: 'A scratch', restock: [] });
    const partly = { status: 'paid', payment_status: 'partially_refunded', refunded_total: 100 };
    expect(await till.get(`/orders/${order.id}`)).toMatchObject(partly);
    expect((await refund(order.id)).body.amount).toBe(order.total - 100);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({
      status: 'paid',
      payment_status: 'refunded',
      refunded_total: order.total,
    });
    expect(await till.stock(order.items[0].product_id)).toBe(8);
    expect(await readEventTypes(till.mandate.db, 'refund', part.body.id)).toEqual(['refund.created', 'refund.succeeded']);
    const events = await readEventTypes(till.mandate.db, 'order', order.id);
    expect(events).toEqual(['order.created', 'order.paid', 'order.refunded', 'order.refunded']);
  });

  test('restocked units return to stock, and an event is recorded', async () => {
    const order = await till.placePaidOrder({ quantity: 2, stock: 2 });
    const id = order.items[0].product_id;
    expect(await till.stock(id)).toBe(0);
    const { status, body } = await refund(order.id, { amount: 1, restock: [{ line: 1, quantity: 1 }] });
    expect([status, body.restock]).toEqual([201, [{ line: 1, quantity: 1 }]]);
    expect(await till.stock(id)).toBe(1);
    expect((await till.get(`/orders/${order.id}`)).items[0].restocked_quantity).toBe(1);
    expect(await readEventTypes(till.mandate.db, 'product', id)).toEqual([
      'product.created',
      'product.out_of_stock',
      'product.back_in_stock',
    ]);
  });

  test('a refunded order remains delivered', async () => {
    const order = await till.placePaidOrder();
    await till.post(`/orders/${order.id}/shipments`, { status: 'delivered' });
    await refund(order.id, { restock: [{ line: 1, quantity: 2 }] });
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({
      status: 'delivered',
      fulfillment_status: 'delivered',
      payment_status: 'refunded',
    });
    expect(await till.stock(order.items[0].product_id)).toBe(10);
  });

  test('the same idempotency key refunds once', async () => {
    const order = await till.placePaidOrder();
    const call = { token: till.shop.token, body: { amount: 5 }, headers: { 'idempotency-key': 'refund-once' } };
    const path = `/api/v1/orders/${order.id}/refunds`;
    const [first, second] = [await till.mandate.callApi('POST', path, call), await till.mandate.callApi('POST', path, call)];
    expect([second.text, first.body.status]).toEqual([first.text, 'succeeded']);
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(5);
  });

  test('a refund of a manual payment is pending until staff confirm it', async () => {
    const order = await till.placeOrder();
    const { body: payment } = await till.createPayment(order.id, '', 'manual');
    await till.post(`/payments/${payment.id}/confirmation`);
    const { body } = await refund(order.id, { amount: 10 });
    expect(body.status).toBe('pending');
    expect((await refund(order.id, { amount: order.total - 9 })).body.code).toBe('refund_exceeds_payment');
    expect((await till.post(`/refunds/${body.id}/confirmation`)).body.status).toBe('succeeded');
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(10);
    const again = await till.post(`/refunds/${body.id}/confirmation`);
    expect([again.status, again.body.code]).toEqual([409, 'invalid_transition']);
  });
});

describe('409', () => {
  test('invalid_transition for an unpaid order', async () => {
    const order = await till.placeOrder();
    const { status, body } = await refund(order.id);
    expect([status, body.code]).toEqual([409, 'invalid_transition']);
  });

  test('refund_exceeds_payment for the sum of all refunds', async () => {
    const order = await till.placePaidOrder();
    expect((await refund(order.id, { amount: order.total + 1 })).body).toMatchObject({
      code: 'refund_exceeds_payment',
      errors: [{ pointer: '#/amount' }],
    });
    await refund(order.id, { amount: order.total - 1 });
    expect((await refund(order.id, { amount: 2 })).body.code).toBe('refund_exceeds_payment');
    await refund(order.id, { amount: 1 });
    expect((await refund(order.id)).body.code).toBe('refund_exceeds_payment');
  });

  test('quantity_exceeded for units that were restocked before or are in a shipment', async () => {
    const order = await till.placePaidOrder({ quantity: 3 });
    const restockUnits = (quantity: number) => refund(order.id, { amount: 1, restock: [{ line: 1, quantity }] });
    expect((await restockUnits(4)).body.code).toBe('quantity_exceeded');
    const duplicateLines = [
      { line: 1, quantity: 2 },
      { line: 1, quantity: 2 },
    ];
    expect((await refund(order.id, { amount: 1, restock: duplicateLines })).body.code).toBe('quantity_exceeded');
    expect((await restockUnits(1)).status).toBe(201);
    await till.post(`/orders/${order.id}/shipments`, { items: [{ line: 1, quantity: 1 }] });
    expect((await restockUnits(2)).body.errors).toMatchObject([{ requested: 2, available: 1 }]);
    expect(await till.stock(order.items[0].product_id)).toBe(8);
    expect((await till.get(`/orders/${order.id}`)).refunded_total).toBe(1);
  });
});

describe('400', () => {
  test.each([
    [{ amount: 0 }, '#/amount'],
    [{ amount: -1 }, '#/amount'],
    [{ amount: 1.5 }, '#/amount'],
    [{ amount: '5' }, '#/amount'],
    [{ reason: 'mood' }, '#/reason'],
    [{ restock: [{ line: 9, quantity: 1 }], amount: 1 }, '#/restock'],
  ])('%j', async (body, pointer) => {
    const order = await till.placePaidOrder();
    const response = await refund(order.id, body);
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
  });
});

describe('permissions', () => {
  test('a customer cannot create refunds, or read those of another customer', async () => {
    const { mandate } = till;
    const anna = (await obtainTokens(mandate.origin, await signUp(mandate.origin), ['payments.read', 'payments.write'])).access_token;
    const order = await till.placePaidOrder();
    const { body } = await refund(order.id, { amount: 1 });
    expect((await mandate.callApi('POST', `/api/v1/orders/${order.id}/refunds`, { token: anna, body: {} })).status).toBe(403);
    expect((await mandate.callApi('GET', `/api/v1/refunds/${body.id}`, { token: anna })).status).toBe(404);
    expect((await till.get(`/refunds/${body.id}`)).id).toBe(body.id);
    expect((await refund(987_654)).status).toBe(404);
  });
});
