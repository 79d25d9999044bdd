import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { checkPageAccessibilityAndLayout, useConsoleBrowser, withdrawPreapproval } from './console-browser.ts';

describe.skipIf(!hasChromium)('the audit log in the console', { timeout: 240_000 }, () => {
  const shop = withShop();
  const browser = useConsoleBrowser(shop);
  const staff = shop.staff(['users.manage']);

  test('shows actors and affected persons, and filters by person, actor, application, action and day', async () => {
    const customer = await shop.createAccount('customer', ['orders.read']);
    expect((await staff.callApi('PATCH', `/api/v1/users/${customer.id}`, { body: { status: 'suspended' } })).status).toBe(200);
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'), '/audit');
    const row = page.getByRole('row', { name: 'Account suspended' });
    await row.getByText('Test staff').waitFor();
    await row.getByText('Anna Test', { exact: true }).waitFor();
    await checkPageAccessibilityAndLayout(page, 'audit');
    await page.setViewportSize({ width: 390, height: 860 });
    expect(await row.innerText()).toMatch(/^Account suspended\s+Affected user: Anna Test\s+\w+ \d+, \d{4}, \d/);
    expect(await row.locator('td').evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 860 });
    await row.getByRole('button', { name: 'Details' }).click();
    await page.getByRole('dialog').getByText(`Anna Test (${customer.id})`).waitFor();
    await checkPageAccessibilityAndLayout(page, 'audit details');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    const affected = page.getByRole('searchbox', { name: 'Affected user' });
    await affected.fill(customer.email);
    await affected.press('Enter');
    await expect.poll(() => page.getByRole('row', { name: 'Test admin' }).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('user_id')).toBe(String(customer.id));
    await page.getByLabel('Action', { exact: true }).selectOption('Account suspended');
    // The header and one event.
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Start date').fill('2099-01-01');
    await page.getByText('No matches').waitFor();
    await page.getByLabel('Start date').fill('');

    await affected.fill('');
    await page.getByLabel('Action', { exact: true }).selectOption('All actions');
    const actor = page.getByRole('searchbox', { name: 'Actor' });
    await actor.fill(customer.email);
    await actor.press('Enter');
    await expect.poll(() => page.getByRole('row', { name: 'Account suspended' }).count()).toBe(0);
    await page.getByRole('row', { name: 'Consent given' }).first().waitFor();
    await page.getByLabel('Application', { exact: true }).selectOption('Console');
    await page.getByText('No matches').waitFor();
    expect(new URL(page.url()).searchParams.get('client_id')).toBe('mandate-console');
    // Both filters change before the page is rendered again.
    await page.getByLabel(/^(Action|Outcome)$/).evaluateAll((filters) => {
      for (const filter of filters) {
        Reflect.set(filter, 'selectedIndex', 1);
        filter.dispatchEvent(new Event('change', { bubbles: true }));
      }
    });
    await expect.poll(() => [...new URL(page.url()).searchParams.keys()]).toEqual(expect.arrayContaining(['action', 'outcome']));
    expect(browser.pageErrors).toEqual([]);
  });

  test('shows which customers have given access to which applications, as a graph and a table', async () => {
    const [active, removed, ...equal] = [
      await shop.createAccount('customer', ['orders.read']),
      await shop.createAccount('customer', ['connected_apps.read', 'connected_apps.write']),
      await shop.createAccount('customer', ['orders.read']),
      await shop.createAccount('customer', ['orders.read']),
    ];
    const [app] = (await removed.callApi('GET', '/api/v1/connected-apps')).body.data;
    expect((await removed.callApi('DELETE', `/api/v1/connected-apps/${app.id}`)).status).toBe(204);
    await shop.db.em.fork().execute('update users set name = ? where id = ?', ['Ada Active', active.id]);
    await shop.db.em.fork().execute('update users set name = ? where id = ?', ['Remo Removed', removed.id]);
    for (const { id } of equal) await shop.db.em.fork().execute('update users set name = ? where id = ?', ['Equa Equal', id]);
    const sameName = {
      name: app.application.name,
      type: 'confidential',
      redirect_uris: [],
      grant_types: ['client_credentials'],
      scopes: [],
    };
    expect((await shop.callApi('POST', '/api/v1/applications', { token: shop.token, body: sameName })).status).toBe(201);
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'), '/audit/grants');
    await page.getByRole('row', { name: 'Ada Active' }).getByText('Active', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'Remo Removed' }).getByText('Removed', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'Ada Active' }).getByText('See the user’s orders').filter({ visible: true }).waitFor();
    const graph = page.getByRole('img', { name: /customers?, \d+ applications? and \d+ lines? between them/ });
    await graph.getByText('Ada Active').waitFor();
    expect(await graph.getByText('Remo Removed').count()).toBe(0);
    for (const { email } of equal) {
      await page.getByRole('row', { name: 'Equa Equal' }).getByText(email, { exact: true }).waitFor();
      await graph.locator('g', { hasText: 'Equa Equal' }).getByText(email).waitFor();
    }
    expect(await page.getByRole('row', { name: 'Ada Active' }).innerText()).not.toContain(active.email);
    await page.getByRole('row', { name: 'Ada Active' }).getByText(app.application.client_id).waitFor();
    await checkPageAccessibilityAndLayout(page, 'audit grants');
    await page.setViewportSize({ width: 390, height: 860 });
    await expect.poll(() => graph.getAttribute('viewBox')).toMatch(/^0 0 320 /);
    // The text is at least 11 pixels high, because the graph is almost as wide as its `viewBox`.
    expect((await graph.boundingBox())?.width).toBeGreaterThan(272);
    expect(await page.getByRole('row', { name: 'Ada Active' }).innerText()).toMatch(/^Ada Active\s+\w+ \d+, \d{4}\s/);
    await page.getByRole('row', { name: 'Ada Active' }).getByText('See the user’s orders').filter({ visible: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByLabel('Application', { exact: true }).selectOption(`${app.application.name} (${app.application.client_id})`);
    await page.getByRole('row', { name: 'Ada Active' }).waitFor();
    expect(new URL(page.url()).searchParams.get('client_id')).toBe(app.application.client_id);
    expect(browser.pageErrors).toEqual([]);
  });

  test('shows user IDs to administrators who may only read the log, and nothing to staff', async () => {
    const admin = await signUpWithRole(shop.db, shop.origin, 'admin');
    await withdrawPreapproval(shop);
    const page = await browser.openAndConsent(admin, ['audit.read'], '/audit');
    await page
      .getByRole('cell', { name: `User ${admin.id}` })
      .first()
      .waitFor();
    const staffPage = await browser.openAndConsent(await signUpWithRole(shop.db, shop.origin, 'staff'), ['products.write'], '/audit');
    await staffPage.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect((await staff.callApi('GET', '/api/v1/audit-events')).status).toBe(403);
  });
});
