import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  basicAuthorization,
  createConfidentialClient,
  createWebApplication,
  obtainAuthorizationCode,
  sendTokenRequest,
  signUp,
  tokenResponseSchema,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { listenOnLoopback } from '../../support/network/loopback-server.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { startEventJobs } from '../../support/webhooks/event-jobs.ts';
import { hasPythonModule, pythonClientEnvironment, python } from '../../support/python.ts';
import { startFailingProxy } from './failing-proxy.ts';

const shop = withShop();
beforeAll(() => startEventJobs(shop.db));

/** Signs a user in to a new web application, and returns the application and the refresh token. */
async function obtainRefreshToken(user: TestUser) {
  const app = await createWebApplication(shop.db, ['users.read']);
  const request = { client_id: app.clientId, redirect_uri: app.redirectUri, scope: 'openid offline_access users.read', prompt: 'consent' };
  const { code, verifier } = await obtainAuthorizationCode(shop.origin, user, request);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: app.redirectUri };
  const response = await sendTokenRequest(shop.origin, form, basicAuthorization(app.clientId, app.secret));
  const { refresh_token: refreshToken } = tokenResponseSchema.parse(await response.json());
  return { webClientId: app.clientId, webClientSecret: app.secret, refreshToken };
}

describe.each(['sync', 'async'])('the Python client (%s)', (style) => {
  test('signs in, lists products, places and pays orders, iterates over events, and retries', async ({ skip }) => {
    skip(!hasPythonModule('httpx'), 'requires the Debian package python3-httpx');
    const anna = await signUp(shop.origin);
    const category = `mugs-${style}`;
    for (let n = 1; n <= 5; n += 1) await shop.createProduct({ name: `Mug ${n}`, category, stock: 50 });
    const product = await shop.createProduct({ price: 250, stock: 50 });
    const failures = { 'GET /api/v1/products': [429], 'POST /api/v1/orders': [503, 429] };
    await using proxy = await startFailingProxy(shop.origin, failures);
    const silentServer = createServer();
    const { clientId, secret: clientSecret } = await createConfidentialClient(shop.db, [
      'orders.read',
      'orders.manage',
      'payments.manage',
      'events.read',
      'payments.read',
    ]);
    const given = {
      issuer: shop.origin,
      url: proxy.url,
      silentUrl: `http://127.0.0.1:${await listenOnLoopback(silentServer)}`,
      clientId,
      clientSecret,
      category,
      productId: product.id,
      userId: anna.id,
      ...(await obtainRefreshToken(anna)),
    };
    const program = join(import.meta.dirname, 'exercise_client.py');
    const { stdout } = await promisify(execFile)(python, [program, JSON.stringify(given), style], { env: pythonClientEnvironment });
    silentServer.close();
    const { order: orderId, ...results } = JSON.parse(stdout);
    expect(results).toEqual({
      names: ['Mug 1', 'Mug 2', 'Mug 3', 'Mug 4', 'Mug 5'],
      pages: 3,
      total: 500,
      note: 'by the gate',
      paid: 'succeeded',
      refused: { code: 'out_of_stock', status: 409, detail: expect.any(String), available: [48], request_id: true },
      preview: 250,
      events: ['order.created', 'order.updated', ['order.paid', 500]],
      errors: ['invalid_client', 'timeout', 'invalid_grant'],
      users: [anna.id],
      refreshes: 1,
    });
    const attempts = proxy.seen.filter(([request]) => request === 'POST /api/v1/orders').map(([, key]) => key);
    expect(attempts.map((key) => attempts.indexOf(key))).toEqual([0, 0, 0, 3, 4]);
    expect(attempts).not.toContain(undefined);
    const { body: orders } = await shop.callApi('GET', `/api/v1/orders?user_id=${anna.id}`, { token: shop.token });
    expect(orders.data).toMatchObject([{ id: orderId, status: 'paid', metadata: { from: 'Python' } }]);
    expect(proxy.seen.filter(([request]) => request === 'GET /api/v1/products')).toHaveLength(1 + 3 + 3);
  }, 60_000);
});
