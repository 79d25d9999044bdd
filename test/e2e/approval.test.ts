import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { limitedRequestOfApplication, redeemCodeOfApplication } from '../support/oauth/limited-tokens.ts';
import { authorizationPath, buildAuthorizationRequest, createWebApplication, signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import { readMailLink } from '../support/services/mailbox.ts';
import {
  connectRequestingApplication,
  createRequestingApplication,
  requestingApplicationScopes,
  type RequestingApplication,
} from '../support/shop/approval-requests.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { useEventJobs } from '../support/webhooks/use-event-jobs.ts';

const shop = withShop();
useEventJobs(shop);

describe.skipIf(!hasChromium)('an order above a limit', { timeout: 120_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Opens a page with a virtual authenticator that verifies the user. */
  async function openDevice(): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const options = { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true } as const;
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    });
    return page;
  }

  async function addPasskey(page: Page, { email, password }: TestUser): Promise<void> {
    await page.goto(`${shop.origin}/sign-in?next=/account/security`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await page.getByLabel('Passkey name').fill('Telephone');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Telephone', { exact: true }).waitFor();
  }

  /** Opens an account page in a new browser profile, and signs in with the password. */
  async function openSignedIn({ email, password }: TestUser, path: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${shop.origin}/sign-in?next=${path}`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    return page;
  }

  async function signInByPasskey(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  }

  /**
   * Opens the authorization request of an application that requests a limit of 100 euros per order, lowers the limit to 80 euros on the
   * consent page, and allows the request.
   */
  async function authorizeWithLowerLimit(page: Page): Promise<RequestingApplication> {
    const client = await createWebApplication(shop.db, requestingApplicationScopes);
    const requested = { limits: { currency: 'EUR', per_order: 10_000 } };
    const { query, verifier } = buildAuthorizationRequest(limitedRequestOfApplication(client, requestingApplicationScopes, requested));
    await page.goto(shop.origin + authorizationPath(query));
    await page.getByText('Test application wants to place orders of at most €100.00 each').waitFor();
    await page.getByLabel('Maximum per order').fill('80');
    // the application does not exist, so the redirect to it fails
    const redirect = page.waitForEvent('requestfailed', (request) => request.url().startsWith(`${client.redirectUri}?`));
    await page.getByRole('button', { name: 'Allow' }).click();
    const code = new URL((await redirect).url()).searchParams.get('code') ?? '';
    const tokens = await redeemCodeOfApplication(shop.origin, client, { code, verifier });
    expect(tokens.authorization_details).toMatchObject([{ limits: { currency: 'EUR', per_order: 8000 } }]);
    return createRequestingApplication(shop, client.clientId, tokens.access_token);
  }

  async function lowerLimitTo50(page: Page): Promise<void> {
    await page.goto(`${shop.origin}/account/apps`);
    await page.getByRole('link', { name: 'Order limits for Test application' }).click();
    await page.getByLabel('Maximum per order').fill('50');
    await page.getByRole('button', { name: 'Save order limits' }).click();
    await page.getByText('At most €50.00 per order').waitFor();
  }

  test('is placed after the customer has lowered the limit twice, opened the e-mail and approved with a passkey, while the application waits', async () => {
    const anna = await signUp(shop.origin);
    const page = await openDevice();
    await addPasskey(page, anna);
    await page.goto(`${shop.origin}/account/approvals`);
    await page.getByRole('link', { name: 'Sign in with a second factor' }).click();
    await signInByPasskey(page);
    await page.getByLabel(/Require a second factor above this amount/).fill('20');
    await page.getByRole('button', { name: 'Save amount' }).click();
    await page.getByText('The amount has been saved.').waitFor();
    const app = await authorizeWithLowerLimit(page);
    const above = await app.orderFromQuote((await app.createQuote(8001)).id);
    expect([above.status, above.body.errors]).toMatchObject([403, [{ code: 'limit_exceeded', limit: 8000 }]]);
    const quote = await app.createQuote(6000);
    expect(quote.limits).toMatchObject({ exceeded: null, per_order: 8000 });
    await lowerLimitTo50(page);
    await page.context().clearCookies();

    const rejected = await app.orderFromQuote(quote.id);
    expect([rejected.status, rejected.body.errors]).toMatchObject([403, [{ code: 'limit_exceeded', limit: 5000, approvable: true }]]);
    const { body: approval } = await app.requestApproval(quote.id);
    const waiting = app.call('GET', `/approvals/${approval.id}?wait=30`);
    await page.goto(await readMailLink(shop.origin, anna.email));
    await page.getByLabel('E-mail address').fill(anna.email);
    await page.getByLabel('Password', { exact: true }).fill(anna.password);
    await page.keyboard.press('Enter');
    await page.getByText('For this amount, sign in with a passkey').waitFor();
    await page.getByRole('link', { name: 'Sign in again to approve' }).click();
    await signInByPasskey(page);
    await page.getByRole('button', { name: 'Approve the order' }).click();
    await page.getByText('You approved this order. It has not been placed yet.').waitFor();
    expect((await waiting).body.status).toBe('approved');
    expect((await app.orderFromQuote(quote.id)).status).toBe(201);
    // The page shows the order without being reloaded.
    await page.getByText('and it has been placed').waitFor();
    await page.context().close();
  });

  test('appears on the open page of the customer, who declines it', async () => {
    const anna = await signUp(shop.origin);
    const app = await connectRequestingApplication(shop, anna);
    const page = await openSignedIn(anna, '/account/approvals');
    await page.getByText('No application has asked for your approval.').waitFor();
    const { body: approval } = await app.requestApproval((await app.createQuote(6000)).id);
    await page.getByRole('link', { name: /wants to place an order/ }).click();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('You declined this order.').waitFor();
    expect((await app.call('GET', `/approvals/${approval.id}`)).body.status).toBe('declined');
    await page.context().close();
  });

  test("appears beside the orders of the customer, who approves it and follows the order's status without reloading a page", async () => {
    const anna = await signUp(shop.origin);
    const app = await connectRequestingApplication(shop, anna);
    const home = await openSignedIn(anna, '/account');
    await home.getByText('You have no orders yet.').waitFor();
    const orders = await home.context().newPage();
    await orders.goto(`${shop.origin}/account/orders`);
    const quote = await app.createQuote(6000);
    await app.requestApproval(quote.id);
    await home.getByText('One order is waiting for your decision.').waitFor();
    await orders.getByText('Waiting for your decision').waitFor();
    const decision = await home.context().newPage();
    await decision.goto(`${shop.origin}${await home.getByRole('link', { name: /wants to place an order/ }).getAttribute('href')}`);
    await decision.getByRole('button', { name: 'Approve the order' }).click();
    await home.getByText('No order is waiting for your decision.').waitFor();
    const { body: order } = await app.orderFromQuote(quote.id);
    for (const page of [home, orders])
      await page.getByRole('link', { name: new RegExp(`^Order ${order.id} .*Waiting for payment`) }).waitFor();

    await orders.getByRole('link', { name: `Order ${order.id}` }).focus();
    const call = { token: shop.token, body: { provider: 'manual' } };
    const { body: payment } = await shop.callApi('POST', `/api/v1/orders/${order.id}/payments`, call);
    await shop.callApi('POST', `/api/v1/payments/${payment.id}/confirmation`, { token: shop.token, body: {} });
    await home.getByRole('link', { name: new RegExp(`^Order ${order.id} .*Paid`) }).waitFor();
    await orders.getByRole('link', { name: new RegExp(`^Order ${order.id} .*Paid`) }).waitFor();
    // The focus stays on the same link when its text changes.
    await orders.keyboard.press('Enter');
    await orders.getByRole('heading', { name: `Order ${order.id}` }).waitFor();
    await shop.callApi('POST', `/api/v1/orders/${order.id}/shipments`, { token: shop.token, body: { status: 'shipped' } });
    await orders.getByText('Shipped', { exact: true }).waitFor();
    expect(new URL(orders.url()).pathname).toBe(`/account/orders/${order.id}`);
    await home.context().close();
  });
});
