import { expect, test } from 'vitest';
import { MonthlyUsageBuffer } from '../../../server/usage/monthly-usage-buffer.ts';
import { obtainClientToken, createConfidentialClient } from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { withShop } from '../../support/shop/with-shop.ts';

requireOneProcess('the test reads the request counts of the process');
const monthlyUse = new MonthlyUsageBuffer();
const shop = withShop({ monthlyUse, rateLimits: { default: 4, apiKey: 4, ip: 1_000, monthly: 1_000 } });

test('error responses count as errors of the application, including rejected requests', async () => {
  const client = await createConfidentialClient(shop.db, ['orders.manage']);
  const token = await obtainClientToken(shop.origin, client, ['orders.manage']);
  const statuses: number[] = [];
  for (const path of ['orders', 'orders/999999999', 'orders?limit=0', 'products', 'orders'])
    statuses.push((await shop.callApi('GET', `/api/v1/${path}`, { token })).status);
  expect(statuses).toEqual([200, 404, 400, 200, 429]);
  const readCounts = async (): Promise<unknown> => {
    await monthlyUse.flush(shop.db.em.fork());
    const sql = 'select requests::int as requests, errors::int as errors from usage_months where client_id = ?';
    return shop.db.em.fork().execute(sql, [client.clientId]);
  };
  // An error response is counted only after it has been sent completely, so the counts may lag behind.
  await expect.poll(readCounts).toEqual([{ requests: 4, errors: 3 }]);
  const { body } = await shop.callApi('GET', '/api/v1/statistics/applications', { token: shop.token });
  expect(body.applications[0]).toMatchObject({ client_id: client.clientId, requests: 4, errors: 3 });
});
