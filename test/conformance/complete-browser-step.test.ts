import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { closeServer, listenOnLoopback } from '../support/network/loopback-server.ts';
import { authorizationPath, buildAuthorizationRequest, createWebApplication, signUp } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/use-server.ts';
import { completeBrowserStep, type Screenshot } from './complete-browser-step.ts';
import type { UserAction } from './user-actions.ts';

const server = useServer();

describe.skipIf(!hasChromium)('the browser steps of a module', { timeout: 300_000 }, () => {
  const callbacks: URL[] = [];
  let browser: Browser;
  let suite: Server;
  let suiteOrigin = '';
  beforeAll(async () => {
    suite = createServer((req, res) => {
      if (req.url?.startsWith('/callback') === true) callbacks.push(new URL(req.url, suiteOrigin));
      res.end('received');
    });
    suiteOrigin = `http://127.0.0.1:${await listenOnLoopback(suite)}`;
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await closeServer(suite);
  });

  async function openModule(): Promise<{ page: Page; url: (parameters?: Record<string, string>) => string; complete: Complete }> {
    const [user, client, context] = [
      await signUp(server.origin),
      await createWebApplication(server.db, ['orders.read'], `${suiteOrigin}/callback`),
      await browser.newContext(),
    ];
    const page = await context.newPage();
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri };
    return {
      page,
      url: (parameters = {}) => server.origin + authorizationPath({ ...buildAuthorizationRequest(request).query, ...parameters }),
      complete: (url, method = 'GET', action = 'allow') =>
        completeBrowserStep(page, { url, method }, { issuer: server.origin, user, suiteOrigin, action }),
    };
  }
  type Complete = (url: string, method?: string, action?: UserAction) => Promise<Screenshot | undefined>;

  test('signs in, allows the permissions, returns to the suite, and confirms the sign-out', async () => {
    const { url, complete, page } = await openModule();
    const consentPage = await complete(url({ state: 'first' }));
    expect([consentPage?.image.subarray(1, 4).toString(), consentPage?.isFinalPage]).toEqual(['PNG', false]);
    expect(callbacks.at(-1)?.searchParams.get('state')).toBe('first');
    expect(callbacks.at(-1)?.searchParams.has('code')).toBe(true);
    // the second request shows no page, so there is no screenshot
    expect(await complete(url({ state: 'second' }))).toBeUndefined();
    expect(callbacks.at(-1)?.searchParams.get('state')).toBe('second');
    await complete(`${server.origin}/oauth/logout`);
    expect(await page.locator('h1').textContent()).toBe('You are signed out');
    await complete(url({ state: 'third', prompt: 'none' }));
    expect(callbacks.at(-1)?.searchParams.get('error')).toBe('login_required');
  });

  test('only opens a page, and declines the permissions', async () => {
    const { url, complete, page } = await openModule();
    const before = callbacks.length;
    expect(await complete(url({ state: 'opened' }), 'GET', 'open')).toBeUndefined();
    expect(page.url()).toContain(`${server.origin}/sign-in/`);
    expect(callbacks.length).toBe(before);
    await complete(url({ state: 'declined' }), 'GET', 'cancel');
    expect(callbacks.at(-1)?.searchParams.get('error')).toBe('access_denied');
  });

  test('sends a request as a form, and receives a response as a form', async () => {
    const { url, complete } = await openModule();
    await complete(url({ state: 'posted', response_mode: 'form_post' }), 'POST');
    // the response is in the body of the form, not in the URL
    await expect.poll(() => callbacks.at(-1)?.search).toBe('');
  });

  test('returns a screenshot of an error page', async () => {
    const { url, complete, page } = await openModule();
    const errorPage = await complete(url({ redirect_uri: 'https://other.example/callback' }));
    expect(errorPage?.image.length).toBeGreaterThan(1000);
    expect(errorPage?.isFinalPage).toBe(true);
    expect(page.url()).toContain('/oauth/authorize?');
  });
});
