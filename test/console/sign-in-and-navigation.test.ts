import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { signUp, signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { checkPageAccessibilityAndLayout, signInAtServer, useConsoleBrowser } from './console-browser.ts';

describe.skipIf(!hasChromium)('the console', { timeout: 120_000 }, () => {
  const shop = withShop();
  const browser = useConsoleBrowser(shop);

  test('signs staff in without a consent page, shows the linked page, and signs out', async () => {
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const order = await shop.placeOrder();
    const page = await browser.open(`/orders/${order.id}`);
    await page.getByRole('main').getByText('Mandate', { exact: true }).waitFor();
    await checkPageAccessibilityAndLayout(page, 'sign-in');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signInAtServer(page, staff);
    await page.getByRole('heading', { name: `Order ${order.id}` }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/orders/${order.id}`);
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await page.route('**/api/v1/branding', (route) => route.abort());
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    expect(await page.locator('main span[aria-hidden]').count()).toBe(0);
    expect(browser.pageErrors).toEqual([]);
  });

  test('is usable after at most 1.5 s of CPU time', async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'staff'));
    await page.goto('about:blank');
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(`${shop.origin}/console`, { waitUntil: 'commit' });
    await page
      .getByRole('region', { name: 'To do' })
      .getByRole('link', { name: /Unpaid/ })
      .waitFor();
    const { metrics } = await session.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value;
    expect(seconds).toBeGreaterThan(0.05);
    expect(seconds).toBeLessThan(1.5);
  });

  test('shows customers that they have no access', async () => {
    const page = await browser.openAs(await signUp(shop.origin), '/orders');
    await page.getByRole('heading', { name: 'Your account has no access to the console' }).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await checkPageAccessibilityAndLayout(page, 'no access');
  });

  test('opens pages and commands with the keyboard', async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'));
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('Control+k');
    const input = page.getByRole('textbox', { name: 'Search or go to…' });
    await input.fill('Orders');
    await checkPageAccessibilityAndLayout(page, 'command palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.keyboard.press('Control+k');
    await input.fill('Deutsch');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Bestellungen' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(browser.pageErrors).toEqual([]);
  });

  test('shows a page for unknown paths', async () => {
    const page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'staff'), '/unknown');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(await page.title()).toBe('Page not found – Console');
    await checkPageAccessibilityAndLayout(page, 'not found');
  });
});
