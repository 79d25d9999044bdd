import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApplication } from '../../../server/applications/validate-and-create-application.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import { sendTokenRequest, readOAuthError, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { startWebApp, type WebAppServer } from '../../support/oauth/web-app.ts';

const clientId = 'web-application';
const scopes = ['openid', 'offline_access', 'users.read'];

const source = (issuer: string) => (origin: string) =>
  `
  import { createClient } from '@mandate/client-sdk';
  import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
  const signIn = browserSignIn({
    issuer: '${issuer}', clientId: '${clientId}', redirectUri: '${origin}/callback', scopes: ${JSON.stringify(scopes)},
  });
  const client = createClient({ baseUrl: '${issuer}', auth: signIn.auth });
  const record = async (change) => {
    const database = await new Promise((resolve) => (indexedDB.open('mandate').onsuccess = ({ target }) => resolve(target.result)));
    const store = database.transaction('kept', 'readwrite').objectStore('kept');
    const name = 'mandate ${issuer} ${clientId}';
    const kept = await new Promise((resolve) => (store.get(name).onsuccess = ({ target }) => resolve(target.result)));
    if (change) await new Promise((resolve) => (store.put(change(kept), name).onsuccess = resolve));
    database.close();
    return kept;
  };
  const changes = [];
  signIn.onChange(async () => changes.push(await signIn.signedIn()));
  document.querySelector('button').onclick = () => {
    globalThis.popup = signIn.popup().then(() => 'done', ({ error, code }) => error ?? code);
  };
  Object.assign(globalThis, {
    signIn, client, changes, record,
    expire: () => record((kept) => ({ ...kept, tokens: { ...kept.tokens, expiresAt: 0 } })),
    completed: signIn.complete().then((value) => value ?? 'no way back', ({ error }) => error),
  });
`;

describe.skipIf(!hasChromium)('users in a browser', () => {
  const server = useServer();
  let chromium: Browser;
  let app: WebAppServer;
  let anna: TestUser;
  let context: BrowserContext;
  let tokenRequests: string[];

  beforeAll(async () => {
    [chromium, app] = await Promise.all([launchChromium(), startWebApp(source(server.origin), '<button>Sign in</button>')]);
    await createApplication(server.db.em.fork(), {
      clientId,
      name: 'Web application',
      type: 'public',
      grantTypes: ['authorization_code', 'refresh_token'],
      scopes: ['users.read'],
      redirectUris: [`${app.origin}/callback`],
    });
    anna = await signUp(server.origin);
  });
  afterAll(async () => {
    await chromium.close();
    await app[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    context = await chromium.newContext();
    tokenRequests = [];
    context.on('request', (request) => {
      if (request.method() === 'POST' && request.url() === `${server.origin}/oauth/token`) tokenRequests.push(request.postData() ?? '');
    });
  });
  afterEach(() => context.close());

  const open = async (path = '/'): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(app.origin + path);
    await page.waitForFunction('globalThis.client');
    return page;
  };
  const atTheServer = async (page: Page, answer: 'Allow' | 'Cancel' = 'Allow'): Promise<void> => {
    await page.getByLabel('E-mail address').fill(anna.email);
    await page.getByLabel('Password', { exact: true }).fill(anna.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: answer }).click();
  };
  const popupOf = async (page: Page): Promise<Page> => {
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button').click()]);
    return popup;
  };
  const signedInPage = async (): Promise<Page> => {
    const page = await open();
    await atTheServer(await popupOf(page));
    expect(await page.evaluate('popup')).toBe('done');
    return page;
  };
  const me = (page: Page): Promise<unknown> => page.evaluate('client.users.me().then(({ id }) => id, ({ code }) => code)');

  test('are redirected to the sign-in and back to the previous page', async () => {
    const page = await open('/orders?page=2');
    expect(await me(page)).toBe('sign_in_required');
    await page.evaluate('void signIn.redirect()');
    await atTheServer(page);
    await page.waitForURL(`${app.origin}/callback`);
    expect(await page.evaluate('completed')).toEqual({ returnTo: `${app.origin}/orders?page=2` });
    expect(await me(page)).toBe(anna.id);
    expect(await page.evaluate('location.href')).toBe(`${app.origin}/callback`); // no authorization code remains in the browser history
  });

  test('sign in through a popup, and another tab is notified', async () => {
    const other = await open();
    const page = await signedInPage();
    await expect.poll(() => context.pages().length).toBe(2);
    expect([await me(page), await me(other)]).toEqual([anna.id, anna.id]);
    expect(await other.evaluate('changes')).toEqual([true]);
  });

  test('close the popup or deny access in it', async () => {
    const page = await open();
    await (await popupOf(page)).close();
    expect(await page.evaluate('popup')).toBe('popup_closed');
    await atTheServer(await popupOf(page), 'Cancel');
    expect(await page.evaluate('popup')).toBe('access_denied');
    expect(await page.evaluate('signIn.signedIn()')).toBe(false);
  });

  test('a popup whose opener is closed completes the sign-in itself', async () => {
    const page = await open();
    const popup = await popupOf(page);
    await popup.getByLabel('E-mail address').waitFor();
    await page.close();
    await atTheServer(popup);
    await popup.waitForURL(`${app.origin}/callback`);
    expect(await popup.evaluate('completed')).toEqual({ returnTo: app.origin });
    expect(await me(popup)).toBe(anna.id);
  });

  test('a URL with an unknown state or code is ignored', async () => {
    const page = await open('/callback?code=stolen&state=forged&iss=x');
    expect(await page.evaluate('completed')).toBe('no way back');
    expect(tokenRequests).toEqual([]);
  });

  test('two tabs with an expired token refresh it once', async () => {
    const [first, second] = [await signedInPage(), await open()];
    await first.evaluate('expire()');
    tokenRequests.length = 0;
    const calls = 'Promise.all(Array.from({ length: 4 }, () => client.users.me().then(({ id }) => id)))';
    const answers = await Promise.all([first.evaluate(calls), second.evaluate(calls)]);
    expect(answers.flat()).toEqual(Array(8).fill(anna.id));
    expect(tokenRequests).toHaveLength(1);
  });

  test('a tab that is closed during the refresh does not block other tabs', async () => {
    const [first, second] = [await signedInPage(), await open()];
    await first.evaluate('expire()');
    tokenRequests.length = 0;
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    await context.route(
      `${server.origin}/oauth/token`,
      async (route) => {
        await route.fetch();
        resolve(); // the response never arrives
      },
      { times: 1 },
    );
    await first.evaluate('void client.users.me().catch(() => undefined)');
    await reached;
    const waiting = me(second);
    await first.close();
    expect(await waiting).toBe(anna.id);
    expect(tokenRequests).toHaveLength(2);
  });

  test('tokens copied from the browser cannot be used elsewhere', async () => {
    const page = await signedInPage();
    const kept = 'record().then(({ tokens, proofKey: { privateKey } }) => ({ ...tokens, extractable: privateKey.extractable }))';
    const { refreshToken, accessToken, extractable } = await page.evaluate<Record<string, string>>(kept);
    expect(extractable).toBe(false);
    expect(
      await page.evaluate(`record().then(({ proofKey }) => crypto.subtle.exportKey('jwk', proofKey.privateKey)).catch(({ name }) => name)`),
    ).toBe('InvalidAccessError');
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken ?? '', client_id: clientId };
    expect(await readOAuthError(await sendTokenRequest(server.origin, form))).toBe('400 invalid_grant');
    expect(await fetchApiStatus(server, accessToken ?? '')).toBe(401);
    await page.evaluate('expire()');
    expect(await me(page)).toBe(anna.id); // the user did not have to sign in again
  });

  test('sign out in all tabs immediately, and their tokens are revoked', async () => {
    const [page, other] = [await signedInPage(), await open()];
    const kept = 'record().then(({ tokens, proofKey }) => { globalThis.before = { tokens, proofKey }; })';
    await other.evaluate(kept);
    await page.evaluate('signIn.signOut()');
    await expect.poll(() => other.evaluate('changes.at(-1)')).toBe(false);
    expect([await me(page), await me(other)]).toEqual(['sign_in_required', 'sign_in_required']);
    await other.evaluate('record(() => before)');
    expect(await me(other)).toBe('sign_in_required');
  });
});
