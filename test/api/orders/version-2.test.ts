import { contractV2, getRouteMetadata, listRoutes } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { startMandateServer, type ApiResponse, type JsonBody } from '../../support/server/start-mandate.ts';
import { deliveryAddress, pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });
const anna = shop.customer(['orders.read', 'orders.write']);

const shipping = { shipping_method: 'standard', shipping_address: { recipient_name: 'Anna Test', ...deliveryAddress } };
const delivery = { method: 'standard', ...shipping.shipping_address };

const items = async (): Promise<JsonBody> => [{ product_id: (await shop.createProduct()).id, quantity: 1 }];
const placeOrder = async (version: 'v1' | 'v2', overrides: object = {}, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('POST', `/api/${version}/orders`, {
    token: anna.token,
    headers,
    body: { items: await items(), ...(version === 'v1' ? { delivery } : shipping), ...overrides },
  });
const getOrder = (version: 'v1' | 'v2', id: number, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('GET', `/api/${version}/orders/${id}`, { token: anna.token, headers });
const patch = (id: number, body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('PATCH', `/api/v2/orders/${id}`, { token: anna.token, body, headers });

describe('orders of both versions', () => {
  test('can be read in both versions', async () => {
    const { body: two, headers } = await placeOrder('v2');
    expect(two).toMatchObject(shipping);
    expect(two).not.toHaveProperty('delivery');
    expect([headers.get('location'), headers.get('mandate-version')]).toEqual([`/api/v2/orders/${two.id}`, 'v2']);
    const { shipping_method: _, shipping_address: __, ...rest } = two;
    expect((await getOrder('v1', two.id)).body).toEqual({ ...rest, delivery });

    const { body: one, headers: headersOfOne } = await placeOrder('v1');
    expect([headersOfOne.get('location'), headersOfOne.get('mandate-version')]).toEqual([`/api/v1/orders/${one.id}`, 'v1']);
    expect((await getOrder('v2', one.id)).body).toMatchObject({ id: one.id, total: one.total, ...shipping });
  });

  test('have the same form in lists and cancellations, and a cursor is valid in one version', async () => {
    const { body } = await placeOrder('v2');
    await placeOrder('v2');
    const list = await shop.callApi('GET', '/api/v2/orders?limit=1', { token: anna.token });
    expect([list.body.data[0].shipping_method, list.body.data[0].delivery]).toEqual(['standard', undefined]);
    expect(list.headers.get('link')).toContain('</api/v2/orders?limit=1&cursor=');
    const otherVersion = await shop.callApi('GET', `/api/v1/orders?limit=1&cursor=${list.body.next_cursor}`, { token: anna.token });
    expect(otherVersion.body.code).toBe('cursor_mismatch');
    const canceled = await shop.callApi('POST', `/api/v2/orders/${body.id}/cancellation`, { token: anna.token, body: {} });
    expect(canceled.body).toMatchObject({ status: 'canceled', ...shipping });
  });

  test('other resources are the same as in version 1', async () => {
    const paths = listRoutes(contractV2).map(({ path }) => path);
    expect(paths.filter((path) => !path.startsWith('/api/v2/'))).toEqual([]);
    const [one, two] = [await shop.callApi('GET', '/api/v1/products'), await shop.callApi('GET', '/api/v2/products')];
    expect(two.body.data).toEqual(one.body.data);
    const created = await shop.callApi('POST', '/api/v2/products', {
      token: shop.token,
      body: { name: 'A', category: 'a', price: 1, currency: 'EUR', sku: 'v2-1', tax_rate_bps: 0 },
    });
    expect(created.headers.get('location')).toBe(`/api/v2/products/${created.body.id}`);
  });

  test('GET /api lists both versions, and each has an OpenAPI document', async () => {
    const { body } = await shop.callApi('GET', '/api');
    expect(body.data.map(({ version, status }: JsonBody) => [version, status])).toEqual([
      ['v1', 'current'],
      ['v2', 'preview'],
    ]);
    const document: JsonBody = await (await fetch(`${shop.origin}/openapi-v2.json`)).json();
    expect(Object.keys(document.paths)).toContain('/api/v2/orders');
    expect(document.components.schemas.Order.properties).toHaveProperty('shipping_address');
    expect(getRouteMetadata(contractV2.orders.create).operationId).toBe('orders.create');
  });
});

describe('PATCH in version 2', () => {
  test('changes the address without the method, and the method without the address', async () => {
    const { body } = await placeOrder('v2');
    const moved = await patch(body.id, { shipping_address: { ...shipping.shipping_address, city: 'York' } });
    expect(moved.body).toMatchObject({ shipping_method: 'standard', shipping_address: { city: 'York' }, version: 2 });
    expect((await patch(body.id, { shipping_method: 'standard', note: 'Ring' })).body).toMatchObject({
      shipping_method: 'standard',
      shipping_address: { city: 'York' },
      note: 'Ring',
    });
    expect((await patch(body.id, { note: null })).body).toMatchObject({ note: null, shipping_address: { city: 'York' } });
  });
});

describe('errors in version 2', () => {
  test.each([
    [{ shipping_method: 'none' }, '#/shipping_method'],
    [{ shipping_address: { recipient_name: 'Anna', city: 'York', country: 'GB' } }, '#/shipping_address/line1'],
    [{ shipping_address: { recipient_name: 'Anna', city: 'York', country: 'England' } }, '#/shipping_address/country'],
    [{ delivery }, '#/delivery'],
  ])('%j is rejected at %s', async (overrides, pointer) => {
    const { status, body } = await placeOrder('v2', overrides);
    expect([status, body.errors.map((entry: JsonBody) => entry.pointer)]).toEqual([400, [pointer]]);
    expect(body.detail).toMatch(new RegExp(`^${pointer}: `));
  });

  test('a PATCH also requires the address that the delivery method needs', async () => {
    const { body } = await placeOrder('v2');
    const { body: problem } = await patch(body.id, { shipping_address: { recipient_name: 'Anna' } });
    expect(problem.errors.map((entry: JsonBody) => entry.pointer)).toEqual([
      '#/shipping_address/line1',
      '#/shipping_address/city',
      '#/shipping_address/country',
    ]);
  });

  test('conflicts keep their codes and details', async () => {
    const { body } = await placeOrder('v2', { items: [{ product_id: (await shop.createProduct()).id, quantity: 99_999 }] });
    expect([body.code, body.errors[0].pointer]).toEqual(['out_of_stock', '#/items/0/product_id']);
    expect((await placeOrder('v2', { total: 1 })).body.errors[0].actual).toBeGreaterThan(1);
    const draft = await shop.createProduct({ status: 'draft' });
    const unavailable = await placeOrder('v2', { items: [{ product_id: draft.id, quantity: 1 }] });
    expect([unavailable.body.code, unavailable.body.errors[0].pointer]).toEqual(['product_unavailable', '#/items/0/product_id']);
  });

  test('state conflicts are the same as in version 1', async () => {
    const { body } = await placeOrder('v2');
    expect((await patch(body.id, { shipping_method: pickupDelivery.method })).body.code).toBe('price_changed');
    expect((await shop.callApi('POST', `/api/v2/orders/${body.id}/cancellation`, { token: anna.token, body: {} })).status).toBe(201);
    expect((await patch(body.id, { shipping_method: 'standard' })).body.code).toBe('invalid_transition');
    expect((await shop.callApi('POST', `/api/v2/orders/${body.id}/cancellation`, { token: anna.token, body: {} })).body.code).toBe(
      'invalid_transition',
    );
    const other = await placeOrder('v2');
    const forbidden = await shop.callApi('POST', `/api/v2/orders/${other.body.id}/cancellation`, {
      token: anna.token,
      body: { reason: 'fraud' },
    });
    expect(forbidden.body.code).toBe('forbidden');
  });
});

describe('ETags and idempotency keys', () => {
  test('an ETag is valid in one version', async () => {
    const { body } = await placeOrder('v2');
    const [one, two] = [await getOrder('v1', body.id), await getOrder('v2', body.id)];
    expect(two.headers.get('etag')).not.toBe(one.headers.get('etag'));
    expect((await getOrder('v2', body.id, { 'if-none-match': two.headers.get('etag') ?? '' })).status).toBe(304);
    expect((await getOrder('v2', body.id, { 'if-none-match': one.headers.get('etag') ?? '' })).status).toBe(200);
    expect((await patch(body.id, { note: 'x' }, { 'if-match': one.headers.get('etag') ?? '' })).status).toBe(412);
    expect((await patch(body.id, { note: 'x' }, { 'if-match': two.headers.get('etag') ?? '' })).status).toBe(200);
  });

  test('an idempotency key is valid in one version', async () => {
    const headers = { 'idempotency-key': 'one-order' };
    const body = { items: await items() };
    const [first, again] = [await placeOrder('v2', body, headers), await placeOrder('v2', body, headers)];
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(again.headers.get('location')).toBe(`/api/v2/orders/${first.body.id}`);
    expect((await placeOrder('v1', body, headers)).body.code).toBe('idempotency_key_reused');
  });
});

test('version 2 does not exist if previews are disabled', async () => {
  const stable = await startMandateServer();
  try {
    expect((await stable.callApi('GET', '/api/v2/products')).body.code).toBe('route_not_found');
    expect((await stable.callApi('GET', '/api')).body.data).toHaveLength(1);
    expect((await fetch(`${stable.origin}/openapi-v2.json`)).status).toBe(404);
  } finally {
    await stable.close();
  }
});
