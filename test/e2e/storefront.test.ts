import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DeliveryMethod } from '../../server/delivery-methods/delivery-method.entity.ts';
import { createApplication } from '../../server/applications/validate-and-create-application.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { expectAccessiblePage } from '../support/browser/expect-accessible-page.ts';
import { tabTo } from '../support/browser/page-accessibility.ts';
import { startMandateServer, type MandateServer } from '../support/server/start-mandate.ts';
import { signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import { createTestShop, type TestShop } from '../support/shop/test-shop.ts';
import { startEventJobs } from '../support/webhooks/event-jobs.ts';
import { buildAndServeStorefront } from './build-and-serve-storefront.ts';

describe.skipIf(!hasChromium)('the storefront', { timeout: 120_000 }, () => {
  let mandate: MandateServer;
  let shop: TestShop;
  let anna: TestUser;
  let chromium: Browser;
  let closeWebsite: () => Promise<void>;
  let pageErrors: string[];
  let stopEventJobs: () => Promise<void>;
  let origin: string;

  beforeAll(async () => {
    mandate = await startMandateServer();
    stopEventJobs = startEventJobs(mandate.db);
    shop = await createTestShop(mandate);
    await shop.createProduct({ name: 'White hanging heart', price: 255 });
    await shop.createProduct({ name: 'Garden lantern', price: 900, category: 'lights' });
    await shop.createProduct({ name: 'Sold-out clock', price: 100, category: 'lights', stock: 0 });
    await mandate.db.em
      .fork()
      .insert(DeliveryMethod, { code: 'collection', name: 'Collection', price: 0, currency: 'EUR', requiresAddress: false, active: true });
    anna = await signUp(mandate.origin, { name: 'Anna Storefront' });
    chromium = await launchChromium();
    ({ origin, close: closeWebsite } = await buildAndServeStorefront(mandate.origin));
    await createApplication(mandate.db.em.fork(), {
      clientId: 'storefront',
      name: 'Storefront',
      type: 'public',
      firstParty: true,
      grantTypes: ['authorization_code', 'refresh_token'],
      scopes: ['users.read', 'orders.read', 'orders.write', 'payments.read', 'payments.write', 'events.read'],
      redirectUris: [`${origin}/`],
    });
  }, 120_000);
  afterAll(async () => {
    await chromium?.close();
    await closeWebsite?.();
    await stopEventJobs?.();
    await mandate?.close();
  });

  const orderStatus = (page: Page): Promise<string> => page.locator('article.order .status').innerText();
  const checkAccessibility = (page: Page, name: string): Promise<void> => expectAccessiblePage(page, `storefront ${name}`);
  const openTab = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    page.on('pageerror', (error) => pageErrors.push(String(error)));
    await page.goto(origin);
    await page.getByRole('heading', { name: 'Products' }).waitFor();
    return page;
  };
  const submitCredentials = async (page: Page, user: TestUser): Promise<void> => {
    await page.getByLabel('E-mail address').fill(user.email);
    await page.getByLabel('Password', { exact: true }).fill(user.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const signInAtServer = async (page: Page, user: TestUser): Promise<void> => {
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await submitCredentials(page, user);
  };

  test('searches, orders from the cart, pays and follows the order in two tabs, even after its access token has expired', async () => {
    const context = await chromium.newContext({ viewport: { width: 1000, height: 700 } });
    pageErrors = [];
    const refreshRequests: string[] = [];
    context.on('request', (request) => {
      if (request.postData()?.includes('grant_type=refresh_token')) refreshRequests.push(request.url());
    });
    const [first, second] = [await openTab(context), await openTab(context)];
    await first.getByRole('article', { name: 'White hanging heart' }).waitFor();
    expect(await first.getByRole('button', { name: 'Order' }).count()).toBe(0);
    expect(await first.locator('article svg.picture').count()).toBe(3);
    await checkAccessibility(first, 'products');
    await first.getByLabel('Search').fill('lantern');
    await first.getByRole('button', { name: 'Search' }).click();
    await first.getByRole('article', { name: 'White hanging heart' }).waitFor({ state: 'detached' });
    await first.getByRole('article', { name: 'Garden lantern' }).getByRole('button', { name: 'Add to cart' }).click();
    await first.getByRole('link', { name: 'All', exact: true }).click();
    await first.getByLabel('Search').fill('');
    await first.getByRole('button', { name: 'Search' }).click();
    await first.getByRole('link', { name: 'decoration' }).click();
    await first.getByRole('article', { name: 'Garden lantern' }).waitFor({ state: 'detached' });
    await first.getByRole('article', { name: 'White hanging heart' }).getByRole('button', { name: 'Add to cart' }).click();
    await second.getByRole('link', { name: 'Cart 2' }).click(); // the tabs share the cart
    await second.getByRole('article', { name: 'White hanging heart' }).getByLabel('Quantity').fill('3');
    await second.getByText('Total €16.65').waitFor();
    await checkAccessibility(second, 'cart');

    await signInAtServer(second, anna);
    await second.getByRole('button', { name: 'Allow' }).click();
    await second.getByText('Anna Storefront').waitFor();
    await first.getByText('Anna Storefront').waitFor(); // the sign-in in the second tab also signs in the first tab
    expect(second.url()).toBe(`${origin}/#/cart`);
    await second.getByRole('button', { name: 'Place order' }).click();
    await expect.poll(() => orderStatus(second), { timeout: 10_000 }).toBe('pending');
    await second.getByRole('link', { name: 'Cart 0' }).waitFor();
    await first.goto(second.url());
    await expect.poll(() => orderStatus(first), { timeout: 10_000 }).toBe('pending');

    // makes the access token expire on the server earlier than the tabs expect
    await mandate.db.em
      .fork()
      .execute(
        `update oauth_records set expires_at = now() - interval '1 minute' where model = 'AccessToken' and client_id = 'storefront'`,
      );
    await second.getByRole('button', { name: 'Pay' }).click();
    for (const page of [second, first]) await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('paid');
    expect(refreshRequests).toHaveLength(1);

    const { data } = (await mandate.callApi('GET', '/api/v1/orders', { token: shop.token })).body;
    expect(data).toHaveLength(1);
    const shipments = `/api/v1/orders/${data[0].id}/shipments`;
    const shipped = await mandate.callApi('POST', shipments, { token: shop.token, body: { status: 'shipped' } });
    expect([shipped.status, shipped.text]).toEqual([201, expect.any(String)]);
    await expect.poll(() => orderStatus(first), { timeout: 10_000 }).toBe('shipped');
    expect(await first.locator('.timeline .done').count()).toBe(3);
    await checkAccessibility(first, 'order');
    await first.getByRole('link', { name: 'All orders' }).click();
    await first.locator('.orders .status', { hasText: 'shipped' }).waitFor();
    expect(await first.title()).toBe('Your orders – Storefront');
    await checkAccessibility(first, 'orders');

    await first.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second]) {
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Sign in to see your orders' }).waitFor();
      expect(await page.locator('.status').count()).toBe(0);
    }
    expect(pageErrors).toEqual([]);
    await context.close();
  });

  test('requests a denied permission again, follows orders without the permission to receive events, and shows errors', async () => {
    const context = await chromium.newContext({ viewport: { width: 390, height: 844 } });
    pageErrors = [];
    const page = await openTab(context);
    const ben = await signUp(mandate.origin, { name: 'Ben Storefront' });
    await signInAtServer(page, ben);
    for (const scope of ['orders.write', 'events.read']) await page.locator(`input[name=scope][value="${scope}"]`).uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Ben Storefront').waitFor();
    const heart = page.getByRole('article', { name: 'White hanging heart' });
    await heart.getByRole('button', { name: 'Order' }).click();
    await heart.getByText('You have not allowed this shop to do that.').waitFor();
    await checkAccessibility(page, 'denied permission');
    await heart.getByRole('button', { name: 'Change permissions' }).click();
    await page.locator('input[name=scope][value="events.read"]').uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    await heart.getByRole('button', { name: 'Order' }).click();
    await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('pending');

    const { data } = (await mandate.callApi('GET', '/api/v1/orders?sort=-created_at', { token: shop.token })).body;
    await mandate.callApi('POST', `/api/v1/orders/${data[0].id}/cancellation`, { token: shop.token, body: { reason: 'staff' } });
    await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('canceled'); // without events, the page polls
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await checkAccessibility(page, 'canceled order');

    await page.goto(`${origin}/#/orders/987654321`);
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
    await checkAccessibility(page, 'unknown order');
    expect(pageErrors).toEqual([]);
    await context.close();
  });

  test('signs in with a pop-up, and the page keeps its state', async () => {
    const context = await chromium.newContext({ viewport: { width: 1000, height: 700 } });
    pageErrors = [];
    const page = await openTab(context);
    await page.getByRole('article', { name: 'Garden lantern' }).getByRole('button', { name: 'Add to cart' }).click();
    await page.getByLabel('Search').fill('not yet submitted');
    const openPopup = async (): Promise<Page> => {
      const popup = page.waitForEvent('popup');
      await page.getByRole('button', { name: 'Sign in with a pop-up' }).click();
      await (await popup).getByLabel('E-mail address').waitFor();
      return popup;
    };
    await (await openPopup()).close();
    await page.bringToFront();
    await page.getByRole('alert').getByText('The sign-in window was closed').waitFor();
    expect(await page.getByRole('button', { name: 'Sign in', exact: true }).count()).toBe(1);

    const dora = await signUp(mandate.origin, { name: 'Dora Storefront' });
    const popup = await openPopup();
    const closed = popup.waitForEvent('close');
    await submitCredentials(popup, dora);
    await popup.getByRole('button', { name: 'Allow' }).click();
    await closed;
    await page.getByText('Dora Storefront').waitFor();
    expect(await page.getByLabel('Search').inputValue()).toBe('not yet submitted');
    expect(await page.getByRole('link', { name: 'Cart 1' }).count()).toBe(1);
    expect(pageErrors).toEqual([]);
    await context.close();
  });

  test('cancels an order before the service has responded, and restores it if the service rejects the cancellation', async () => {
    const context = await chromium.newContext({ viewport: { width: 1000, height: 700 } });
    pageErrors = [];
    const page = await openTab(context);
    await signInAtServer(page, await signUp(mandate.origin, { name: 'Emil Storefront' }));
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('article', { name: 'White hanging heart' }).getByRole('button', { name: 'Order' }).click();
    await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('pending');

    const { promise: shown, resolve: respond } = Promise.withResolvers<void>();
    const problem = { title: 'Not possible', status: 409, code: 'invalid_transition', detail: 'It has just been packed.' };
    await page.route(/\/cancellation$/, async (route) => {
      await shown;
      const headers = { 'access-control-allow-origin': origin, 'content-type': 'application/problem+json' };
      await route.fulfill({ status: 409, headers, body: JSON.stringify(problem) });
    });
    await page.getByRole('button', { name: 'Cancel order' }).click();
    await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('canceled');
    respond();
    const rejection = page.getByRole('alert').getByText(/packed/);
    await rejection.waitFor();
    await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('pending');
    await checkAccessibility(page, 'rejected cancellation');

    await page.unrouteAll();
    await page.getByRole('button', { name: 'Cancel order' }).click();
    await page.locator('.timeline .done', { hasText: 'Canceled' }).waitFor();
    await rejection.waitFor({ state: 'detached' });
    expect(await orderStatus(page)).toBe('canceled');
    expect(pageErrors).toEqual([]);
    await context.close();
  });

  test('shows when nothing was found, when a product is out of stock, and when the service cannot be reached', async () => {
    const context = await chromium.newContext({ viewport: { width: 1000, height: 700 } });
    pageErrors = [];
    const page = await openTab(context);
    await page.getByRole('article', { name: 'Sold-out clock' }).getByText('Out of stock').waitFor();
    expect(await page.getByRole('article', { name: 'Sold-out clock' }).getByRole('button').count()).toBe(0);
    await page.goto(`${origin}/#/?q=zzzzzz`);
    await page.getByText('No product matches.').waitFor();
    await checkAccessibility(page, 'nothing found');

    await page.route(`${mandate.origin}/api/v1/products?*`, (route) => route.abort());
    await page.getByRole('link', { name: 'Show all products' }).click();
    await page.getByRole('link', { name: 'lights' }).click();
    const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    await checkAccessibility(page, 'unreachable service');
    await page.unrouteAll();
    await retry.click();
    await page.getByRole('article', { name: 'Garden lantern' }).waitFor();
    await retry.waitFor({ state: 'detached' });
    expect(pageErrors).toEqual([]);
    await context.close();
  });

  test('can be used with the keyboard alone', async () => {
    const context = await chromium.newContext({ viewport: { width: 1000, height: 700 } });
    pageErrors = [];
    const page = await openTab(context);
    const carla = await signUp(mandate.origin, { name: 'Carla Storefront' });
    const activate = async (name: string): Promise<void> => {
      await tabTo(page, name);
      await page.keyboard.press('Enter');
    };
    await tabTo(page, 'Search');
    await page.keyboard.type('lantern');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'White hanging heart' }).waitFor({ state: 'detached' });
    await activate('Add to cart');
    await activate('Cart 1');
    await page.getByRole('heading', { name: 'Cart' }).waitFor();
    expect(await page.title()).toBe('Cart – Storefront');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN'); // so a screen reader continues with the new content
    await activate('Sign in to order');
    await page.getByLabel('E-mail address').waitFor();
    await page.keyboard.type(carla.email);
    await tabTo(page, 'Password');
    await page.keyboard.type(carla.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await activate('Allow');
    await page.getByText('Carla Storefront').waitFor();
    await activate('Place order');
    await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('pending');
    await activate('Pay');
    await expect.poll(() => orderStatus(page), { timeout: 10_000 }).toBe('paid');
    expect(pageErrors).toEqual([]);
    await context.close();
  });
});
