import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput, pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop();

const cancel = (id: number, body: object = {}) => till.post(`/orders/${id}/cancellation`, body);
const orderEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'order', id);

describe('201', () => {
  test('a pending order returns its units to stock', async () => {
    const order = await till.placeOrder({ stock: 2, lines: 2 });
    const { status, headers, body } = await cancel(order.id, { reason: 'out_of_stock', note: 'Broken in the store' });
    expect([status, headers.get('location')]).toEqual([201, `/api/v1/orders/${order.id}`]);
    expect(body).toMatchObject({
      status: 'canceled',
      cancel_reason: 'out_of_stock',
      note: 'Broken in the store',
      expires_at: null,
      canceled_at: expect.any(String),
      items: [{ restocked_quantity: 2 }, { restocked_quantity: 2 }],
    });
    for (const { product_id: id } of order.items) {
      expect(await till.stock(id)).toBe(2);
      expect(await readEventTypes(till.mandate.db, 'product', id)).toEqual([
        'product.created',
        'product.out_of_stock',
        'product.back_in_stock',
      ]);
    }
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.canceled']);
  });

  test('all lines of the same product are restocked', async () => {
    const [product, user] = [await till.shop.createProduct({ stock: 5 }), await till.shop.createUser()];
    const items = [1, 2].map((quantity) => ({ product_id: product.id, quantity }));
    const { body } = await till.post('/orders', { user_id: user.id, items, delivery: pickupDelivery });
    expect(await till.stock(product.id)).toBe(2);
    await cancel(body.id);
    expect(await till.stock(product.id)).toBe(5);
  });

  test('a paid order is refunded, except for earlier refunds', async () => {
    const order = await till.placePaidOrder();
    await till.post(`/orders/${order.id}/refunds`, { amount: 10, restock: [{ line: 1, quantity: 1 }] });
    await cancel(order.id);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({
      status: 'canceled',
      cancel_reason: 'staff',
      payment_status: 'refunded',
      refunded_total: order.total,
    });
    const [refund] = (await till.get(`/orders/${order.id}/refunds`)).data;
    expect(refund).toMatchObject({ reason: 'order_canceled', amount: order.total - 10, status: 'succeeded' });
    expect(await till.stock(order.items[0].product_id)).toBe(10);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.paid', 'order.refunded', 'order.canceled', 'order.refunded']);
  });

  test('an open payment is canceled at its provider first', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_requires_action');
    await cancel(order.id);
    expect((await till.get(`/payments/${body.id}`)).status).toBe('canceled');
    expect(await readEventTypes(till.mandate.db, 'payment', body.id)).toContain('payment.canceled');
  });

  test('the same idempotency key returns the same response', async () => {
    const order = await till.placeOrder();
    const call = { token: till.shop.token, body: {}, headers: { 'idempotency-key': 'cancel-once' } };
    const path = `/api/v1/orders/${order.id}/cancellation`;
    const [first, second] = [await till.mandate.callApi('POST', path, call), await till.mandate.callApi('POST', path, call)];
    expect([first.status, second.text]).toEqual([201, first.text]);
  });
});

describe('409 invalid_transition', () => {
  const createOrderByState: Record<string, () => Promise<number>> = {
    canceled: async () => {
      const { id } = await till.placeOrder();
      await cancel(id);
      return id;
    },
    'partly shipped': async () => {
      const { id } = await till.placePaidOrder();
      await till.post(`/orders/${id}/shipments`, { status: 'shipped', items: [{ line: 1, quantity: 1 }] });
      return id;
    },
    shipped: async () => {
      const { id } = await till.placePaidOrder();
      await till.post(`/orders/${id}/shipments`, { status: 'shipped' });
      return id;
    },
    delivered: async () => {
      const { id } = await till.placePaidOrder();
      await till.post(`/orders/${id}/shipments`, { status: 'delivered' });
      return id;
    },
    'being paid': async () => {
      const { id } = await till.placeOrder();
      await till.createPayment(id, 'test_processing_then_ok');
      return id;
    },
  };
  test.each(Object.keys(createOrderByState))('an order that is %s', async (state) => {
    const id = (await createOrderByState[state]?.()) ?? 0;
    const [events, before] = [await orderEvents(id), await till.get(`/orders/${id}`)];
    const { status, body } = await cancel(id);
    expect([status, body.code]).toEqual([409, 'invalid_transition']);
    expect([await orderEvents(id), await till.get(`/orders/${id}`)]).toEqual([events, before]);
  });
});

describe('permissions', () => {
  test('a customer can cancel only their orders, without a staff reason', async () => {
    const { mandate, shop } = till;
    const anna = (await obtainTokens(mandate.origin, await signUp(mandate.origin), ['orders.write'])).access_token;
    const product = await shop.createProduct();
    const placed = await mandate.callApi('POST', '/api/v1/orders', {
      token: anna,
      body: buildOrderInput([product, 1]),
    });
    const asAnna = (id: number, body: object) => mandate.callApi('POST', `/api/v1/orders/${id}/cancellation`, { token: anna, body });
    expect((await asAnna(placed.body.id, { reason: 'fraud' })).body.code).toBe('forbidden');
    expect((await asAnna(placed.body.id, {})).body).toMatchObject({ status: 'canceled', cancel_reason: 'customer' });
    const foreign = await till.placeOrder();
    expect((await asAnna(foreign.id, {})).status).toBe(404);
    expect((await till.get(`/orders/${foreign.id}`)).status).toBe('pending');
  });
});

// PGlite runs one transaction at a time.
describe.skipIf(databaseKind === 'pglite')('concurrent requests', () => {
  const countByStatus = (responses: readonly { status: number }[]): Record<number, number> =>
    Object.fromEntries([...Map.groupBy(responses, ({ status }) => status)].map(([status, group]) => [status, group.length]));

  test('16 cancellations restock the units once', async () => {
    const order = await till.placeOrder({ stock: 5, quantity: 3 });
    expect(countByStatus(await Promise.all(Array.from({ length: 16 }, () => cancel(order.id))))).toEqual({ 201: 1, 409: 15 });
    expect(await till.stock(order.items[0].product_id)).toBe(5);
  });

  test('16 payments create one open payment', async () => {
    const order = await till.placeOrder();
    expect(
      countByStatus(await Promise.all(Array.from({ length: 16 }, () => till.createPayment(order.id, 'test_processing_then_ok')))),
    ).toEqual({
      201: 1,
      409: 15,
    });
    expect((await till.get(`/orders/${order.id}/payments`)).data).toHaveLength(1);
  });

  test('a cancellation and two payments leave the order either paid, or canceled and refunded', async () => {
    for (let round = 0; round < 10; round += 1) {
      const order = await till.placeOrder({ stock: 2 });
      await Promise.all([till.createPayment(order.id), cancel(order.id), till.createPayment(order.id)]);
      const after = await till.get(`/orders/${order.id}`);
      const stock = await till.stock(order.items[0].product_id);
      const payments: { status: string; amount: number; refunded_total: number }[] = (await till.get(`/orders/${order.id}/payments`)).data;
      const netPaid = payments
        .filter(({ status }) => status === 'succeeded')
        .reduce((sum, { amount, refunded_total: refunded }) => sum + amount - refunded, 0);
      expect([after.status, stock, netPaid]).toEqual(after.status === 'paid' ? ['paid', 0, order.total] : ['canceled', 2, 0]);
    }
  });
});
