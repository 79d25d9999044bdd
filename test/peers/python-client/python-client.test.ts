import { beforeAll, describe, expect, test } from 'vitest';
import { createConfidentialClient, createWebApplication, signUp } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { startEventJobs } from '../../support/webhooks/event-jobs.ts';
import { hasPythonModule, pythonClientEnvironment } from '../../support/python.ts';
import { exercisePythonClient, expectedPythonResults, pythonClientStyles } from './exercise-python-client.ts';
import { startFailingProxy } from './failing-proxy.ts';

const shop = withShop();
beforeAll(() => startEventJobs(shop.db));

describe.each(pythonClientStyles)('the Python client (%s)', (style) => {
  test('signs in, lists products, places and pays orders, iterates over events, and retries', async ({ skip }) => {
    skip(!hasPythonModule('httpx'), 'requires the Debian package python3-httpx');
    const anna = await signUp(shop.origin);
    const failures = { 'GET /api/v1/products': [429], 'POST /api/v1/orders': [503, 429] };
    await using proxy = await startFailingProxy(shop.origin, failures);
    const exercisedShop = {
      issuer: shop.origin,
      url: proxy.url,
      application: await createConfidentialClient(shop.db, [
        'orders.read',
        'orders.manage',
        'payments.manage',
        'events.read',
        'payments.read',
      ]),
      webApplication: await createWebApplication(shop.db, ['users.read']),
      user: anna,
      createProduct: (overrides: Record<string, unknown>) => shop.createProduct(overrides),
    };
    const results = await exercisePythonClient(exercisedShop, style, pythonClientEnvironment);
    expect(results).toEqual(expectedPythonResults(anna));
    const attempts = proxy.seen.filter(([request]) => request === 'POST /api/v1/orders').map(([, key]) => key);
    expect(attempts.map((key) => attempts.indexOf(key))).toEqual([0, 0, 0, 3, 4]);
    expect(attempts).not.toContain(undefined);
    const { body: orders } = await shop.callApi('GET', `/api/v1/orders?user_id=${anna.id}`, { token: shop.token });
    expect(orders.data).toMatchObject([{ id: results.order, status: 'paid', metadata: { from: 'Python' } }]);
    expect(proxy.seen.filter(([request]) => request === 'GET /api/v1/products')).toHaveLength(1 + 3 + 3);
  }, 60_000);
});
