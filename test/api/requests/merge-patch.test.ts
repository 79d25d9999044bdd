/**
 * Tests that every PATCH operation whose body has a `metadata` field merges the metadata (RFC 7396). A test fails if the table below has no
 * row for such an operation.
 */
import { contract, contractV2, getRouteMetadata, listRoutes } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operationName } from '../../support/contract/declared-responses.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });

async function createOrder(): Promise<JsonBody> {
  const items = [{ product_id: (await shop.createProduct()).id, quantity: 1 }];
  const body = { user_id: (await shop.createUser()).id, items, delivery: pickupDelivery };
  return (await shop.callApi('POST', '/api/v1/orders', { token: shop.token, body })).body;
}
/** For each operation, a function that creates a resource and returns its path. */
const resources: Record<string, () => Promise<string>> = {
  'products.update': async () => `/api/v1/products/${(await shop.createProduct()).id}`,
  'orders.update': async () => `/api/v1/orders/${(await createOrder()).id}`,
  'v2 orders.update': async () => `/api/v2/orders/${(await createOrder()).id}`,
};

const mergesMetadata = ({ method, ...route }: ReturnType<typeof listRoutes>[number]): boolean =>
  method === 'PATCH' && 'body' in route && route.body instanceof z.ZodObject && 'metadata' in route.body.shape;

test('every operation that patches metadata has a row', () => {
  const operations = [...listRoutes(contract), ...listRoutes(contractV2.orders)].filter(mergesMetadata);
  expect(Object.keys(resources).toSorted()).toEqual(operations.map(operationName).toSorted());
  expect(operations.map((route) => getRouteMetadata(route).operationId)).toContain('orders.update');
});

const pairs = (count: number, prefix = 'key'): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'x']));

describe.each(Object.entries(resources))('%s', (_operation, create) => {
  let path: string;
  const patch = (metadata: unknown, type = 'application/merge-patch+json'): Promise<ApiResponse> =>
    shop.callApi('PATCH', path, { token: shop.token, body: { metadata }, headers: { 'content-type': type } });

  test.each(['application/merge-patch+json', 'application/json'])('%s: keeps absent keys, and removes a key with null', async (type) => {
    path = await create();
    await patch({ crm: '1', wms: '2' }, type);
    expect((await patch({ invoice: '3' }, type)).body.metadata).toEqual({ crm: '1', wms: '2', invoice: '3' });
    expect((await patch({ crm: null, wms: '4', unknown: null }, type)).body.metadata).toEqual({ wms: '4', invoice: '3' });
    const unchanged = await patch({}, type);
    expect(unchanged.body.metadata).toEqual({ wms: '4', invoice: '3' });
    expect((await patch({ wms: '4' }, type)).headers.get('etag')).toBe(unchanged.headers.get('etag'));
  });

  test('the limit of 20 pairs applies to the merged metadata', async () => {
    path = await create();
    expect((await patch(pairs(20))).status).toBe(200);
    const refused = await patch({ one_more: 'x' });
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [expect.objectContaining({ pointer: '#/metadata', code: 'out_of_range' })],
    ]);
    const removed = Object.fromEntries(Object.keys(pairs(20)).map((key) => [key, null]));
    expect((await patch({ ...removed, ...pairs(20, 'other') })).body.metadata).toEqual(pairs(20, 'other'));
  });

  test('a key or a value beyond the limits is rejected with its position', async () => {
    path = await create();
    expect((await patch({ ok: 'x'.repeat(501) })).body.errors[0].pointer).toBe('#/metadata/ok');
    expect((await patch({ ok: 1 })).body.errors[0].pointer).toBe('#/metadata/ok');
    expect((await patch(null)).body.errors[0]).toMatchObject({ pointer: '#/metadata', code: 'not_nullable' });
  });
});
