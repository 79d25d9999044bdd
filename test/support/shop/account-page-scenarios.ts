import type { Page } from 'playwright-core';
import { HttpBrowser } from '../browser/browser.ts';
import { startDeviceAuthorization } from '../oauth/device-flow.ts';
import { obtainLimitedTokens } from '../oauth/limited-tokens.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  obtainTokens,
  signUp,
  signUpWithRole,
  type TestUser,
} from '../oauth/oauth-flow.ts';
import { longUserName, signInAs, type OpenPage } from '../oauth/page-scenarios.ts';
import type { RunningServer } from '../server/use-server.ts';
import { deliveryAddress, loadSharedTestShop } from './test-shop.ts';

const userAgents = {
  phone: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/604.1',
  laptop: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
} as const;

/** Returns functions that open account pages with orders, applications and sessions. */
export function createAccountPageScenarios(server: RunningServer): Record<string, OpenPage> {
  const openAs =
    (prepare: (anna: TestUser) => Promise<string>, name?: string): OpenPage =>
    async (page) => {
      await loadSharedTestShop(server);
      const anna = await signUp(server.origin, name === undefined ? {} : { name });
      const path = await prepare(anna);
      await signInAs(server, page, anna);
      await page.goto(server.origin + path);
    };

  return {
    'account home': openAs(async (anna) => {
      await allowTwice(anna);
      await placeOrders(anna);
      return '/account';
    }),
    orders: openAs(async (anna) => {
      await placeOrders(anna);
      return '/account/orders';
    }),
    'no orders': openAs(async () => '/account/orders'),
    order: openAs(async (anna) => `/account/orders/${await placeOrders(anna)}`, longUserName),
    profile: openAs(async () => '/account/profile', longUserName),
    'profile with errors': async (page) => {
      await openAs(async () => '/account/profile')(page);
      await page.getByLabel('Your name').fill('');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
    'profile saved': async (page) => {
      await openAs(async () => '/account/profile')(page);
      await page.keyboard.press('Tab');
      await page.getByLabel('Your name').fill('Anna New');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Your name has been saved' }).waitFor();
    },
    language: openAs(async () => '/account/language'),
    'applications on several devices': openAs(async (anna) => {
      await allowTwice(anna);
      return '/account/apps';
    }),
    'limits of an application': async (page) => {
      await openAs(async (anna) => {
        await allowTwice(anna);
        return '/account/apps';
      })(page);
      await page
        .getByRole('link', { name: /Order limits/ })
        .first()
        .click();
      await page.getByRole('button', { name: 'Save order limits' }).waitFor();
    },
    'form expired': async (page) => {
      await openAs(async () => '/account/sessions')(page);
      await page.locator('[name=csrf]').evaluateAll((fields) => {
        for (const field of fields) field.setAttribute('value', 'expired');
      });
      await page.getByRole('button', { name: 'Sign out everywhere' }).last().click();
      await page.getByRole('heading', { name: 'Nothing was changed' }).waitFor();
    },
    'sessions in several browsers': openAs(async (anna) => {
      for (const device of ['phone', 'laptop'] as const) await signInWith(device, anna);
      return '/account/sessions';
    }),
    'sign-in while signed in': openAs(async () => '/sign-in', longUserName),
    'sign-in for an application while signed in': openAs(async () =>
      authorizationPath(buildAuthorizationRequest({ prompt: 'login' }).query),
    ),
    'consent with permissions that the account cannot give': openAs(async () => {
      const { clientId, redirectUri } = await createWebApplication(server.db, ['orders.read', 'orders.manage', 'audit.read']);
      const scope = 'openid offline_access orders.read orders.manage audit.read';
      return authorizationPath(buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope }).query);
    }),
    'consent with requested limits': openAs(async () => {
      const details = [{ type: 'mandate_orders', limits: { currency: 'EUR', per_order: 2500, per_period: 10_000, period: 'month' } }];
      const parameters = { scope: 'openid orders.read orders.write', authorization_details: JSON.stringify(details) };
      return authorizationPath(buildAuthorizationRequest(parameters).query);
    }),
    'device link with an unknown code': openAs(async () => '/oauth/device?user_code=BBBB-BBBB'),
    'device link of a visitor': async (page: Page) => {
      const { verification_uri_complete: link } = await startDeviceAuthorization(server.origin);
      await page.goto(link);
    },
    'account home of an administrator': async (page) => {
      await signInAs(server, page, await signUpWithRole(server.db, server.origin, 'admin'));
      await page.goto(`${server.origin}/account`);
    },
  };

  /** Signs in on a second device, and returns its browser. */
  async function signInWith(device: keyof typeof userAgents, { email, password }: TestUser): Promise<HttpBrowser> {
    const send = (url: URL, init: RequestInit): Promise<Response> => {
      const headers = new Headers(init.headers);
      headers.set('user-agent', userAgents[device]);
      return fetch(url, { ...init, headers });
    };
    const browser = new HttpBrowser(server.origin, undefined, send);
    await browser.submit(await browser.open('/sign-in'), { email, password });
    return browser;
  }

  /** Connects two applications on two devices; the application on the phone has order limits. */
  async function allowTwice(anna: TestUser): Promise<void> {
    const limits = { currency: 'EUR', per_order: 3000, per_period: 5000, period: 'month' };
    const phone = { browser: await signInWith('phone', anna) };
    await obtainLimitedTokens(server.origin, phone, ['orders.read', 'orders.write', 'payments.write'], { limits });
    await obtainTokens(server.origin, { browser: await signInWith('laptop', anna) }, ['orders.read']);
  }

  /** Places orders in different states, and returns the ID of the last one. */
  async function placeOrders(anna: TestUser): Promise<number> {
    const shop = await loadSharedTestShop(server);
    const { access_token: token } = await obtainTokens(server.origin, anna, ['orders.write', 'payments.write']);
    const name = 'Hand-painted porcelain teapot with a bamboo handle and four matching cups';
    const product = await shop.createProduct({ name, price: 123_456 });
    const canceled = await shop.placeOrder({}, token);
    await server.callApi('POST', `/api/v1/orders/${canceled['id']}/cancellation`, { token: shop.token, body: { reason: 'staff' } });
    await shop.placeOrder({}, token);
    const items = [
      { product_id: product['id'], quantity: 2 },
      { product_id: (await shop.createProduct())['id'], quantity: 1 },
    ];
    const delivery = { method: 'standard', recipient_name: longUserName.slice(0, 100), ...deliveryAddress };
    const order = await shop.placeOrder({ items, delivery, reference: 'PO-2026-0042', note: 'Please ring twice.' }, token);
    return Number(order['id']);
  }
}
