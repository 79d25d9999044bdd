import { describe, expect, test } from 'vitest';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { buildOrderInput, pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['users.read', 'users.write', 'orders.read', 'orders.write']);

const send = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown, as = shop.token): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1${path}`, { token: as, headers, ...(body !== undefined && { body }) });
const etagAt = async (path: string, as?: string): Promise<string> => (await send('GET', path, {}, undefined, as)).headers.get('etag') ?? '';

describe('If-None-Match', () => {
  test('returns 304 without a body for a known ETag, and 200 after a change, with every token', async () => {
    const { id } = await shop.createProduct();
    const path = `/products/${id}`;
    const etag = await etagAt(path);
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await shop.callApi('GET', `/api/v1${path}`)).headers.get('etag')).toBe(etag);
    for (const knownEtag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await send('GET', path, { 'if-none-match': knownEtag });
      expect([response.status, response.text, response.headers.get('content-type'), response.headers.get('etag')]).toEqual([
        304,
        '',
        null,
        etag,
      ]);
    }
    expect((await send('HEAD', path, { 'if-none-match': etag })).status).toBe(304);
    expect((await send('GET', path, { 'if-none-match': '"other"' })).status).toBe(200);
    await send('PATCH', path, {}, { price: 7 });
    expect((await send('GET', path, { 'if-none-match': etag })).status).toBe(200);
  });

  test('a sale changes the ETag of the product, but does not prevent an update', async () => {
    const { id } = await shop.createProduct({ stock: 5 });
    const etag = await etagAt(`/products/${id}`);
    await send('POST', '/orders', {}, { items: [{ product_id: id, quantity: 1 }], delivery: pickupDelivery }, anna.token);
    const fresh = await send('GET', `/products/${id}`, { 'if-none-match': etag });
    expect([fresh.status, fresh.body.stock]).toEqual([200, 4]);
    expect((await send('PATCH', `/products/${id}`, { 'if-match': etag }, { price: 9 })).status).toBe(200);
  });

  test('is supported for a user and for an order', async () => {
    const product = await shop.createProduct();
    const { body } = await send('POST', '/orders', {}, buildOrderInput([product, 1]), anna.token);
    for (const path of ['/users/me', `/users/${anna.id}`, `/orders/${body.id}`]) {
      const response = await send('GET', path, { 'if-none-match': await etagAt(path, anna.token) }, undefined, anna.token);
      expect([path, response.status]).toEqual([path, 304]);
    }
  });
});

describe('If-Match', () => {
  test('one of two concurrent writers succeeds, and the other receives the current ETag', async () => {
    const { id } = await shop.createProduct();
    const path = `/products/${id}`;
    const etag = await etagAt(path);
    const responses = await Promise.all([1, 2].map((price) => send('PATCH', path, { 'if-match': etag }, { price })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 412]));
    const refused = responses.find(({ status }) => status === 412);
    expect([refused?.body.code, refused?.headers.get('etag')]).toEqual(['precondition_failed', (await etagAt(path)).replace(/~.*"$/, '"')]);
    expect((await send('PATCH', path, { 'if-match': `W/${await etagAt(path)}` }, { price: 3 })).status).toBe(412);
    expect((await send('PATCH', path, { 'if-match': `"x", ${await etagAt(path)}` }, { price: 3 })).status).toBe(200);
    expect((await send('PATCH', path, { 'if-match': '*' }, { price: 4 })).status).toBe(200);
  });

  test('PUT returns 428 without it, and 404 for an unknown product', async () => {
    const { id, name, category, price } = await shop.createProduct({ description: 'Long', metadata: { a: '1' } });
    const body = { name: `${name}!`, category, price, status: 'active' };
    expect((await send('PUT', `/products/${id}`, {}, body)).body.code).toBe('precondition_required');
    const replaced = await send('PUT', `/products/${id}`, { 'if-match': await etagAt(`/products/${id}`) }, body);
    expect([replaced.status, replaced.body]).toMatchObject([200, { ...body, description: '', metadata: {}, version: 2 }]);
    expect((await send('PUT', '/products/999999', {}, body)).body.code).toBe('not_found');
  });
});

describe('DELETE /products/{product_id}', () => {
  test('204 for a draft without orders, 409 for an active product, 404, and 412', async () => {
    const draft = await shop.createProduct({ status: 'draft' });
    const etag = await etagAt(`/products/${draft.id}`);
    expect((await send('DELETE', `/products/${draft.id}`, { 'if-match': '"product-0"' })).body.code).toBe('precondition_failed');
    expect((await send('DELETE', `/products/${draft.id}`, { 'if-match': etag })).status).toBe(204);
    expect((await send('DELETE', `/products/${draft.id}`)).body.code).toBe('not_found');
    expect((await send('DELETE', `/products/${(await shop.createProduct()).id}`)).body.code).toBe('product_in_use');
  });
});

describe('PUT and DELETE /delivery-methods/{code}', () => {
  const method = { name: 'Bicycle', price: 250, currency: 'EUR' };

  test('201 for a new method, 200 with its ETag, 428 without an ETag, and 412 for another version', async () => {
    const created = await send('PUT', '/delivery-methods/bicycle', { 'if-none-match': '*' }, method);
    expect([created.status, created.body]).toEqual([201, { code: 'bicycle', ...method, requires_address: true, version: 1 }]);
    expect((await send('PUT', '/delivery-methods/bicycle', { 'if-none-match': '*' }, method)).body.code).toBe('precondition_failed');
    expect((await send('PUT', '/delivery-methods/bicycle', {}, method)).body.code).toBe('precondition_required');
    const etag = created.headers.get('etag') ?? '';
    const replaced = await send('PUT', '/delivery-methods/bicycle', { 'if-match': etag }, { ...method, price: 300 });
    expect([replaced.status, replaced.body.price, replaced.body.version]).toEqual([200, 300, 2]);
    expect((await send('PUT', '/delivery-methods/bicycle', { 'if-match': etag }, method)).body.code).toBe('precondition_failed');
    expect((await send('PUT', '/delivery-methods/boat', { 'if-match': etag }, method)).body.code).toBe('precondition_failed');
  });

  test('204: the method is no longer listed, and can be created again', async () => {
    await send('PUT', '/delivery-methods/mule', {}, method);
    expect((await send('DELETE', '/delivery-methods/mule')).status).toBe(204);
    expect((await send('DELETE', '/delivery-methods/mule')).body.code).toBe('not_found');
    const { body } = await shop.callApi('GET', '/api/v1/delivery-methods');
    expect(body.data.map(({ code }: { code: string }) => code)).not.toContain('mule');
    const again = await send('PUT', '/delivery-methods/mule', {}, method);
    expect([again.status, again.body.version]).toEqual([201, 3]);
  });

  test('400 for an invalid code, and 403 without the scope', async () => {
    expect((await send('PUT', '/delivery-methods/Mule', {}, method)).body.errors[0]).toMatchObject({ in: 'path', parameter: 'code' });
    expect((await send('PUT', '/delivery-methods/mule', {}, method, anna.token)).body.code).toBe('insufficient_scope');
  });
});
