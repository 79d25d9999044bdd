import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build } from 'vite';
import { DeliveryMethod } from '../../server/delivery-methods/delivery-method.entity.ts';
import { createApplication } from '../../server/applications/create-application.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { startMandateServer, type MandateServer } from '../support/server/start-mandate.ts';
import { signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import { createTestShop, type TestShop } from '../support/shop/test-shop.ts';

const root = join(import.meta.dirname, '../../examples/storefront');
const mediaTypes: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

describe.skipIf(!hasChromium)('the storefront', { timeout: 120_000 }, () => {
  let mandate: MandateServer;
  let shop: TestShop;
  let anna: TestUser;
  let chromium: Browser;
  let buildDirectory: string;
  let pageErrors: string[];
  const website = createServer((req, res) => {
    const path = req.url?.startsWith('/assets/') ? req.url : '/index.html';
    readFile(join(buildDirectory, path)).then(
      (content) => res.writeHead(200, { 'content-type': mediaTypes[extname(path)] ?? 'text/plain' }).end(content),
      () => res.writeHead(404).end(),
    );
  });
  let origin: string;

  beforeAll(async () => {
    mandate = await startMandateServer();
    shop = await createTestShop(mandate);
    await shop.createProduct({ name: 'White hanging heart', price: 255 });
    await mandate.db.em
      .fork()
      .insert(DeliveryMethod, { code: 'collection', name: 'Collection', price: 0, currency: 'EUR', requiresAddress: false, active: true });
    anna = await signUp(mandate.origin, { name: 'Anna Storefront' });
    chromium = await launchChromium();
    website.listen(0, '127.0.0.1');
    await once(website, 'listening');
    const address = website.address();
    origin = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
    await createApplication(mandate.db.em.fork(), {
      clientId: 'storefront',
      name: 'Storefront',
      type: 'public',
      grantTypes: ['authorization_code', 'refresh_token'],
      scopes: ['users.read', 'orders.read', 'orders.write', 'payments.read', 'payments.write'],
      redirectUris: [`${origin}/`],
    });
    buildDirectory = await mkdtemp(join(tmpdir(), 'mandate-storefront-'));
    const define = { 'import.meta.env.VITE_API_URL': JSON.stringify(mandate.origin) };
    await build({ root, define, logLevel: 'error', build: { outDir: buildDirectory, emptyOutDir: true } });
  }, 120_000);
  afterAll(async () => {
    await chromium?.close();
    website.closeAllConnections();
    website.close();
    await mandate?.close();
    await rm(buildDirectory, { recursive: true, force: true });
  });

  const firstOrderStatus = (page: Page): Promise<string> => page.locator('.orders .status').first().innerText();
  const takeScreenshot = async (page: Page, name: string): Promise<void> => {
    const directory = process.env['MANDATE_SCREENSHOTS'];
    if (directory !== undefined) await page.screenshot({ path: join(directory, `storefront-${name}.png`), fullPage: true });
  };

  test('signs in, orders, pays and signs out in two tabs, even after its access token has expired', async () => {
    const context = await chromium.newContext({ viewport: { width: 1000, height: 700 } });
    pageErrors = [];
    const refreshRequests: string[] = [];
    context.on('request', (request) => {
      if (request.postData()?.includes('grant_type=refresh_token')) refreshRequests.push(request.url());
    });
    const open = async (): Promise<Page> => {
      const page = await context.newPage();
      page.on('pageerror', (error) => pageErrors.push(String(error)));
      await page.goto(origin);
      await page.getByRole('heading', { name: 'Products' }).waitFor();
      return page;
    };
    const [first, second] = [await open(), await open()];
    await first.getByRole('article', { name: 'White hanging heart' }).waitFor();
    expect(await first.getByRole('button', { name: 'Order' }).count()).toBe(0);
    await takeScreenshot(first, '1-visitor');

    await first.getByRole('button', { name: 'Sign in', exact: true }).click();
    await first.getByLabel('E-mail address').fill(anna.email);
    await first.getByLabel('Password', { exact: true }).fill(anna.password);
    await first.getByRole('button', { name: 'Sign in', exact: true }).click();
    await first.getByRole('button', { name: 'Allow' }).click();
    await first.getByText('Anna Storefront').waitFor();
    await second.getByText('Anna Storefront').waitFor(); // the sign-in in the first tab also signs in the second tab
    expect(first.url()).toBe(`${origin}/`);

    await first.getByLabel('Quantity').fill('3');
    await first.getByRole('button', { name: 'Order' }).click();
    await expect.poll(() => firstOrderStatus(second), { timeout: 10_000 }).toBe('pending');
    await takeScreenshot(first, '2-ordered');

    // expires the access token on the server earlier than the tabs expect
    await mandate.db.em
      .fork()
      .execute(
        `update oauth_records set expires_at = now() - interval '1 minute' where model = 'AccessToken' and client_id = 'storefront'`,
      );
    await second.getByRole('button', { name: 'Pay' }).click();
    await expect.poll(() => firstOrderStatus(second), { timeout: 10_000 }).toBe('paid');
    await expect.poll(() => firstOrderStatus(first), { timeout: 10_000 }).toBe('paid');
    expect(refreshRequests).toHaveLength(1);
    await takeScreenshot(second, '3-paid');

    const { data } = (await mandate.callApi('GET', '/api/v1/orders', { token: shop.token })).body;
    expect(data).toHaveLength(1);
    const shipment = { method: 'POST', path: `/api/v1/orders/${data[0].id}/shipments` };
    const shipped = await mandate.callApi(shipment.method, shipment.path, { token: shop.token, body: { status: 'shipped' } });
    expect([shipped.status, shipped.text]).toEqual([201, expect.any(String)]);
    await expect.poll(() => firstOrderStatus(first), { timeout: 10_000 }).toBe('shipped');
    await takeScreenshot(first, '4-shipped');

    await first.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second]) {
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
      expect(await page.getByRole('heading', { name: 'Your orders' }).count()).toBe(0);
    }
    await takeScreenshot(second, '5-signed-out');
    expect(pageErrors).toEqual([]);
    await context.close();
  });
});
