import { createClient as createClientV1 } from '@mandate/client-sdk';
import { createClient, type OrderCreate } from '@mandate/client-sdk/v2';
import { contractV2, getRouteMetadata, listRoutes } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { deliveryAddress } from '../support/shop/test-shop.ts';
import { withShop } from '../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });
const anna = shop.customer(['orders.read', 'orders.write']);

describe('the client of version 2', () => {
  test('places, reads, updates, lists and cancels orders in the version 2 format, next to a client of version 1', async () => {
    const seen: string[] = [];
    const two = createClient({ baseUrl: shop.origin, auth: anna.token }).use((request, next) => {
      seen.push(new URL(request.url).pathname);
      return next(request);
    });
    const one = createClientV1({ baseUrl: shop.origin, auth: anna.token });
    const input = {
      items: [{ product_id: (await shop.createProduct()).id, quantity: 1 }],
      shipping_method: 'standard',
      shipping_address: { recipient_name: 'Anna Test', ...deliveryAddress },
    } satisfies OrderCreate;
    const { id } = await two.orders.create(input);
    expect((await one.orders.get(id)).delivery).toEqual({ method: 'standard', ...input.shipping_address });
    const moved = await two.orders.update(id, { shipping_address: { ...input.shipping_address, city: 'York' } });
    expect([moved.shipping_method, moved.shipping_address.city]).toEqual(['standard', 'York']);
    expect((await two.orders.list({ limit: 1 })).data[0]?.shipping_address.city).toBe('York');
    expect((await two.orders.cancel(id, {})).status).toBe('canceled');
    expect((await two.products.list({ limit: 1 })).data).toHaveLength(1);
    expect(new Set(seen.map((path) => path.split('/')[2]))).toEqual(new Set(['v2']));
  });

  test('has every operation of version 2, and generated code only for changed resources', () => {
    const { request: _, use: __, ...resources } = createClient({ baseUrl: 'https://shop.example' });
    const methods = Object.entries(resources).flatMap(([resource, members]) => Object.keys(members).map((name) => `${resource}.${name}`));
    const operations = listRoutes(contractV2)
      .map(getRouteMetadata)
      .filter(({ internal }) => !internal);
    expect(methods).toEqual(expect.arrayContaining(operations.map(({ operationId }) => operationId)));
  });

  test('its types reject the fields of version 1', () => {
    // @ts-expect-error -- only version 1 has the field `delivery`
    const input: OrderCreate = { items: [{ product_id: 1, quantity: 1 }], delivery: { method: 'standard', recipient_name: 'Anna' } };
    expect(input).toBeDefined();
  });
});
