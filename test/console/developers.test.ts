import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { backdateSessions } from '../support/oauth/backdate-sessions.ts';
import { signUpWithRole, type TestUser } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { useEventJobs } from '../support/webhooks/use-event-jobs.ts';
import { withWebhookReceiver } from '../support/webhooks/with-webhook-receiver.ts';
import { checkPageAccessibilityAndLayout, signInAtServer, useConsoleBrowser, withdrawPreapproval } from './console-browser.ts';

describe.skipIf(!hasChromium)('the Developers page', { timeout: 240_000 }, () => {
  const shop = withShop();
  const browser = useConsoleBrowser(shop);
  useEventJobs(shop);
  const receiver = withWebhookReceiver(shop);

  /** Opens a console page as a user who signed in to the server an hour ago. */
  const openWithOldSession = async (user: TestUser, path: string): Promise<Page> => {
    const page = await browser.open();
    await page.goto(`${shop.origin}/sign-in`);
    await page.locator('input[name=email]').fill(user.email);
    await page.locator('input[name=password]').fill(user.password);
    await page.locator('input[name=password]').press('Enter');
    await page.waitForURL(`${shop.origin}/account`);
    await backdateSessions(shop.db, user.id, 60);
    await page.goto(`${shop.origin}/console${path}`);
    await page.locator('main button').click();
    return page;
  };

  test('creates a webhook endpoint, shows its deliveries, rotates its secret, and deletes it', async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'staff'), '/developers');
    await page.getByText('No webhook endpoints yet').waitFor();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Description').fill('Warehouse');
    await checkPageAccessibilityAndLayout(page, 'developers create endpoint');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    expect(await dialog.getByLabel('Signing secret').inputValue()).toMatch(/^whsec_/);
    await checkPageAccessibilityAndLayout(page, 'developers secret');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await checkPageAccessibilityAndLayout(page, 'developers webhooks');

    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('A test event will be delivered.').waitFor();
    await page.getByRole('link', { name: 'webhook_endpoint.test' }).first().click();
    await dialog.getByText('204', { exact: true }).waitFor();
    await dialog.getByText('"webhook_endpoint.test"').waitFor();
    await dialog.getByText('Attempt 1: headers and response').click();
    await dialog.getByRole('region', { name: 'Attempt 1: request' }).getByText('webhook-signature: v1,').waitFor();
    await dialog.getByText('The body is empty.').waitFor();
    await checkPageAccessibilityAndLayout(page, 'developers delivery');
    await dialog.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('The event will be delivered again.').waitFor();
    await expect.poll(() => receiver.deliveries.filter(({ body }) => body.type === 'webhook_endpoint.test').length).toBe(2);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await checkPageAccessibilityAndLayout(page, 'developers endpoint');

    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('A user or an application has disabled this endpoint.').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    expect(await dialog.getByLabel('Signing secret').inputValue()).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete endpoint' }).click();
    await dialog.getByRole('button', { name: 'Delete endpoint' }).click();
    await page.getByText('No webhook endpoints yet').waitFor();
    expect(browser.pageErrors).toEqual([]);
  });

  test('shows the difference if another user has changed an endpoint', async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'staff'), '/developers');
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Description').fill('Yours');
    await shop.db.em.fork().execute(`update webhook_endpoints set description = 'Theirs', version = version + 1`);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Someone else has changed this data').waitFor();
    await dialog.getByText('Theirs').waitFor();
    await checkPageAccessibilityAndLayout(page, 'developers conflict');
    await dialog.getByRole('button', { name: 'Save my changes' }).click();
    await page.getByText('The endpoint has been saved.').waitFor();
    await page.getByText('Yours').waitFor();
    expect(browser.pageErrors).toEqual([]);
  });

  test('shows events as they occur, and filters them', async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'staff'), '/developers/events');
    await page.getByText('Live', { exact: true }).waitFor();
    const order = await shop.placeOrder();
    const log = page.getByRole('log');
    const entry = log.locator('details', { hasText: 'order.created' }).filter({ hasText: `order ${order.id}` });
    await entry.waitFor();
    await entry.locator('summary').click();
    await entry.getByText(`"id": ${order.id},`).first().waitFor();
    await checkPageAccessibilityAndLayout(page, 'developers events');
    await page.getByLabel('Filter by type').selectOption('product.*');
    await log.getByText('product.created').first().waitFor();
    await log.getByText('order.created').first().waitFor({ state: 'detached' });
    await page.reload();
    await log.getByText('product.created').first().waitFor();
    expect(browser.pageErrors).toEqual([]);
  });

  test('creates an API key after a recent sign-in, revokes it, and rotates the signing keys', async () => {
    const admin = await signUpWithRole(shop.db, shop.origin, 'admin');
    const page = await openWithOldSession(admin, '/developers/api-keys');
    const dialog = page.getByRole('dialog');
    const create = async (): Promise<void> => {
      await page.getByText('No API keys yet').waitFor();
      await page.getByRole('button', { name: 'Create API key' }).click();
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Reports');
      await dialog.getByRole('checkbox', { name: 'See the shop’s sales, and how much each application uses the API' }).check();
      expect(await dialog.getByText('statistics.read', { exact: true }).count()).toBe(1);
      await dialog.getByRole('button', { name: 'Create API key' }).click();
    };
    await create();
    await dialog.getByText('To perform this action, you must have signed in within the last 15 minutes.').waitFor();
    await checkPageAccessibilityAndLayout(page, 'developers create API key');
    await dialog.getByRole('button', { name: 'Sign in again' }).click();
    await signInAtServer(page, admin);
    await create();
    const key = await dialog.getByLabel('API key').inputValue();
    expect((await shop.callApi('GET', '/api/v1/statistics/orders', { token: key })).status).toBe(200);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'See the shop’s sales' }).waitFor();
    await checkPageAccessibilityAndLayout(page, 'developers API keys');
    await page.setViewportSize({ width: 390, height: 860 });
    await page.getByRole('row', { name: 'Reports' }).getByText('See the shop’s sales').filter({ visible: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('button', { name: 'Revoke the key “Reports”' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
    expect((await shop.callApi('GET', '/api/v1/statistics/orders', { token: key })).status).toBe(401);

    await page.getByRole('link', { name: 'Signing keys' }).click();
    await page.getByRole('cell', { name: 'ES256' }).first().waitFor();
    const rotate = page.getByRole('button', { name: 'Rotate signing keys' });
    expect(await rotate.getAttribute('data-variant')).toBe('danger');
    await rotate.click();
    await dialog.getByRole('button', { name: 'Rotate signing keys' }).click();
    await dialog.getByText(/new keys? will be used to sign tokens from/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'Requested key rotation' }).first().waitFor();
    await checkPageAccessibilityAndLayout(page, 'developers signing keys');
    expect(browser.pageErrors).toEqual([]);
  });

  test('shows staff only what their single scope permits', async () => {
    await withdrawPreapproval(shop);
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const page = await browser.openAndConsent(staff, ['webhooks.read', 'products.write'], '/developers');
    await page.getByText('No webhook endpoints yet').waitFor();
    expect(await page.getByRole('button', { name: 'Add endpoint' }).count()).toBe(0);
    expect(await page.getByRole('navigation', { name: 'Sections' }).count()).toBe(0);
    await page.goto(`${shop.origin}/console/developers/signing-keys`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(browser.pageErrors).toEqual([]);
  });
});
