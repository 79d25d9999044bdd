import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { countInteractiveElements, tabThrough } from '../support/browser/page-accessibility.ts';
import { signUpWithRole, type TestUser } from '../support/oauth/oauth-flow.ts';
import { withPaymentTestShop } from '../support/shop/payment-test-shop.ts';
import { buildOrderInput, deliveryAddress } from '../support/shop/test-shop.ts';
import { startEventJobs } from '../support/webhooks/event-jobs.ts';
import { checkPageAccessibilityAndLayout, useConsoleBrowser } from './console-browser.ts';

describe.skipIf(!hasChromium)('orders in the console', { timeout: 120_000 }, () => {
  const shop = withPaymentTestShop();
  const browser = useConsoleBrowser({
    get origin() {
      return shop.mandate.origin;
    },
  });
  let staff: TestUser;
  let stopEventJobs: () => Promise<void>;
  let page: Page;
  beforeAll(async () => {
    stopEventJobs = startEventJobs(shop.mandate.db);
    staff = await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'staff');
    page = await browser.openAs(staff);
  }, 60_000);
  afterAll(() => stopEventJobs?.());

  const openOrder = async (target: Page, orderId: number): Promise<void> => {
    await target.goto(`${shop.mandate.origin}/console/orders/${orderId}`);
    await target.getByRole('heading', { name: `Order ${orderId}` }).waitFor();
  };
  const dialog = () => page.getByRole('dialog');

  test('are listed in tabs, and found by a search, with the state in the URL', async () => {
    const [unpaid, paid] = [await shop.placeOrder(), await shop.placePaidOrder()];
    await page.goto(`${shop.mandate.origin}/console/orders`);
    const row = (id: number) => page.getByRole('link', { name: `#${id}`, exact: true });
    await Promise.all([row(unpaid.id).waitFor(), row(paid.id).waitFor()]);
    await checkPageAccessibilityAndLayout(page, 'orders');
    const usable = await countInteractiveElements(page);
    const { reached, withoutOutline } = await tabThrough(page);
    expect([reached.size >= usable, withoutOutline]).toEqual([true, []]);
    await page.getByRole('link', { name: 'To ship' }).click();
    await row(unpaid.id).waitFor({ state: 'detached' });
    await row(paid.id).waitFor();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.getByRole('searchbox').fill(String(unpaid.id));
    await row(paid.id).waitFor({ state: 'detached' });
    await row(unpaid.id).waitFor();
    await page.reload();
    await row(unpaid.id).waitFor();
    expect(new URL(page.url()).search).toBe(`?q=${unpaid.id}`);
    await page.getByRole('searchbox').fill('no such order');
    await page.getByRole('button', { name: 'Clear the search and filters' }).click();
    await row(paid.id).waitFor();
  });

  test('are shown with names immediately, and listed by customer', async () => {
    const { id } = await shop.placeOrder();
    const isLoaded = page.waitForResponse((response) => new URL(response.url()).pathname === `/api/v1/orders/${id}`);
    let headingsBeforeNames: number | undefined;
    const isRequestForNames = (url: URL): boolean => url.pathname === '/api/v1/orders' && url.searchParams.has('id');
    await page.route(isRequestForNames, async (route) => {
      await isLoaded;
      headingsBeforeNames ??= await page.locator('h1').count();
      await route.continue();
    });
    await openOrder(page, id);
    expect(headingsBeforeNames).toBe(0);
    await page.getByText('Pick up').waitFor();
    await page.unroute(isRequestForNames);
    await page.getByRole('link', { name: 'All orders by this customer' }).click();
    await page.getByRole('button', { name: /^Remove the filter “Customer: / }).click();
    await page.waitForURL((url) => !url.searchParams.has('user_id'));
  });

  test('show the delivery address in the order of its country', async () => {
    const delivery = { method: 'standard', recipient_name: 'Anna Test', ...deliveryAddress };
    const { id } = await shop.shop.placeOrder({ delivery });
    await openOrder(page, id);
    const lines = page.locator('dl > div', { hasText: 'Deliver to' }).locator('dd');
    await expect.poll(() => lines.allInnerTexts()).toEqual(['Anna Test', '1 High Street', 'Leeds', 'LS1 1AA', 'United Kingdom']);
  });

  test('are paginated with links to each page, and their filters are saved as views', async () => {
    const [user, product] = [await shop.shop.createUser(), await shop.shop.createProduct()];
    for (let count = 0; count < 26; count += 1) {
      const input = { user_id: user.id, reference: 'PAGES', ...buildOrderInput([product, 1]) };
      expect((await shop.post('/orders', input)).status).toBe(201);
    }
    await page.goto(`${shop.mandate.origin}/console/orders?q=PAGES`);
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    const copy = await page.context().newPage();
    await copy.goto(page.url());
    await expect.poll(() => copy.locator('tbody tr').count()).toBe(1);
    await copy.getByRole('button', { name: 'First page' }).click();
    await expect.poll(() => copy.locator('tbody tr').count()).toBe(25);
    await copy.close();
    await page.getByRole('button', { name: 'Previous' }).click();
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view…' }).click();
    await dialog().getByLabel('View name').fill('Pages');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.goto(`${shop.mandate.origin}/console/orders`);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Pages', exact: true }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?q=PAGES');
  });

  test('are shipped in parts, with tracking', async () => {
    const order = await shop.placePaidOrder({ quantity: 3 });
    await openOrder(page, order.id);
    await checkPageAccessibilityAndLayout(page, 'order');
    await page.getByRole('button', { name: 'Ship', exact: true }).click();
    await dialog().getByRole('spinbutton').fill('1');
    await dialog().getByLabel('Carrier').fill('Royal Mail');
    await dialog().getByLabel('Tracking number').fill('RM123');
    await dialog().getByLabel('Tracking URL').fill('http://insecure.example');
    await dialog().getByRole('button', { name: 'Ship', exact: true }).click();
    await dialog().getByText('must be an https URL').waitFor();
    await checkPageAccessibilityAndLayout(page, 'ship form with an error');
    await dialog().getByLabel('Tracking URL').fill('https://carrier.example/RM123');
    await dialog().getByRole('button', { name: 'Ship', exact: true }).click();
    await page.getByText('Partially shipped').waitFor();
    await page.getByRole('link', { name: 'Royal Mail RM123' }).waitFor();
    const { data } = await shop.get(`/orders/${order.id}/shipments`);
    expect(data).toMatchObject([{ status: 'shipped', carrier: 'Royal Mail', items: [{ line: 1, quantity: 1 }] }]);
    await page.getByRole('button', { name: 'Mark as delivered' }).click();
    await expect.poll(async () => (await shop.get(`/orders/${order.id}/shipments`)).data[0].status).toBe('delivered');
  });

  test('are refunded in major units, up to the remaining amount', async () => {
    const order = await shop.placePaidOrder();
    await openOrder(page, order.id);
    await page.getByRole('button', { name: 'Refund' }).click();
    await dialog().getByText('€5.10 can still be refunded.').waitFor();
    const submit = dialog().getByRole('button', { name: /^Refund/ });
    await dialog().getByLabel('Amount').fill('5.11');
    expect(await submit.isDisabled()).toBe(true);
    await dialog().getByText('more than can still be refunded').waitFor();
    await dialog().getByLabel('Amount').fill('1,25');
    await dialog().getByRole('button', { name: 'Refund €1.25' }).click();
    await page.getByText('€1.25 refunded').waitFor();
    expect(await shop.get(`/orders/${order.id}`)).toMatchObject({ refunded_total: 125, payment_status: 'partially_refunded' });
    await page.getByRole('button', { name: 'Refund' }).click();
    await dialog().getByText('€3.85 can still be refunded.').waitFor();
  });

  test('are refunded once if the response to the refund is lost', async () => {
    const order = await shop.placePaidOrder();
    await openOrder(page, order.id);
    await page.getByRole('button', { name: 'Refund' }).click();
    await dialog().getByLabel('Amount').fill('1');
    const refunds = `**/api/v1/orders/${order.id}/refunds`;
    await page.route(refunds, async (route) => {
      if (route.request().method() === 'POST') await route.fetch();
      await route.abort();
    });
    await dialog().getByRole('button', { name: 'Refund €1.00' }).click();
    await dialog().getByText('The server cannot be reached.').waitFor();
    await page.unroute(refunds);
    await dialog().getByRole('button', { name: 'Refund €1.00' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(await shop.get(`/orders/${order.id}`)).toMatchObject({ refunded_total: 100 });
  });

  test('are paid manually and canceled', async () => {
    const [first, second] = [await shop.placeOrder(), await shop.placeOrder()];
    expect((await shop.createPayment(first.id, undefined, 'manual')).status).toBe(201);
    await openOrder(page, first.id);
    await page.getByRole('button', { name: 'Confirm payment' }).click();
    await page.getByText('Payment received').waitFor();
    expect(await shop.get(`/orders/${first.id}`)).toMatchObject({ payment_status: 'paid' });
    await openOrder(page, second.id);
    await page.getByRole('button', { name: 'Record payment' }).click();
    await dialog().getByRole('button', { name: 'Record payment' }).click();
    await page.getByText('Payment received').waitFor();
    await page.getByRole('button', { name: 'Cancel order' }).click();
    await dialog().getByLabel('Reason').selectOption({ label: 'Out of stock' });
    await dialog().getByRole('button', { name: 'Cancel order' }).click();
    await page.getByText('Order canceled').first().waitFor();
    expect(await shop.get(`/orders/${second.id}`)).toMatchObject({ status: 'canceled', cancel_reason: 'out_of_stock' });
    expect(await page.getByRole('button', { name: /Ship|Cancel order/ }).count()).toBe(0);
  });

  test('are changed by two users, and the second one sees the difference before overwriting the first change', async () => {
    const order = await shop.placeOrder();
    await openOrder(page, order.id);
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Note').fill('Call before delivery');
    const other = await browser.openAs(await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'staff'), `/orders/${order.id}`);
    await other.getByRole('button', { name: 'Edit' }).click();
    await other.getByRole('dialog').getByLabel('Note').fill('Leave at the reception');
    await other.getByRole('button', { name: 'Save' }).click();
    await other.getByText('Note changed').waitFor();
    // The page behind the dialog receives the change through the event feed.
    await page.locator('main').getByText('Leave at the reception').waitFor();
    await dialog().getByRole('button', { name: 'Save' }).click();
    const difference = dialog().getByRole('alert');
    await difference.getByText('Someone else has changed this data').waitFor();
    expect(await difference.locator('tbody').innerText()).toMatch(/Note\s+Leave at the reception\s+Call before delivery/);
    expect((await shop.get(`/orders/${order.id}`)).note).toBe('Leave at the reception');
    await checkPageAccessibilityAndLayout(page, 'conflict');
    await difference.getByRole('button', { name: 'Save my changes' }).click();
    await other.locator('main').getByText('Call before delivery').waitFor();
    expect((await shop.get(`/orders/${order.id}`)).note).toBe('Call before delivery');
  });

  test('appear automatically, even after the event feed was interrupted', async () => {
    const events = /\/api\/v1\/events/;
    await page.route(events, (route) => route.abort());
    await page.goto(`${shop.mandate.origin}/console/orders`);
    await page.getByRole('img', { name: /^Not live/ }).waitFor();
    await page.unroute(events);
    await page.getByRole('img', { name: /^Live/ }).waitFor();
    const order = await shop.placeOrder();
    await expect.poll(() => page.getByRole('link', { name: `#${order.id}`, exact: true }).count(), { timeout: 10_000 }).toBe(1);
  });

  test('cause no errors in the browser', () => expect(browser.pageErrors).toEqual([]));
});
