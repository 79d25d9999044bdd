import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';

const till = withPaymentTestShop();

const ship = (orderId: number, body: object = {}) => till.post(`/orders/${orderId}/shipments`, body);
const change = (id: number, body: object, headers: Record<string, string> = {}) =>
  till.mandate.callApi('PATCH', `/api/v1/shipments/${id}`, { token: till.shop.token, body, headers });
const shipmentEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'shipment', id);
const orderEvents = (id: number): Promise<string[]> => readEventTypes(till.mandate.db, 'order', id);
const getOrder = (id: number): Promise<JsonBody> => till.get(`/orders/${id}`);

describe('a shipment', () => {
  test('of all items moves the order to shipped and then to delivered', async () => {
    const { id } = await till.placePaidOrder({ lines: 2 });
    const { status, body } = await ship(id, { carrier: 'DHL', tracking_number: '123', tracking_url: 'https://dhl.example/123' });
    expect([status, body]).toMatchObject([
      201,
      {
        status: 'pending',
        carrier: 'DHL',
        items: [
          { line: 1, quantity: 2 },
          { line: 2, quantity: 2 },
        ],
      },
    ]);
    expect(await getOrder(id)).toMatchObject({ status: 'paid', fulfillment_status: 'unfulfilled' });

    expect((await change(body.id, { status: 'shipped' })).body).toMatchObject({ status: 'shipped', shipped_at: expect.any(String) });
    expect(await getOrder(id)).toMatchObject({
      status: 'shipped',
      fulfillment_status: 'shipped',
      items: [{ shipped_quantity: 2 }, { shipped_quantity: 2 }],
    });

    expect((await change(body.id, { status: 'delivered' })).body).toMatchObject({ status: 'delivered', delivered_at: expect.any(String) });
    expect(await getOrder(id)).toMatchObject({ status: 'delivered', fulfillment_status: 'delivered' });
    expect(await shipmentEvents(body.id)).toEqual(['shipment.created', 'shipment.shipped', 'shipment.delivered']);
    expect(await orderEvents(id)).toEqual(['order.created', 'order.paid', 'order.shipped', 'order.delivered']);
  });

  test('of some items leaves the order paid until the other items are shipped', async () => {
    const { id, version } = await till.placePaidOrder({ quantity: 3 });
    const first = (await ship(id, { status: 'shipped', items: [{ line: 1, quantity: 1 }] })).body;
    const partly = await getOrder(id);
    expect(partly).toMatchObject({ status: 'paid', fulfillment_status: 'partial' });
    expect(partly.version).toBeGreaterThan(version);
    await change(first.id, { status: 'delivered' });
    expect(await getOrder(id)).toMatchObject({ status: 'paid', fulfillment_status: 'partial' });
    const second = (await ship(id, { status: 'shipped' })).body;
    expect(second.items).toEqual([{ line: 1, quantity: 2 }]);
    expect((await getOrder(id)).status).toBe('shipped');
    await change(second.id, { status: 'delivered' });
    expect((await getOrder(id)).status).toBe('delivered');
  });

  test('created as delivered moves the order to delivered immediately', async () => {
    const { id } = await till.placePaidOrder();
    const { body } = await ship(id, { status: 'delivered' });
    expect(body).toMatchObject({ status: 'delivered', shipped_at: expect.any(String), delivered_at: expect.any(String) });
    expect(await orderEvents(id)).toEqual(['order.created', 'order.paid', 'order.shipped', 'order.delivered']);
  });

  test('that failed can be followed by another shipment', async () => {
    const { id } = await till.placePaidOrder();
    const { body } = await ship(id, { status: 'shipped' });
    expect((await change(body.id, { status: 'failed' })).body.status).toBe('failed');
    expect(await shipmentEvents(body.id)).toEqual(['shipment.created', 'shipment.shipped', 'shipment.failed']);
    expect(await getOrder(id)).toMatchObject({ status: 'shipped', fulfillment_status: 'unfulfilled', items: [{ shipped_quantity: 0 }] });
    const again = (await ship(id, { status: 'shipped' })).body;
    await change(again.id, { status: 'delivered' });
    expect((await getOrder(id)).status).toBe('delivered');
  });

  test('that is canceled releases its units, and the order can be canceled again', async () => {
    const { id } = await till.placePaidOrder();
    const { body } = await ship(id);
    expect((await till.post(`/orders/${id}/cancellation`, {})).body.code).toBe('invalid_transition');
    expect((await change(body.id, { status: 'canceled' })).body.status).toBe('canceled');
    expect(await shipmentEvents(body.id)).toEqual(['shipment.created', 'shipment.canceled']);
    expect((await till.post(`/orders/${id}/cancellation`, {})).body.status).toBe('canceled');
  });

  test('excludes refunded and restocked units', async () => {
    const { id } = await till.placePaidOrder({ quantity: 3 });
    await till.post(`/orders/${id}/refunds`, { amount: 1, restock: [{ line: 1, quantity: 1 }] });
    const { body } = await ship(id, { status: 'shipped' });
    expect(body.items).toEqual([{ line: 1, quantity: 2 }]);
    expect((await getOrder(id)).status).toBe('shipped');
  });

  test('keeps omitted fields and clears null fields when it is changed', async () => {
    const { id } = await till.placePaidOrder();
    const { body } = await ship(id, { carrier: 'DHL', tracking_number: '123' });
    expect((await change(body.id, { tracking_number: null })).body).toMatchObject({
      carrier: 'DHL',
      tracking_number: null,
      status: 'pending',
    });
    expect(await shipmentEvents(body.id)).toEqual(['shipment.created']);
  });
});

describe('409', () => {
  const transitionPaths: Record<string, readonly string[]> = {
    pending: [],
    shipped: ['shipped'],
    delivered: ['shipped', 'delivered'],
    failed: ['shipped', 'failed'],
    canceled: ['canceled'],
  };
  test.each([
    ['pending', 'failed'],
    ['shipped', 'canceled'],
    ['delivered', 'shipped'],
    ['delivered', 'failed'],
    ['delivered', 'canceled'],
    ['failed', 'shipped'],
    ['failed', 'delivered'],
    ['canceled', 'shipped'],
    ['canceled', 'delivered'],
  ])('invalid_transition from %s to %s', async (from, next) => {
    const { id } = await till.placePaidOrder();
    const { body } = await ship(id);
    for (const status of transitionPaths[from] ?? []) expect((await change(body.id, { status })).status).toBe(200);
    const before = await shipmentEvents(body.id);
    const refused = await change(body.id, { status: next });
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_transition']);
    expect(await shipmentEvents(body.id)).toEqual(before);
  });

  test.each(['pending', 'canceled', 'delivered'])('invalid_transition for a %s order', async (status) => {
    const { id } = status === 'delivered' ? await till.placePaidOrder() : await till.placeOrder();
    if (status === 'delivered') await ship(id, { status: 'delivered' });
    if (status === 'canceled') await till.post(`/orders/${id}/cancellation`, {});
    const refused = await ship(id);
    expect([refused.status, refused.body.code]).toEqual([409, 'invalid_transition']);
  });

  test('quantity_exceeded, including the units of other shipments', async () => {
    const { id } = await till.placePaidOrder({ quantity: 3 });
    expect((await ship(id, { items: [{ line: 1, quantity: 4 }] })).body.code).toBe('quantity_exceeded');
    await ship(id, { items: [{ line: 1, quantity: 2 }] });
    expect((await ship(id, { items: [{ line: 1, quantity: 2 }] })).body.errors).toMatchObject([{ requested: 2, available: 1 }]);
    await ship(id);
    expect((await ship(id)).body.code).toBe('quantity_exceeded');
  });
});

describe('400, 403, 404 and 412', () => {
  test('400 for an unknown line, an invalid tracking URL and an empty list', async () => {
    const { id } = await till.placePaidOrder();
    expect((await ship(id, { items: [{ line: 2, quantity: 1 }] })).body.code).toBe('invalid_request');
    expect((await ship(id, { tracking_url: 'javascript:alert(1)' })).body.errors[0].pointer).toBe('#/tracking_url');
    expect((await ship(id, { items: [] })).status).toBe(400);
  });

  test('404 for an unknown order or shipment', async () => {
    expect((await ship(987_654)).status).toBe(404);
    expect((await change(987_654, { status: 'shipped' })).status).toBe(404);
  });

  test('412 for an outdated ETag', async () => {
    const { id } = await till.placePaidOrder();
    const { body } = await ship(id);
    const changed = await change(body.id, { carrier: 'DHL' }, { 'if-match': '*' });
    const etag = { 'if-match': changed.headers.get('etag') ?? '' };
    expect((await change(body.id, { carrier: 'UPS' }, etag)).status).toBe(200);
    expect((await change(body.id, { carrier: 'GLS' }, etag)).status).toBe(412);
  });

  test('a customer cannot create shipments, or list those of another customer', async () => {
    const { mandate } = till;
    const anna = (await obtainTokens(mandate.origin, await signUp(mandate.origin), ['orders.read', 'orders.write'])).access_token;
    const { id } = await till.placePaidOrder();
    expect((await mandate.callApi('POST', `/api/v1/orders/${id}/shipments`, { token: anna, body: {} })).status).toBe(403);
    expect((await mandate.callApi('GET', `/api/v1/orders/${id}/shipments`, { token: anna })).status).toBe(404);
    await ship(id);
    expect((await till.get(`/orders/${id}/shipments`)).data).toHaveLength(1);
  });
});

describe.skipIf(databaseKind === 'pglite')('8 concurrent shipments of 3 units', () => {
  test('contain no more than the ordered quantity', async () => {
    const { id } = await till.placePaidOrder({ quantity: 3 });
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => ship(id, { status: 'shipped', items: [{ line: 1, quantity: 1 }] })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(await getOrder(id)).toMatchObject({ status: 'shipped', items: [{ shipped_quantity: 3 }] });
  });
});
