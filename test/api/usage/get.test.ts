import { describe, expect, test } from 'vitest';
import { withShop } from '../../support/shop/with-shop.ts';
import { obtainClientToken, createConfidentialClient } from '../../support/oauth/oauth-flow.ts';
import { usesTwoProcesses } from '../../support/server/process-mode.ts';

const shop = withShop({ sampleData: false, rateLimits: { default: 10, apiKey: 10, ip: 10, monthly: 100 } });

describe('200', () => {
  test('returns the remaining limits and the usage of the last twelve months', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: processes combine the monthly quota only after five seconds');
    const client = await createConfidentialClient(shop.db, ['products.write']);
    const token = await obtainClientToken(shop.origin, client, ['products.write']);
    const months = Array.from({ length: 14 }, (_, at) => `20${10 + at}-05`);
    for (const month of months)
      await shop.db.em.fork().execute('insert into usage_months values (?, ?, ?)', [client.clientId, month, Number(month.slice(2, 4))]);
    await shop.callApi('GET', '/api/v1/products', { token });
    const { status, body } = await shop.callApi('GET', '/api/v1/usage', { token });
    expect([status, body.client_id]).toEqual([200, client.clientId]);
    expect(body.limits).toMatchObject([
      { policy: 'default', limit: 10, window_seconds: 60, remaining: 8 },
      { policy: 'monthly', limit: 100, remaining: 98 },
    ]);
    const thisMonth = new Date().toISOString().slice(0, 7);
    const [year, month] = thisMonth.split('-').map(Number);
    expect(body.limits[1].resets_at).toBe(new Date(Date.UTC(year ?? 0, month ?? 0)).toISOString());
    expect(body.months).toHaveLength(12);
    expect(body.months.slice(0, 2)).toEqual([
      { month: thisMonth, requests: 2 },
      { month: '2023-05', requests: 23 },
    ]);
  });
});

describe('401', () => {
  test('without a token', async () => {
    expect((await shop.callApi('GET', '/api/v1/usage')).body.code).toBe('missing_token');
  });
});

describe('400', () => {
  test('for an unknown parameter', async () => {
    const client = await createConfidentialClient(shop.db, ['orders.read']);
    const token = await obtainClientToken(shop.origin, client, ['orders.read']);
    const { body } = await shop.callApi('GET', '/api/v1/usage?month=2026-01', { token });
    expect(body.errors[0].code).toBe('unknown_parameter');
  });
});
