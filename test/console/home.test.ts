import type { Scope } from '@mandate/contract';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { withPaymentTestShop } from '../support/shop/payment-test-shop.ts';
import { checkPageAccessibilityAndLayout, consentTo, useConsoleBrowser, withdrawPreapproval } from './console-browser.ts';

describe.skipIf(!hasChromium)('the home page of the console', { timeout: 120_000 }, () => {
  const shop = withPaymentTestShop();
  const browser = useConsoleBrowser({
    get origin() {
      return shop.mandate.origin;
    },
  });
  let paidId: number;
  let unpaidId: number;
  beforeAll(async () => {
    paidId = (await shop.placePaidOrder()).id;
    unpaidId = (await shop.placeOrder()).id;
    await shop.shop.createProduct({ name: 'Garden lantern', stock: 3 });
  });

  const openAsStaff = async () => browser.openAs(await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'staff'));

  test('shows sales, and pending work with links to the pages where staff can take action', async () => {
    const page = await openAsStaff();
    const work = page.getByRole('region', { name: 'To do' });
    await expect.poll(() => work.innerText()).toMatch(/To ship\s+1\s+Unpaid\s+1\s+Waiting for approval\s+0\s+Low stock\s+1\s/);
    const sales = page.getByRole('region', { name: /^Last 30 days/ });
    await sales.locator('li', { hasText: 'Previous 30 days' }).waitFor();
    expect(await sales.locator('dl').innerText()).toMatch(/Revenue\s+€5.10\s+Previously €0.00\s+Orders\s+2\s/);
    expect(await sales.locator('dl').innerText()).toMatch(/Average per paid order\s+€5.10\s/);
    const ticks = sales.locator('.recharts-cartesian-axis-tick-value', { hasText: '€' });
    await ticks.first().waitFor();
    for (const amount of await ticks.allTextContents()) expect(amount).toMatch(/^€\d+(\.\d\d)?$/);
    await sales.getByText('Show the chart as a table').click();
    await sales.getByText('Hide the table').waitFor();
    expect(await sales.locator('tbody tr').count()).toBe(30);
    expect(await sales.locator('tbody').innerText()).toContain('€5.10');
    await page.getByText('Garden lantern').waitFor();
    await page.getByRole('region', { name: 'Best sellers in the last 30 days' }).waitFor();
    await checkPageAccessibilityAndLayout(page, 'home');
    await work.getByRole('link', { name: /To ship/ }).click();
    await page.getByRole('link', { name: `#${paidId}`, exact: true }).waitFor();
    expect(await page.getByRole('link', { name: `#${unpaidId}`, exact: true }).count()).toBe(0);
    expect(browser.pageErrors).toEqual([]);
  });

  const labelsByLanguage = {
    en: {
      range: 'Period',
      days: 'Last 7 days',
      months: 'Last 12 months',
      perMonth: 'Revenue per month',
      best: 'Best sellers in the last 12 months',
    },
    de: {
      range: 'Zeitraum',
      days: 'Letzte 7 Tage',
      months: 'Letzte 12 Monate',
      perMonth: 'Umsatz pro Monat',
      best: 'Meistverkauft in den letzten 12 Monaten',
    },
    fr: {
      range: 'Période',
      days: '7 derniers jours',
      months: '12 derniers mois',
      perMonth: 'Chiffre d’affaires par mois',
      best: 'Meilleures ventes des 12 derniers mois',
    },
    es: {
      range: 'Período',
      days: 'Últimos 7 días',
      months: 'Últimos 12 meses',
      perMonth: 'Ingresos por mes',
      best: 'Los más vendidos en los últimos 12 meses',
    },
  } as const;

  test.for(Object.entries(labelsByLanguage))('shows the sales of the period in the URL, in %s', async ([language, labels]) => {
    const user = await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'staff');
    const page = await browser.openAs(user, '?range=7d', language);
    const range = page.getByLabel(labels.range, { exact: true });
    const sales = page.getByRole('region').filter({ has: range });
    await page.getByRole('region', { name: new RegExp(`^${labels.days}`) }).waitFor();
    await sales.locator('summary').click();
    expect(await sales.locator('tbody tr').count()).toBe(7);
    expect(await range.locator('option').count()).toBe(4);
    const search = page.locator('aside button span').first();
    expect(await search.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await range.selectOption(labels.months);
    await page.getByRole('region', { name: new RegExp(`^${labels.months}`) }).waitFor();
    await page.getByRole('figure', { name: labels.perMonth }).waitFor();
    expect(new URL(page.url()).search).toBe('?range=12m');
    await sales.locator('summary').click();
    expect(await sales.locator('tbody tr').count()).toBe(12);
    expect(await sales.locator('tbody tr').last().innerText()).toMatch(/\d{4}\s.*5[.,]10/);
    await page.getByRole('region', { name: labels.best }).getByText('White hanging heart').waitFor();
    await checkPageAccessibilityAndLayout(page, `home of 12 months ${language}`);
    await page.reload();
    await page.getByRole('region', { name: new RegExp(`^${labels.months}`) }).waitFor();
    await range.selectOption({ index: 2 });
    await expect.poll(() => new URL(page.url()).search).toBe('?range=90d');
    await sales.locator('summary').click();
    expect(await sales.locator('tbody tr').count()).toBe(90);
    await range.selectOption({ index: 1 });
    await expect.poll(() => new URL(page.url()).search).toBe('');
    expect(browser.pageErrors).toEqual([]);
  });

  /** The tested parts of the console that each scope makes available. */
  const partsByScope = {
    'orders.manage': ['To ship', 'Latest orders', 'Cancel order'],
    'statistics.read': ['Low stock', 'Revenue'],
    'refunds.write': [],
    'products.write': [],
  } as const satisfies Partial<Record<Scope, readonly string[]>>;
  const allParts = [...new Set(Object.values(partsByScope).flat())];

  test.for(Object.entries(partsByScope))('shows only what %s permits', async ([scope, parts]) => {
    await withdrawPreapproval(shop.mandate);
    const staff = await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'staff');
    const page = await browser.open();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('input[name=email]').fill(staff.email);
    await page.locator('input[name=password]').fill(staff.password);
    await page.locator('input[name=password]').press('Enter');
    await consentTo(
      page,
      Object.keys(partsByScope).filter((name): name is keyof typeof partsByScope => name === scope),
    );
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await waitForData(page);
    const shown = await page.locator('body').innerText();
    await page.goto(`${shop.mandate.origin}/console/orders/${unpaidId}`);
    await page.locator('h1').waitFor();
    await waitForData(page);
    const order = await page.locator('main').innerText();
    expect(allParts.filter((part) => shown.includes(part) || order.includes(part)).toSorted()).toEqual([...parts].toSorted());
    expect(order.includes('Page not found')).toBe(scope !== 'orders.manage');
    expect(/Ship|Refund|Record payment|Confirm/.test(order.replace('Not shipped', ''))).toBe(false);
  });
});

/**
 * Waits until no part of a page is loading. On a busy machine, the network can be idle before the page has sent its requests, so Playwright's
 * event for an idle network does not show that a page has loaded.
 */
const waitForData = (page: Page): Promise<void> => expect.poll(() => page.locator('main .mantine-Skeleton-root').count()).toBe(0);
