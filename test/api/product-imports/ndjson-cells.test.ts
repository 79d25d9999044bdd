import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMandateServer, type MandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop, buildProductInput, type TestShop } from '../../support/server/test-shop.ts';
import { completeTask } from '../../support/run-tasks.ts';

let mandate: MandateServer;
let shop: TestShop;
beforeAll(async () => {
  mandate = await startMandateServer();
  shop = await createTestShop(mandate);
});
afterAll(() => mandate.close());

test.each([
  ['the boolean true', true, 'true'],
  ['the boolean false', false, 'false'],
  ['a number', 42, '42'],
  ['text', 'Heart', 'Heart'],
])('%s in an NDJSON cell is converted to text', async (_label, value, text) => {
  const product: Record<string, unknown> = { ...buildProductInput(), name: value };
  const started = await mandate.callApi('POST', '/api/v1/product-imports', {
    token: shop.token,
    body: JSON.stringify(product),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const { task, file } = await completeTask(mandate, shop.token, started);
  expect(task.result.imported, file).toMatchObject({ created: 1 });
  const { body } = await mandate.callApi('GET', `/api/v1/products?sku=${String(product['sku'])}`, { token: shop.token });
  expect(body.data[0].name).toBe(text);
});
