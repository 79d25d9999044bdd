/**
 * Staff with a single scope see only what the scope permits, and the API rejects everything else. The console and the API receive the same
 * tokens: the tests replace the token in the requests of a browser that is signed in.
 */
import { contract, getRolesAllowedForScope, getRouteMetadata, listRoutes, scopeDefinitions, type Scope } from '@mandate/contract';
import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { consoleScopes } from '../../server/applications/ensure-console-client.ts';
import { hasChromium } from '../support/browser/chromium.ts';
import { obtainTokens, signUp, signUpWithRole, type TestUser } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { replaceTokens, useConsoleBrowser } from './console-browser.ts';
import { navigateInConsole } from './visit-pages.ts';

const scopesOfStaff = consoleScopes.filter((scope) => getRolesAllowedForScope(scope).includes('staff'));
const staffOnlyScopes = scopesOfStaff.filter((scope) => scopeDefinitions[scope].admin);
const ownScopes = scopesOfStaff.filter((scope) => !scopeDefinitions[scope].admin);

const pageNames = [
  'home',
  'orders',
  'approvals',
  'unpaid order',
  'paid order',
  'products',
  'product',
  'new product',
  'product import',
  'customers',
  'customer',
  'applications',
  'new application',
  'webhooks',
  'events',
  'API keys',
  'signing keys',
  'audit',
  'grants',
  'branding',
  'delivery methods',
  'staff',
  'backups',
] as const;
type PageName = (typeof pageNames)[number];
type Actions = Partial<Record<PageName, readonly string[]>>;

/** Pages that need no scope. */
const open: Actions = { home: [], products: [], product: [] };
const productActions: Actions = {
  products: ['Change the price', 'Change the stock', 'Create product'],
  product: ['Adjust stock', 'Archive'],
  'new product': ['Create product'],
};
const customerActions: Actions = { customers: ['Add customer'], customer: ['Edit', 'Suspend'], staff: [] };
const deliveryActions: Actions = { 'delivery methods': ['Add delivery method', 'Delete', 'Edit'] };
const orderActions = ['Cancel order', 'Edit'];

/**
 * Pages that each scope permits, with their actions. Some scopes permit actions on orders, but have no entry for orders, because they do
 * not permit reading orders.
 */
const actionsByScope: Partial<Record<Scope, Actions>> = {
  'users.manage': { ...open, ...customerActions },
  'products.write': { ...open, ...productActions },
  'orders.manage': { ...open, orders: ['Approvals'], approvals: [], 'unpaid order': orderActions, 'paid order': orderActions },
  'payments.manage': open,
  'refunds.write': open,
  'shipments.write': open,
  'statistics.read': open,
  'settings.write': { ...open, ...deliveryActions },
};
const actionsOfAllScopes: Actions = {
  ...open,
  ...customerActions,
  ...productActions,
  ...deliveryActions,
  products: ['Change the price', 'Change the stock', 'Create product', 'Import'],
  'product import': ['Check the file', 'Choose a file'],
  orders: ['Approvals'],
  approvals: [],
  'unpaid order': ['Cancel order', 'Confirm payment', 'Edit'],
  'paid order': ['Cancel order', 'Edit', 'Refund', 'Ship'],
  webhooks: ['Add endpoint'],
  events: ['Pause'],
  'API keys': ['Create API key'],
};

const shop = withShop();
let staff: TestUser;
beforeAll(async () => {
  staff = await signUpWithRole(shop.db, shop.origin, 'staff');
});

describe('the API, called with a single scope of the console', { timeout: 60_000 }, () => {
  const operations = listRoutes(contract).flatMap((route) => {
    const { operationId, access, internal } = getRouteMetadata(route);
    if (access === 'public' || access === 'token' || internal === true) return [];
    return [{ operationId, access, method: route.method, path: route.path.replaceAll(/:\w+/g, '999999999') }];
  });

  test.each(scopesOfStaff)('%s permits exactly its operations', async (scope) => {
    const { access_token: token } = await obtainTokens(shop.origin, staff, [scope]);
    const send = async ({ operationId, access, method, path }: (typeof operations)[number]) => {
      // The body is invalid for every operation, so that nothing changes.
      const { status, body } = await shop.callApi(method, path, { token, ...(method !== 'GET' && { body: [] }) });
      const isRejected = status === 403 && body.code === 'insufficient_scope';
      return isRejected === access.some((permitted) => permitted === scope) ? [`${operationId}: ${status} ${body.code}`] : [];
    };
    expect((await Promise.all(operations.map(send))).flat()).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('the console', { timeout: 60_000 }, () => {
  const browser = useConsoleBrowser(shop);
  let page: Page;
  let token: string;
  let paths: Readonly<Record<PageName, string>>;
  const rejections: string[] = [];
  const pending = new Set<Request>();
  beforeAll(async () => {
    const [unpaid, paid] = [await shop.placeOrder(), await shop.placeOrder()];
    const call = { token: shop.token, body: { provider: 'manual' } };
    await shop.callApi('POST', `/api/v1/orders/${unpaid['id']}/payments`, call);
    const { body: payment } = await shop.callApi('POST', `/api/v1/orders/${paid['id']}/payments`, call);
    await shop.callApi('POST', `/api/v1/payments/${payment.id}/confirmation`, { token: shop.token, body: {} });
    paths = {
      home: '/',
      orders: '/orders',
      approvals: '/orders/approvals',
      'unpaid order': `/orders/${unpaid['id']}`,
      'paid order': `/orders/${paid['id']}`,
      products: '/products',
      product: `/products/${(await shop.createProduct()).id}`,
      'new product': '/products/new',
      'product import': '/products/import',
      customers: '/customers',
      customer: `/customers/${unpaid['user_id']}`,
      applications: '/applications',
      'new application': '/applications/new',
      webhooks: '/developers/webhooks',
      events: '/developers/events',
      'API keys': '/developers/api-keys',
      'signing keys': '/developers/signing-keys',
      audit: '/audit',
      grants: '/audit/grants',
      branding: '/settings/branding',
      'delivery methods': '/settings/delivery',
      staff: '/settings/staff',
      backups: '/settings/backups',
    };
    page = await browser.openAs(staff);
    page.on('response', (response) => {
      if (response.status() === 403) rejections.push(response.url());
    });
    page.on('request', (request) => {
      if (!request.url().includes('/api/v1/events')) pending.add(request);
    });
    page.on('requestfinished', (request) => pending.delete(request));
    page.on('requestfailed', (request) => pending.delete(request));
    await replaceTokens(page, () => token);
  }, 60_000);

  const openWith = async (user: TestUser, scopes: readonly Scope[]): Promise<void> => {
    ({ access_token: token } = await obtainTokens(shop.origin, user, scopes));
    await page.goto(`${shop.origin}/console`);
    await page.locator('h1').waitFor();
  };

  /** Returns the names of the actions on the page, except those that only change the view. */
  async function listActions(): Promise<string[] | 'not found'> {
    if ((await page.locator('h1').allInnerTexts()).includes('Page not found')) return 'not found';
    const neutral = ['Views', 'Previous', 'Next', 'Cancel', ''];
    const names = await page
      .locator('main button, main .mantine-Button-root')
      .evaluateAll((elements) => elements.map((element) => element.getAttribute('aria-label') ?? element.textContent.trim()));
    const actions = new Set(names.map((name) => name.replace(/ (?:of|“).*/s, '')));
    return [...actions].filter((name) => !neutral.includes(name)).toSorted((a, b) => a.localeCompare(b));
  }

  /** Opens every page, and returns the requests that the API rejected. */
  async function visitPages(expected: Actions): Promise<readonly string[]> {
    for (const name of pageNames) {
      await navigateInConsole(page, paths[name]);
      await expect.poll(listActions, { message: name }).toEqual(expected[name] ?? 'not found');
      // Waits until everything has loaded, because data that is still loading could add actions. A page whose code has not loaded yet has
      // no heading.
      await expect.poll(async () => [pending.size, await page.locator('h1').count()]).toEqual([0, 1]);
      await expect.poll(listActions, { message: name }).toEqual(expected[name] ?? 'not found');
    }
    return rejections;
  }

  test.each(staffOnlyScopes)('shows with %s only the pages and actions that the scope permits', async (scope) => {
    await openWith(staff, [scope]);
    expect(await visitPages(actionsByScope[scope] ?? {})).toEqual([]);
  });

  test('shows the pages and actions of all scopes together', async () => {
    await openWith(staff, scopesOfStaff);
    expect(await visitPages(actionsOfAllScopes)).toEqual([]);
  });

  test.each([
    ['staff', "the scopes that permit access only to the user's own account"],
    ['customer', 'all scopes that customers can have'],
  ])('shows no page to %s with %s', async (role) => {
    await openWith(role === 'staff' ? staff : await signUp(shop.origin), ownScopes);
    for (const name of ['home', 'paid order', 'product', 'customers', 'webhooks', 'branding'] as const) {
      await navigateInConsole(page, paths[name]);
      await page.getByRole('heading', { name: 'Your account has no access to the console' }).waitFor();
      expect([name, await page.getByRole('navigation').count()]).toEqual([name, 0]);
    }
    expect(rejections).toEqual([]);
  });

  test('causes no errors in the browser', () => expect(browser.pageErrors).toEqual([]));
});
