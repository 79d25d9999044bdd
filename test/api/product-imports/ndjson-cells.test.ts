import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMandate, type Mandate } from '../../support/server/start-mandate.ts';
import { openShop, someProduct, type Shop } from '../../support/server/shop.ts';
import { carriedOut } from '../../support/tasks.ts';

let mandate: Mandate;
let shop: Shop;
beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
});
afterAll(() => mandate.close());

test.each([
  ['the boolean true', true, 'true'],
  ['the boolean false', false, 'false'],
  ['a number', 42, '42'],
  ['text', 'Heart', 'Heart'],
])('%s in an NDJSON cell is converted to text', async (_label, value, text) => {
  const product: Record<string, unknown> = { ...someProduct(), name: value };
  const started = await mandate.call('POST', '/api/v1/product-imports', {
    token: shop.token,
    body: JSON.stringify(product),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const { task, file } = await carriedOut(mandate, shop.token, started);
  expect(task.result.imported, file).toMatchObject({ created: 1 });
  const { body } = await mandate.call('GET', `/api/v1/products?sku=${String(product['sku'])}`, { token: shop.token });
  expect(body.data[0].name).toBe(text);
});
