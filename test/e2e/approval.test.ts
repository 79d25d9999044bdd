import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { callMcpTool, connectMcpClient } from '../support/mcp/mcp-client.ts';
import { signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import { readMailLink } from '../support/services/mailbox.ts';
import { connectRequestingApplication } from '../support/shop/approval-requests.ts';
import { buildOrderInput } from '../support/shop/test-shop.ts';
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
    await page.getByLabel('Name for the new passkey').fill('Telephone');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Telephone', { exact: true }).waitFor();
  }

  async function signInByPasskey(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  }

  async function lowerLimitTo50(page: Page): Promise<void> {
    await page.goto(`${shop.origin}/account/apps`);
    await page.getByRole('link', { name: 'Limits for orders by Test application' }).click();
    await page.getByLabel('Maximum per order').fill('50');
    await page.getByRole('button', { name: 'Save the limits' }).click();
    await page.getByText('At most €50.00 per order').waitFor();
  }

  test('is placed after the customer has lowered the limit, opened the e-mail and approved with a passkey, while the application waits', async () => {
    const anna = await signUp(shop.origin);
    const app = await connectRequestingApplication(shop, anna, { limits: { currency: 'EUR', per_order: 10_000 } });
    const page = await openDevice();
    await addPasskey(page, anna);
    await page.goto(`${shop.origin}/account/approvals`);
    await page.getByRole('link', { name: 'Sign in with a second factor' }).click();
    await signInByPasskey(page);
    await page.getByLabel(/Second factor above this amount/).fill('20');
    await page.getByRole('button', { name: 'Save the amount' }).click();
    await page.getByText('The amount has been saved.').waitFor();
    const quote = await app.createQuote(6000);
    expect(quote.limits).toMatchObject({ exceeded: null, per_order: 10_000 });
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
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${shop.origin}/sign-in?next=/account/approvals`);
    await page.getByLabel('E-mail address').fill(anna.email);
    await page.getByLabel('Password', { exact: true }).fill(anna.password);
    await page.keyboard.press('Enter');
    await page.getByText('No application has asked for your approval.').waitFor();
    const { body: approval } = await app.requestApproval((await app.createQuote(6000)).id);
    await page.getByRole('link', { name: /View the request/ }).click();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('You declined this order.').waitFor();
    expect((await app.call('GET', `/approvals/${approval.id}`)).body.status).toBe('declined');
    await page.context().close();
  });
});

test('an assistant spends its budget, is rejected, requests an approval, and orders after the approval', async () => {
  const anna = await signUp(shop.origin);
  const consentForm = { decision: 'allow', limit_currency: 'EUR', limit_per_period: '50', limit_period: 'month' };
  const suffix = '?tools=orders,quotes,approvals';
  const assistant = await connectMcpClient(shop.origin, anna, ['orders.read', 'orders.write'], { consentForm, suffix });
  const order = async (price: number) => buildOrderInput([await shop.createProduct({ price }), 1]);
  expect((await callMcpTool(assistant, 'orders_create', await order(4500))).isError).toBe(false);

  const tooMuch = await order(2000);
  const rejected = await callMcpTool(assistant, 'orders_create', tooMuch);
  expect(rejected).toMatchObject({ isError: true, body: { code: 'limit_exceeded' } });
  for (const tool of ['quotes_create', 'approvals_create']) expect(rejected.text).toContain(tool);

  const quote = await callMcpTool(assistant, 'quotes_create', tooMuch);
  const requested = await callMcpTool(assistant, 'approvals_create', { quote_id: quote.body.id, message: 'The printer needs paper.' });
  expect(requested.body).toMatchObject({ status: 'pending', reason: { code: 'per_period', limit: 5000, spent: 4500 } });
  const early = await callMcpTool(assistant, 'orders_create', { quote_id: quote.body.id });
  expect([early.isError, early.text]).toEqual([true, expect.stringMatching(/approval \d+ of this order is pending.*`approvals_get`/)]);
  expect(early.text, 'no offer of another request').not.toContain('approvals_create');

  const waiting = callMcpTool(assistant, 'approvals_get', { approval_id: requested.body.id, wait: 30 });
  const page = await anna.browser.open(await readMailLink(shop.origin, anna.email));
  await anna.browser.submit(page, { decision: 'approve' });
  expect((await waiting).body).toMatchObject({ status: 'approved' });
  const placed = await callMcpTool(assistant, 'orders_create', { quote_id: quote.body.id });
  expect([placed.isError, placed.body.total]).toEqual([false, 2000]);
  await assistant.close();
});
