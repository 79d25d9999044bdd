import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBff } from '../../examples/bff/src/start-bff.ts';
import { DeliveryMethod } from '../../server/delivery-methods/delivery-method.entity.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { expectAccessiblePage } from '../support/browser/expect-accessible-page.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { createWebApplication, signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';

describe.skipIf(!hasChromium)('the shop with server rendering', { timeout: 120_000 }, () => {
  const shop = withShop();
  let chromium: Browser;
  let context: BrowserContext;
  let anna: TestUser;
  let clientId: string;
  let origin: string;
  let stopBff: () => Promise<void>;

  beforeAll(async () => {
    await shop.createProduct({ name: 'White hanging heart', price: 255 });
    await shop.createProduct({ name: '<b>Escaped</b> & sons', price: 100, stock: 0 });
    const collection = { code: 'collection', name: 'Collection', price: 0, currency: 'EUR', requiresAddress: false, active: true };
    await shop.db.em.fork().insert(DeliveryMethod, collection);
    anna = await signUp(shop.origin, { name: 'Anna Server' });
    const port = await findFreePort();
    // The application and the service (`localhost`) are different sites. Otherwise, browsers would send the service's cookies to both.
    origin = `http://127.0.0.1:${port}`;
    const application = await createWebApplication(shop.db, ['users.read', 'orders.read', 'orders.write'], `${origin}/auth/callback`);
    clientId = application.clientId;
    stopBff = await startBff(port, {
      serviceUrl: shop.origin,
      appUrl: origin,
      clientId,
      clientSecret: application.secret,
      cookieSecrets: ['a secret of at least thirty-two characters'],
    });
    chromium = await launchChromium();
    context = await chromium.newContext({ javaScriptEnabled: false });
  }, 120_000);
  afterAll(async () => {
    await chromium?.close();
    await stopBff?.();
  });

  const openPage = async (path = '/'): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(origin + path);
    return page;
  };
  const signInAs = async (page: Page, { email, password }: TestUser): Promise<void> => {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
  };
  const countTokens = async (model: 'AccessToken' | 'RefreshToken'): Promise<number> => {
    const rows = await shop.db.em
      .fork()
      .execute<{ count: string }[]>('select count(*) as count from oauth_records where model = ? and client_id = ?', [model, clientId]);
    return Number(rows[0]?.count);
  };

  test('signs in, requests another permission, orders and signs out, with the tokens only in an encrypted cookie', async () => {
    const page = await openPage();
    await page.getByRole('article', { name: 'White hanging heart' }).waitFor();
    expect(await page.getByRole('article', { name: '<b>Escaped</b> & sons' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: /order/i }).count()).toBe(0);

    await page.getByRole('link', { name: 'Sign in' }).click();
    await signInAs(page, anna);
    await page.getByText('Anna Server').waitFor();
    const cookies = await context.cookies(origin);
    expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
      { name: 'mandate-session', httpOnly: true, sameSite: 'Lax' },
    ]);
    expect(await page.content()).not.toMatch(/eyJ|access_token/);

    const product = page.getByRole('article', { name: 'White hanging heart' });
    await product.getByRole('button', { name: 'Allow orders' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await product.getByLabel('Quantity').fill('2');
    await product.getByRole('button', { name: 'Order', exact: true }).click();
    await page.getByRole('heading', { name: /^Order \d+$/ }).waitFor();
    expect(await page.locator('.status').innerText()).toBe('pending');
    expect(await page.getByRole('row', { name: 'Total €5.10' }).count()).toBe(1);

    // After the access token has expired on the server, all tabs share one refresh.
    const before = await countTokens('RefreshToken');
    const [cookieBefore] = await context.cookies(origin);
    await shop.db.em
      .fork()
      .execute(`update oauth_records set expires_at = now() - interval '1 minute' where model = 'AccessToken' and client_id = ?`, [
        clientId,
      ]);
    const tabs = await Promise.all([openPage('/orders'), openPage('/orders'), openPage('/orders')]);
    for (const tab of tabs) expect(await tab.getByRole('link', { name: /^Order \d+$/ }).count()).toBe(1);
    expect(await countTokens('RefreshToken')).toBe(before + 1);
    const [cookieAfter] = await context.cookies(origin);
    expect(cookieAfter?.value).not.toBe(cookieBefore?.value);

    await tabs[0]?.getByRole('button', { name: 'Sign out' }).click();
    await tabs[0]?.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await context.cookies(origin)).toEqual([]);
    // The tokens are revoked, so a copy of the cookie cannot be used.
    const cookie = `mandate-session=${cookieAfter?.value ?? ''}`;
    const response = await fetch(`${origin}/orders`, { headers: { cookie }, redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/auth/sign-in']);
    expect(response.headers.get('set-cookie')).toMatch(/^mandate-session=; Max-Age=0;/);
  });

  test('has no accessibility violations on any page, fits a width of 320 pixels, and can be used with the keyboard', async () => {
    const withScript = await chromium.newContext({ viewport: { width: 1000, height: 700 } }); // axe needs JavaScript
    const page = await withScript.newPage();
    const check = async (path: string, name: string): Promise<void> => {
      if (path !== '') await page.goto(origin + path);
      await expectAccessiblePage(page, `bff ${name}`);
    };
    await check('/', 'products of a visitor');
    await check('/?q=zzzzzz', 'nothing found');
    await check('/nothing', 'unknown page');
    await check('/auth/callback?code=x&state=y', 'expired sign-in');
    await page.goto(`${origin}/auth/sign-in`);
    await signInAs(page, await signUp(shop.origin, { name: 'Ben Server' }));
    await check('/', 'products of a customer');
    await check('/orders', 'no orders');
    await check('/orders/987654321', 'unknown order');
    await page.goto(origin);
    const product = page.getByRole('article', { name: 'White hanging heart' });
    await product.getByRole('button', { name: 'Allow orders' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await product.getByRole('button', { name: 'Order', exact: true }).click();
    await page.getByRole('heading', { name: /^Order \d+$/ }).waitFor();
    await check('', 'order');
    await check('/orders', 'orders');
    expect(page.url()).toBe(`${origin}/orders`);
    await withScript.close();
  });

  test('rejects forms from other sites', async () => {
    const attacker = createServer((_, res) => {
      const form = `<form method="post" action="${origin}/auth/sign-out"><button>Win a prize</button></form>`;
      res.writeHead(200, { 'content-type': 'text/html' }).end(form);
    }).listen(0, '127.0.0.1');
    await once(attacker, 'listening');
    const address = attacker.address();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
    const [response] = await Promise.all([page.waitForResponse(`${origin}/auth/sign-out`), page.getByRole('button').click()]);
    expect(response.status()).toBe(403);
    attacker.closeAllConnections();
    attacker.close();
  });

  test('shows an error page', async () => {
    const page = await context.newPage();
    expect((await page.goto(`${origin}/nothing`))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect((await page.goto(`${origin}/auth/callback?code=x&state=y`))?.status()).toBe(400);
    await page.getByText('This sign-in has expired or was started in another browser.').waitFor();
  });
});
