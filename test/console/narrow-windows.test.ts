import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { withPaymentTestShop } from '../support/shop/payment-test-shop.ts';
import { useConsoleBrowser } from './console-browser.ts';
import { navigateInConsole } from './visit-pages.ts';

const wide = { width: 1280, height: 860 };
const narrow = { width: 390, height: 860 };

describe.skipIf(!hasChromium)('the console in narrow windows', { timeout: 120_000 }, () => {
  const shop = withPaymentTestShop();
  const browser = useConsoleBrowser({
    get origin() {
      return shop.mandate.origin;
    },
  });
  const openAsAdmin = async (path: string) => browser.openAs(await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'admin'), path);

  test('shows the content of hidden columns in a second line', async () => {
    const { id } = await shop.placePaidOrder();
    await shop.shop.createProduct({ name: 'Sketch', status: 'draft' });
    const page = await openAsAdmin('/orders');
    const order = page.getByRole('row', { name: `#${id}` });
    await order.waitFor();
    expect(await order.innerText()).toMatch(/^#\d+\s+this minute\s.*\sPaid\s+Not shipped\s+€5.10$/);
    await page.setViewportSize(narrow);
    expect(await order.innerText()).toMatch(/^#\d+\s+this minute\s[^]*\sPaid\s+Not shipped\s+€5.10$/);
    const paid = await order.getByText('Paid', { exact: true }).boundingBox();
    const notShipped = await order.getByText('Not shipped').first().boundingBox();
    expect((notShipped?.y ?? 0) - (paid?.y ?? 0) - (paid?.height ?? 0)).toBeGreaterThanOrEqual(4);

    await navigateInConsole(page, '/products');
    const product = page.getByRole('row', { name: 'Sketch' });
    await expect.poll(() => product.innerText()).toMatch(/^Sketch\s[^]*\sDraft\s/);

    await navigateInConsole(page, '/customers');
    const customer = page.getByRole('row', { name: 'Ben Test' });
    await expect.poll(() => customer.innerText()).toMatch(/^Ben Test\s+ben\S+@example.com\s+Active$/);
    await page.setViewportSize(wide);
    expect(await customer.innerText()).toMatch(/^Ben Test\s+ben\S+@example.com\s+Active\s+this minute$/);
    expect(browser.pageErrors).toEqual([]);
  });

  test.for([
    ['de', 'Anfragen in diesem Monat'],
    ['fr', 'Requêtes ce mois-ci'],
  ] as const)('wraps the names of columns and rows instead of cutting them, in %s', async ([language, requests]) => {
    const page = await browser.openAs(await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'admin'), '/applications', language);
    await page.setViewportSize(narrow);
    await page.getByRole('columnheader', { name: requests }).waitFor();
    const table = page.getByRole('table');
    await expect.poll(async () => ((await table.boundingBox())?.x ?? 0) + ((await table.boundingBox())?.width ?? 0)).toBeLessThan(390);
    expect(await table.locator('td').evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length)).toBe(0);
  });

  test('shows the text about a page between its title and its actions', async () => {
    const customer = await shop.shop.createUser();
    const page = await openAsAdmin(`/customers/${customer.id}`);
    const email = page.getByText(customer.email).first();
    const edit = page.getByRole('button', { name: 'Edit' });
    const tops = async () => [(await email.boundingBox())?.y ?? 0, (await edit.boundingBox())?.y ?? 0] as const;
    await email.waitFor();
    await edit.waitFor();
    const [wideEmail, wideEdit] = await tops();
    expect(wideEmail).toBeGreaterThan(wideEdit);
    await page.setViewportSize(narrow);
    const [narrowEmail, narrowEdit] = await tops();
    expect(narrowEmail).toBeLessThan(narrowEdit);
  });
});
