import { expect, test } from 'vitest';
import { buildProductInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';

const shop = withShop();

test.each([
  ['the boolean true', true, 'true'],
  ['the boolean false', false, 'false'],
  ['a number', 42, '42'],
  ['text', 'Heart', 'Heart'],
])('%s in an NDJSON cell is converted to text', async (_label, value, text) => {
  const product: Record<string, unknown> = { ...buildProductInput(), name: value };
  const started = await shop.callApi('POST', '/api/v1/product-imports', {
    token: shop.token,
    body: JSON.stringify(product),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const { task, file } = await completeTask(shop, shop.token, started);
  expect(task.result.imported, file).toMatchObject({ created: 1 });
  const { body } = await shop.callApi('GET', `/api/v1/products?sku=${String(product['sku'])}`, { token: shop.token });
  expect(body.data[0].name).toBe(text);
});
