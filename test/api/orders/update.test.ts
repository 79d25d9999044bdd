import { describe, expect, test } from 'vitest';
import { readEventTypes } from '../../support/read-event-types.ts';
import { startMandateServer, type ApiResponse, type JsonBody, type ApiServer } from '../../support/server/start-mandate.ts';
import { deliveryAddress, createTestShop, buildOrderInput, pickupDelivery, type TestShop } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);

const standard = { method: 'standard', recipient_name: 'Anna Test', ...deliveryAddress };

async function placeOrder(delivery: object = standard, as = anna.token, overrides: object = {}): Promise<JsonBody> {
  const product = await shop.createProduct();
  const response = await shop.callApi('POST', '/api/v1/orders', {
    token: as,
    body: { items: [{ product_id: product.id, quantity: 2 }], delivery, ...overrides },
  });
  return response.body;
}
const patch = (id: number, body: unknown, as = anna.token, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('PATCH', `/api/v1/orders/${id}`, { token: as, body, headers });
const setStatus = (id: number, status: string, fulfillment = 'unfulfilled'): Promise<unknown> =>
  shop.db.em
    .fork()
    .execute(`update orders set status = ?, fulfillment_status = ?, payment_status = 'paid' where id = ?`, [status, fulfillment, id]);

describe('200', () => {
  test('changes the given fields, clears null fields, increments the version and records an event', async () => {
    const order = await placeOrder(standard, anna.token, { note: 'Ring', reference: 'A-1' });
    const delivery = { ...standard, line1: '2 Low Street' };
    const { body, headers } = await patch(order.id, { delivery, note: null, metadata: { a: '1' } });
    expect(body).toEqual({ ...order, delivery, note: null, metadata: { a: '1' }, version: 2, updated_at: body.updated_at });
    expect(headers.get('etag')).toBe(`"order-${order.id}-2.1"`);
    expect((await patch(order.id, {})).body).toEqual(body);
    expect(await readEventTypes(shop.db, 'order', order.id)).toEqual(['order.created', 'order.updated']);
  });

  test('staff can change the delivery of a paid order, and its customer cannot', async () => {
    const order = await placeOrder();
    await setStatus(order.id, 'paid');
    const body = { delivery: { ...standard, city: 'York' } };
    expect((await patch(order.id, body)).body.code).toBe('invalid_transition');
    expect((await patch(order.id, body, shop.token)).body.delivery.city).toBe('York');
    expect((await patch(order.id, { note: 'Thanks' })).body.note).toBe('Thanks');
  });
});

describe('errors', () => {
  test.each(['shipped', 'delivered', 'canceled'])('409 for the delivery of an order that is %s', async (status) => {
    const order = await placeOrder();
    await setStatus(order.id, status);
    expect((await patch(order.id, { delivery: standard }, shop.token)).body.code).toBe('invalid_transition');
  });

  test('409 for a delivery method with another price, and 400 for an unknown method or a missing address', async () => {
    const order = await placeOrder();
    expect((await patch(order.id, { delivery: pickupDelivery })).body.code).toBe('price_changed');
    expect((await patch(order.id, { delivery: { ...pickupDelivery, method: 'pigeon' } })).body.errors[0].pointer).toBe('#/delivery/method');
    const withoutAddress = await patch(order.id, { delivery: { method: 'standard', recipient_name: 'Anna', city: 'Leeds' } });
    expect(withoutAddress.body.errors.map(({ pointer }: JsonBody) => pointer)).toEqual(['#/delivery/line1', '#/delivery/country']);
  });

  test('400 for fixed fields, and for null in a required field', async () => {
    const order = await placeOrder();
    const { body } = await patch(order.id, { items: [], total: 1, status: 'paid', metadata: null, colour: 'red' });
    expect(body.errors.map(({ pointer, code }: JsonBody) => `${pointer} ${code}`).toSorted()).toEqual([
      '#/colour unknown_field',
      '#/items read_only_field',
      '#/metadata not_nullable',
      '#/status read_only_field',
      '#/total read_only_field',
    ]);
  });

  test('404 for an order of another user, and 412 for another version', async () => {
    const order = await placeOrder();
    const other = await shop.createAccount('customer', ['orders.write']);
    expect((await patch(order.id, { note: 'x' }, other.token)).body.code).toBe('not_found');
    expect((await patch(order.id, { note: 'x' }, anna.token, { 'if-match': `"order-${order.id}-9.1"` })).body.code).toBe(
      'precondition_failed',
    );
  });
});

describe('discounts and tax', () => {
  const createOrder = async (server: ApiServer, targetShop: TestShop, product: JsonBody, overrides: object): Promise<ApiResponse> =>
    server.callApi('POST', '/api/v1/orders', {
      token: targetShop.token,
      body: {
        user_id: (await targetShop.createUser()).id,
        items: [{ product_id: product.id, quantity: 1 }],
        delivery: pickupDelivery,
        ...overrides,
      },
    });

  test('a discount by staff reduces the tax in proportion', async () => {
    const product = await shop.createProduct({ price: 1200, tax_rate_bps: 2000 });
    const { body } = await createOrder(shop, shop, product, { discount_total: 300, total: 900 });
    expect(body).toMatchObject({ subtotal: 1200, discount_total: 300, tax_total: 150, total: 900, tax_mode: 'inclusive' });
    expect(body.items[0].tax).toBe(200);
    const fullDiscount = await createOrder(shop, shop, product, { discount_total: 1200 });
    expect(fullDiscount.body).toMatchObject({ total: 0, tax_total: 0, status: 'paid' });
    const tooMuch = await createOrder(shop, shop, product, { discount_total: 1201 });
    expect(tooMuch.body.errors).toMatchObject([{ pointer: '#/discount_total', code: 'out_of_range' }]);
    const customer = { ...buildOrderInput([product, 1]), discount_total: 1 };
    expect((await shop.callApi('POST', '/api/v1/orders', { token: anna.token, body: customer })).body.code).toBe('forbidden');
  });

  test('tax is added to prices without tax', async () => {
    const exclusive = await startMandateServer({ taxMode: 'exclusive' });
    try {
      const exclusiveShop = await createTestShop(exclusive);
      const product = await exclusiveShop.createProduct({ price: 1005, tax_rate_bps: 1000 });
      const { body } = await createOrder(exclusive, exclusiveShop, product, {});
      // 10% of 1005 is 100.5; half a cent is rounded up
      expect(body).toMatchObject({ subtotal: 1005, tax_total: 101, total: 1106, tax_mode: 'exclusive' });
      const discounted = await createOrder(exclusive, exclusiveShop, product, { discount_total: 505 });
      expect(discounted.body).toMatchObject({ tax_total: 50, total: 550 });
    } finally {
      await exclusive.close();
    }
  });
});
