/**
 * Signs in through Keycloak in a real browser. `npm run test:keycloak` downloads Keycloak, so these tests do not run with the other tests.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LinkedAccount } from '../../../server/oauth/linked-accounts/linked-account.entity.ts';
import { launchChromium } from '../../support/browser/chromium.ts';
import { changeIdentityProvider, insertIdentityProvider } from '../../support/identity-providers/fake-identity-provider.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  cliClient,
  readOAuthError,
  redeemCode,
  sendRefreshRequest,
  signUp,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { startMandateServer, type MandateServer } from '../../support/server/start-mandate.ts';
import { Keycloak, keycloakVersion, type KeycloakUser } from './start-keycloak.ts';

requireOneProcess('the tests read the database of the server');

// oxlint-disable-next-line node/no-process-env -- set by the npm script
const isEnabled = process.env['MANDATE_KEYCLOAK_TESTS'] === '1';
if (!isEnabled) process.stderr.write('The tests with Keycloak are skipped: `npm run test:keycloak` downloads it and runs them.\n');

const slug = 'keycloak';
const newKeycloakUser = (username: string): KeycloakUser => ({
  username,
  email: `${username}.${randomUUID()}@example.com`,
  password: randomUUID(),
});

describe.skipIf(!isEnabled)(`Keycloak ${keycloakVersion} as an identity provider`, { timeout: 300_000 }, () => {
  const [paula, carl] = [newKeycloakUser('paula'), newKeycloakUser('carl')];
  let folder: string;
  let mandate: MandateServer;
  let keycloak: Keycloak;
  let browser: Browser;
  let context: BrowserContext | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mandate-keycloak-'));
    mandate = await startMandateServer({ development: true });
    const clientSecret = `keycloak-secret-${randomUUID()}`;
    keycloak = await Keycloak.start(folder, { clientSecret, shopOrigin: mandate.origin, slug, users: [paula, carl] });
    await insertIdentityProvider(mandate.db, { issuer: keycloak.issuer, clientSecret }, { slug, name: 'Keycloak' });
    browser = await launchChromium();
  }, 900_000);
  afterEach(() => context?.close());
  afterAll(async () => {
    await browser?.close();
    await keycloak?.[Symbol.asyncDispose]();
    await mandate?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const openPage = async (path: string): Promise<Page> => {
    context = await browser.newContext({ locale: 'en-US' });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000); // Keycloak's first pages take a long time on a busy machine
    await page.goto(`${mandate.origin}${path}`);
    return page;
  };
  /** Fills in Keycloak's sign-in form. */
  const signInAtKeycloak = async (page: Page, { username, password }: KeycloakUser): Promise<void> => {
    await page.locator('#username').fill(username);
    await page.locator('#password').fill(password);
    await page.locator('#kc-login').click();
  };
  const signInThroughKeycloak = async (user: KeycloakUser): Promise<Page> => {
    const page = await openPage('/sign-in');
    await page.getByRole('button', { name: 'Continue with Keycloak' }).click();
    await signInAtKeycloak(page, user);
    await page.waitForURL(`${mandate.origin}/account`);
    return page;
  };
  const isSignedIn = async (page: Page): Promise<boolean> => {
    await page.goto(`${mandate.origin}/account`);
    return new URL(page.url()).pathname === '/account';
  };

  test('links an account, and a logout at Keycloak ends the session here', async () => {
    const user = await signUp(mandate.origin);
    const page = await openPage('/sign-in');
    await page.getByLabel('E-mail').fill(user.email);
    await page.getByLabel('Password', { exact: true }).fill(user.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`${mandate.origin}/account`);
    await page.goto(`${mandate.origin}/account/security`);
    await page.getByRole('button', { name: 'Link your Keycloak account' }).click();
    await signInAtKeycloak(page, paula);
    await page.waitForURL(`${mandate.origin}/account/security`);
    expect(await page.getByText(`${paula.email} at Keycloak`).isVisible()).toBe(true);
    await context?.close();

    const through = await signInThroughKeycloak(paula);
    expect(await through.getByText(user.email).first().isVisible()).toBe(true);
    await keycloak.logOut(paula.username);
    await expect.poll(() => isSignedIn(through), { timeout: 30_000 }).toBe(false);
  });

  test('creates an account, whose access ends at the next refresh after the user has been disabled', async () => {
    // Keycloak sends no logout tokens to a client that has requested offline access.
    await changeIdentityProvider(mandate.db, slug, { scopes: ['openid', 'email', 'profile', 'offline_access'] });
    const page = await signInThroughKeycloak(carl);
    const refreshToken = await connectApplication(page);
    const { em } = mandate.db;
    const makeCheckDue = () => em.fork().nativeUpdate(LinkedAccount, { label: carl.email }, { checkDueAt: new Date(0) });
    expect(await makeCheckDue()).toBe(1);
    const refreshed = await sendRefreshRequest(mandate.origin, refreshToken);
    expect([refreshed.status, await isSignedIn(page)]).toEqual([200, true]);
    const { refresh_token: second = '' } = tokenResponseSchema.parse(await refreshed.json());

    await keycloak.disable(carl.username);
    await makeCheckDue();
    expect(await readOAuthError(await sendRefreshRequest(mandate.origin, second))).toBe('400 invalid_grant');
    expect(await isSignedIn(page)).toBe(false);
  });

  /** Connects the command-line client in the browser. Returns its refresh token. */
  async function connectApplication(page: Page): Promise<string> {
    const { query, verifier } = buildAuthorizationRequest({ scope: 'openid users.read' });
    await page.goto(`${mandate.origin}${authorizationPath(query)}`);
    // no program listens at the redirect URI, so the redirect fails
    const redirect = page.waitForEvent('requestfailed', (request) => request.url().startsWith(`${cliClient.redirectUri}?`));
    await page.locator('button[name="decision"][value="allow"]').click();
    const code = new URL((await redirect).url()).searchParams.get('code') ?? '';
    const response = await redeemCode(mandate.origin, { code, verifier, ...cliClient });
    return tokenResponseSchema.parse(await response.json()).refresh_token ?? '';
  }
});
