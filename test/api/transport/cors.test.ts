import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { databaseKind } from '../../support/services/database.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { obtainClientToken, createConfidentialClient } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

type RequestOptions = { method?: string; headers?: Record<string, string>; body?: string; credentials?: 'include' };
type PageResponse = { status: number; headers: Record<string, string>; body: JsonBody } | { failed: string };

// Only a browser enforces CORS. The tests run only on PostgreSQL, because the database does not affect CORS.
describe.skipIf(!hasChromium || databaseKind === 'pglite')('a page of another origin', () => {
  const shop = withShop({ rateLimits: { default: 40, apiKey: 10, ip: 10_000, monthly: 1_000 } });
  let browser: Browser;
  let page: Page;
  let pageServer: Server;

  beforeAll(async () => {
    browser = await launchChromium();
    pageServer = createServer((_req, res) => res.setHeader('Content-Type', 'text/html').end('<title>A shop front</title>'));
    pageServer.listen(0, '127.0.0.1');
    await once(pageServer, 'listening');
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${z.object({ port: z.number() }).parse(pageServer.address()).port}/`);
  });
  afterAll(async () => {
    await browser.close();
    pageServer.close();
  });

  /** Sends a request from the page, and returns the parts of the response that scripts can read. */
  const call = (path: string, init: RequestOptions = {}): Promise<PageResponse> =>
    page.evaluate(
      async ([url, options]) => {
        try {
          const response = await fetch(url, options);
          const text = await response.text();
          return {
            status: response.status,
            headers: Object.fromEntries(response.headers.entries()),
            body: text === '' ? undefined : JSON.parse(text),
          };
        } catch (error) {
          return { failed: String(error) };
        }
      },
      [shop.origin + path, init] as const,
    );
  const withToken = (token: string, extraHeaders: Record<string, string> = {}) => ({ authorization: `Bearer ${token}`, ...extraHeaders });

  test('can read public resources', async () => {
    expect(await call('/api/v1/products')).toMatchObject({
      status: 200,
      headers: { ratelimit: expect.any(String), 'x-request-id': expect.any(String) },
    });
  });

  test('can place an order with an idempotency key, and read its location', async () => {
    const product = await shop.createProduct();
    const order = { ...buildOrderInput([product, 1]), user_id: (await shop.createUser()).id };
    const init = {
      method: 'POST',
      headers: withToken(shop.token, { 'content-type': 'application/json', 'idempotency-key': 'from-a-page' }),
      body: JSON.stringify(order),
    };
    expect(await call('/api/v1/orders', init)).toMatchObject({ status: 201, headers: { location: expect.stringContaining('/orders/') } });
    expect(await call('/api/v1/orders', init)).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } });
  });

  test.each(['PATCH', 'PUT', 'DELETE'])('can send %s with If-Match, and read the current ETag', async (method) => {
    const { id, name, category, price } = await shop.createProduct();
    const headers = withToken(shop.token, { 'content-type': 'application/json', 'if-match': '"another"' });
    const body = method === 'PUT' ? { name, category, price, status: 'active' } : { name };
    const init = method === 'DELETE' ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    expect(await call(`/api/v1/products/${id}`, init)).toMatchObject({ status: 412, headers: { etag: expect.any(String) } });
  });

  test('can read errors and the authentication challenge', async () => {
    expect(await call('/api/v1/orders')).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringContaining('Bearer') },
      body: { code: 'missing_token' },
    });
    expect(await call('/api/v1/nothing', { headers: withToken('x') })).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
    expect(await call('/api/v1/products', { method: 'DELETE' })).toMatchObject({ status: 405 });
    expect(await call(`/api/v1/products?category=${'x'.repeat(9_000)}`)).toMatchObject({ status: 414 });
  });

  test('can read Retry-After when the rate limit is exceeded', async () => {
    const client = await createConfidentialClient(shop.db, ['tasks.read']);
    const token = await obtainClientToken(shop.origin, client, ['tasks.read']);
    let lastResponse = await call('/api/v1/usage', { headers: withToken(token) });
    while ('status' in lastResponse && lastResponse.status === 200)
      lastResponse = await call('/api/v1/usage', { headers: withToken(token) });
    expect(lastResponse).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) }, body: { code: 'rate_limited' } });
  });

  test('cannot send cookies or unknown headers', async () => {
    expect(await call('/api/v1/products', { credentials: 'include' })).toEqual({ failed: expect.stringContaining('Failed to fetch') });
    expect(await call('/api/v1/products', { headers: { 'x-own': '1' } })).toEqual({ failed: expect.stringContaining('Failed to fetch') });
  });

  test('cannot read the sign-in page', async () => {
    expect(await call('/sign-in')).toEqual({ failed: expect.stringContaining('Failed to fetch') });
  });
});
