import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../support/browser/chromium.ts';
import { obtainTokens, signUp, signUpWithRole } from '../support/oauth/oauth-flow.ts';
import { connectRequestingApplication, requestApprovalOf60 } from '../support/shop/approval-requests.ts';
import { runPendingTasks } from '../support/shop/run-tasks.ts';
import { withShop } from '../support/shop/with-shop.ts';
import type { JsonBody } from '../support/server/start-mandate.ts';
import { checkPageAccessibilityAndLayout, useConsoleBrowser, withdrawPreapproval } from './console-browser.ts';

const run = promisify(execFile);

describe.skipIf(!hasChromium)('products, customers and applications in the console', { timeout: 120_000 }, () => {
  const shop = withShop();
  const browser = useConsoleBrowser(shop);
  let page: Page;
  beforeAll(async () => {
    page = await browser.openAs(await signUpWithRole(shop.db, shop.origin, 'admin'));
  }, 60_000);

  const open = (path: string): Promise<unknown> => page.goto(`${shop.origin}/console${path}`);
  const button = (name: string | RegExp, scope: Page | Locator = page): Locator => scope.getByRole('button', { name, exact: true });
  const dialog = (): Locator => page.getByRole('dialog');
  const alert = (): Locator => page.getByRole('alert').filter({ hasText: 'Someone else has changed this data' });
  const call = async (method: string, path: string, body?: JsonBody): Promise<JsonBody> => {
    const response = await shop.callApi(method, `/api/v1${path}`, { token: shop.token, ...(body !== undefined && { body }) });
    expect(response.status, response.text).toBeLessThan(300);
    return response.body;
  };

  test("a price is changed in the list, and another user's change is shown as a difference", async () => {
    const product = await shop.createProduct({ name: 'Blue mug', price: 255 });
    await open('/products?q=blue');
    await button('Change the price of Blue mug, currently €2.55').click();
    await dialog().getByLabel('Price').fill('3,10');
    await button('Save', dialog()).click();
    await button('Change the price of Blue mug, currently €3.10').click();
    await call('PATCH', `/products/${product.id}`, { price: 400 });
    await dialog().getByLabel('Price').fill('5');
    await button('Save', dialog()).click();
    await alert().waitFor();
    expect(await alert().locator('tbody').textContent()).toBe('Price€4.00€5.00');
    expect(await call('GET', `/products/${product.id}`)).toMatchObject({ price: 400 });
    await checkPageAccessibilityAndLayout(page, 'products conflict');
    await button('Save my changes', dialog()).click();
    await button('Change the price of Blue mug, currently €5.00').waitFor();
    expect(await call('GET', `/products/${product.id}`)).toMatchObject({ price: 500 });
  });

  test('a stock count is saved as an adjustment, which takes units sold in the meantime into account', async () => {
    const product = await shop.createProduct({ name: 'Green mug', stock: 10, category: 'kitchen' });
    await open('/products?q=green');
    await button('Change the stock of Green mug, currently 10').click();
    await call('POST', `/products/${product.id}/stock-adjustments`, { delta: -3, reason: 'damaged' });
    await dialog().getByLabel('Units in stock').fill('12');
    await button('Save', dialog()).click();
    await alert().waitFor();
    expect(await alert().locator('tbody').textContent()).toBe('Stock712');
    await button('Keep the saved values', dialog()).click();
    await button('Change the stock of Green mug, currently 7').click();
    await dialog().getByLabel('Units in stock').fill('12');
    await dialog().getByLabel('Reason').selectOption('Goods received');
    await button('Save', dialog()).click();
    await button('Change the stock of Green mug, currently 12').waitFor();
    await open(`/products/${product.id}`);
    const history = page.getByRole('table', { name: 'Adjustments' });
    await history.getByText('+5').waitFor();
    expect(await history.locator('tbody tr').count()).toBe(3);
    await checkPageAccessibilityAndLayout(page, 'product');
    await open('/products');
    await page.getByLabel('Category').selectOption('kitchen');
    await page.getByRole('link', { name: /Green mug/ }).waitFor();
    await page.getByRole('link', { name: /Blue mug/ }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?category=kitchen');
    await checkPageAccessibilityAndLayout(page, 'products');
  });

  test('a product is created as a draft, changed, put up for sale and archived', async () => {
    await open('/products/new');
    await page.getByLabel('SKU').fill('MUG-3');
    await page.getByLabel('Name').fill('Red mug');
    await page.getByRole('combobox', { name: 'Category' }).fill('Not valid');
    await page.getByLabel('Price').fill('4.50');
    await expect.poll(() => page.getByLabel('Currency').inputValue()).toBe('EUR');
    await page.getByLabel('Status').selectOption('Draft');
    await button('Create product').click();
    await page.getByText('must be lowercase words').waitFor();
    await checkPageAccessibilityAndLayout(page, 'new product with an error');
    await page.getByRole('combobox', { name: 'Category' }).fill('kitchen');
    await button('Create product').click();
    await page.getByRole('heading', { name: 'Red mug' }).waitFor();
    await page.getByLabel('Description').fill('Holds 300 ml.');
    await page.getByLabel('Tax rate').fill('5.5');
    await button('Save').click();
    await page.getByText('The product has been saved.').waitFor();
    await button('List for sale').click();
    await button('Archive').click();
    await button('Archive', dialog()).click();
    await page.getByText('Archived', { exact: true }).waitFor();
    const { data } = await call('GET', '/products?sku=MUG-3&status=archived');
    expect(data).toMatchObject([{ description: 'Holds 300 ml.', tax_rate_bps: 550, price: 450, currency: 'EUR', category: 'kitchen' }]);
  });

  test('products are imported after a preview', async () => {
    await open('/products/import');
    const content = 'sku,name,category,price\nIMP-1,Cup,kitchen,1.50\nIMP-2,Plate,kitchen,2\nIMP-3,,Kitchen,cheap\n';
    await page.locator('input[type=file]').setInputFiles({ name: 'products.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
    await button('Check the file').click();
    await page.getByText('Waiting to start…').waitFor();
    await button('Cancel the import').waitFor(); // the file has been uploaded, and the task exists
    await runPendingTasks(shop);
    await page.getByRole('heading', { name: 'Preview of the result' }).waitFor();
    expect(await page.getByRole('status').locator('dl').textContent()).toBe(
      'Will be created2Will be updated0Will remain unchanged0Rejected rows1',
    );
    expect((await call('GET', '/products?sku=IMP-1&status=draft')).data).toEqual([]);
    const problems = await page.locator('tbody').innerText();
    expect(problems).toContain('4\tName\tA value is missing.');
    expect(problems).toContain('4\tCategory\tEnter lowercase words joined by hyphens, such as hot-drinks.');
    expect(problems).toContain('4\tPrice\tEnter an amount such as 4.50, with a decimal point and without a currency symbol.');
    await checkPageAccessibilityAndLayout(page, 'import preview');
    await button('Import 2 products').click();
    await expect.poll(() => runPendingTasks(shop)).toBe(1);
    await page.getByRole('heading', { name: 'The import is complete' }).waitFor();
    expect((await call('GET', '/products?sku=IMP-1&status=draft')).data).toMatchObject([{ name: 'Cup', price: 150, currency: 'EUR' }]);
  });

  test('a customer is added, found, changed, suspended and closed', async () => {
    await open('/customers');
    await button('Add customer').click();
    await dialog().getByLabel('Name').fill('Clara Test');
    await dialog().getByLabel('E-mail address').fill('clara@example.com');
    await checkPageAccessibilityAndLayout(page, 'new customer');
    await button('Add customer', dialog()).click();
    await page.getByRole('heading', { name: 'Clara Test' }).waitFor();
    const userId = Number(new URL(page.url()).pathname.split('/').at(-1));
    await shop.placeOrder({ user_id: userId });
    await button('Edit').click();
    await call('PATCH', `/users/${userId}`, { name: 'Clara Smith' });
    await dialog().getByLabel('Name').fill('Clara Jones');
    await button('Save', dialog()).click();
    await alert().waitFor();
    expect(await alert().locator('tbody').textContent()).toBe('NameClara SmithClara Jones');
    await button('Save my changes', dialog()).click();
    await page.getByRole('heading', { name: 'Clara Jones' }).waitFor();
    await button('Suspend').click();
    await button('Suspend', dialog()).click();
    await page.getByText('Account suspended').waitFor();
    await page.reload();
    await page.getByRole('link', { name: /^#\d+$/ }).waitFor();
    await checkPageAccessibilityAndLayout(page, 'customer');
    await button('Reactivate').click();
    await button('Close account').click();
    await button('Close account', dialog()).click();
    await dialog().getByText('The user has open orders').waitFor();
    await button('Cancel', dialog()).click();
    await open('/customers');
    await page.getByRole('searchbox').fill('clara@example.com');
    await page.getByText('1 row', { exact: true }).waitFor();
    await checkPageAccessibilityAndLayout(page, 'customers');
    const other = await shop.createUser();
    await open(`/customers/${other.id}`);
    await button('Close account').click();
    await button('Close account', dialog()).click();
    await page.getByRole('heading', { name: 'Closed account' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
  });

  test('the connected applications, sessions and approvals of a customer are shown', async () => {
    const anna = await signUp(shop.origin);
    const app = await connectRequestingApplication(shop, anna);
    await requestApprovalOf60(app);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['api_keys.manage', 'users.read']);
    const key = { name: 'Backup', scopes: ['users.read'] };
    expect((await shop.callApi('POST', '/api/v1/api-keys', { token, body: key })).status).toBe(201);
    await open(`/customers/${anna.id}`);
    await page.getByRole('list', { name: 'API keys' }).getByText('Backup').waitFor();
    const apps = page.getByRole('list', { name: 'Connected applications' });
    await apps.getByText('Place, change and cancel orders for the user').waitFor();
    await apps.getByText('Up to €50.00 per order').waitFor();
    await apps.getByText('€0.00 of €200.00 spent this month (limit set by the customer)').waitFor();
    await page.getByRole('list', { name: 'Signed-in browsers' }).getByRole('listitem').first().waitFor();
    await checkPageAccessibilityAndLayout(page, 'customer with applications');
    await open('/orders');
    await page.getByRole('link', { name: 'Approvals' }).click();
    const row = page.getByRole('row', { name: 'Test application' });
    await row.getByText('Waiting').waitFor();
    await row.getByText('Over the per-order limit').waitFor();
    await checkPageAccessibilityAndLayout(page, 'approvals');
    await page.getByRole('link', { name: 'Declined' }).click();
    await page.getByText('No matches').waitFor();
    await page.getByRole('link', { name: 'Waiting' }).click();
    await row.getByRole('link', { name: 'Anna Test' }).click();
    await page.getByRole('heading', { name: 'Anna Test' }).waitFor();
  });

  test('a registered application gets a secret and working code', async () => {
    await open('/applications');
    await page.getByRole('link', { name: 'Register application' }).click();
    await page.getByLabel('Name').fill('Stock robot');
    await page.getByRole('radio', { name: 'Program that acts for the shop' }).check();
    await checkPageAccessibilityAndLayout(page, 'register application kind');
    await button('Next').click();
    await page.getByRole('checkbox', { name: 'Add and change products and their stock' }).check();
    await checkPageAccessibilityAndLayout(page, 'register application scopes');
    await button('Next').click();
    await page.getByLabel('Requests per month').fill('1000');
    await page.getByLabel('Per order').fill('25');
    await button('Register application').click();
    await page.getByRole('heading', { name: 'Stock robot has been registered' }).waitFor();
    await checkPageAccessibilityAndLayout(page, 'register application secret');
    const code = await page.getByRole('region', { name: 'Example in curl' }).textContent();
    const { stdout } = await run('bash', ['-c', code ?? '']);
    expect(JSON.parse(stdout)).toMatchObject({ scopes: ['products.write'] });
    await page.getByRole('link', { name: 'Show the application' }).click();
    await page.getByText('Add and change products and their stock').waitFor();
    await page.getByText('of 1,000').waitFor();
    await page.getByText('€25.00').or(page.getByText('£25.00')).waitFor();
    await checkPageAccessibilityAndLayout(page, 'application');
    await button('Rotate secret').click();
    await button('Rotate secret', dialog()).click();
    await dialog().getByText('The previous secret is valid until').waitFor();
    const secret = await dialog().getByLabel('Client secret').inputValue();
    await button('Done', dialog()).click();
    expect(code).not.toContain(secret);
    await button('Edit: Permissions').click();
    await dialog().getByRole('checkbox', { name: 'Refund customers' }).check();
    await button('Save', dialog()).click();
    await page.getByRole('main').getByText('Refund customers').waitFor();
    await button('Disable').click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    await button('Delete').click();
    await button('Delete', dialog()).click();
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    await page.getByRole('row', { name: 'Console' }).getByText('Operated by the shop').waitFor();
    expect(await page.getByRole('link', { name: 'Stock robot' }).count()).toBe(0);
    await checkPageAccessibilityAndLayout(page, 'applications');
    expect(await page.locator('td').evaluateAll((cells) => cells.some((cell) => cell.scrollWidth > cell.clientWidth))).toBe(false);
  });

  test('an application whose requests need neither PKCE nor a nonce is marked', async () => {
    const website = {
      name: 'Old forum',
      type: 'confidential',
      redirect_uris: ['https://forum.example/cb'],
      grant_types: ['authorization_code'],
      scopes: [],
    };
    const { id } = await call('POST', '/applications', { ...website, allow_neither_pkce_nor_nonce: true });
    await open(`/applications/${id}`);
    await page.getByText('Neither PKCE nor a nonce', { exact: true }).waitFor();
    expect(await page.getByRole('main').textContent()).toContain(
      'Intended for certification tests and for clients that cannot be changed. Not recommended',
    );
    await checkPageAccessibilityAndLayout(page, 'application without PKCE');
    await call('PATCH', `/applications/${id}`, { allow_neither_pkce_nor_nonce: false, allow_nonce_instead_of_pkce: true });
    await open(`/applications/${id}`);
    await page.getByText('PKCE or a nonce', { exact: true }).waitFor();
  });

  test('staff see only the actions that their scopes permit', async () => {
    const product = await shop.createProduct({ name: 'White mug' });
    const customer = await shop.createUser();
    await withdrawPreapproval(shop);
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const limited = await browser.openAndConsent(staff, ['users.manage'], '/customers');
    await limited.getByRole('heading', { name: 'Customers' }).waitFor();
    expect(await limited.getByRole('navigation').getByRole('link').allTextContents()).not.toContain('Applications');
    await limited.goto(`${shop.origin}/console/customers/${customer.id}`);
    await button('Suspend', limited).waitFor();
    expect(await limited.getByRole('main').getByRole('button').allTextContents()).toEqual(['Edit', 'Suspend']);
    expect(await limited.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Connected applications',
      'Account',
      'Signed-in browsers',
    ]);
    await limited.goto(`${shop.origin}/console/products`);
    await limited.getByRole('link', { name: /White mug/ }).waitFor();
    expect(await limited.getByRole('main').getByRole('button').allTextContents()).toEqual(['Views']);
    const isProductList = (url: URL): boolean => url.pathname === '/api/v1/products';
    await limited.route(isProductList, (route) => route.fulfill({ json: { data: [], next_cursor: null } }));
    await limited.reload();
    await limited.getByText('No products yet').waitFor();
    expect(await limited.getByText('Create a product').count()).toBe(0);
    await limited.unroute(isProductList);
    await limited.goto(`${shop.origin}/console/products/${product.id}`);
    await limited.getByRole('heading', { name: 'White mug' }).waitFor();
    expect(await limited.getByRole('main').getByRole('button').count()).toBe(0);
    for (const path of ['/products/new', '/products/import', '/applications', '/applications/new']) {
      await limited.goto(`${shop.origin}/console${path}`);
      await limited.getByRole('heading', { name: 'Page not found' }).waitFor();
    }
  });

  test('the pages cause no errors', () => {
    expect(browser.pageErrors).toEqual([]);
  });
});
