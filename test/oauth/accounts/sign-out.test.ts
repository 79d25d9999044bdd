import { describe, expect, test } from 'vitest';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import {
  obtainAuthorizationCode,
  buildAuthorizationRequest,
  authorizationPath,
  redeemCode,
  sendRefreshRequest,
  signUp,
  tokenResponseSchema,
  createWebApplication,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

test('the end session endpoint asks for confirmation, ends the session, and keeps tokens of applications valid (75)', async () => {
  const anna = await signUp(server.origin);
  const tokens = tokenResponseSchema.parse(
    await (await redeemCode(server.origin, await obtainAuthorizationCode(server.origin, anna, { scope: 'openid users.read' }))).json(),
  );
  const page = await anna.browser.open('/oauth/logout');
  expect(page.text).toContain('Applications that you allowed to use your account keep their access');
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const confirm = (form: Record<string, string>) =>
    anna.browser.open('/oauth/logout/confirm', { method: 'POST', body: new URLSearchParams(form) });
  expect((await confirm({ xsrf: 'guessed', logout: 'yes' })).response.status).toBe(400);
  expect((await anna.browser.open('/account')).url.pathname).toBe('/account');
  expect((await confirm({ xsrf, logout: 'yes' })).text).toContain('You are signed out');
  expect((await anna.browser.open('/account')).url.pathname).toBe('/sign-in');
  expect((await anna.browser.open(authorizationPath(buildAuthorizationRequest().query))).url.pathname).toMatch(/^\/sign-in\//);
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(200);
  expect((await sendRefreshRequest(server.origin, tokens.refresh_token ?? '')).status).toBe(200);
});

test('"Stay signed in" changes nothing', async () => {
  const anna = await signUp(server.origin);
  const { text } = await anna.browser.open('/oauth/logout');
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const page = await anna.browser.open('/oauth/logout/confirm', { method: 'POST', body: new URLSearchParams({ xsrf }) });
  expect([page.url.pathname, page.text.includes('Your account')]).toEqual(['/account', true]);
});

test('the cookie of a session is rejected after the user signs out', async () => {
  const anna = await signUp(server.origin);
  const cookies = ['mandate_session', 'mandate_session.sig'].map((name) => `${name}=${anna.browser.cookieValue(name)}`).join('; ');
  const withOldCookie = () => fetch(`${server.origin}/account`, { headers: { cookie: cookies }, redirect: 'manual' });
  expect((await withOldCookie()).status).toBe(200);
  const { text } = await anna.browser.open('/account');
  await anna.browser.open('/sign-out', {
    method: 'POST',
    body: new URLSearchParams({ csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' }),
  });
  expect((await withOldCookie()).status).toBe(303);
});

describe('the end session endpoint without a session', () => {
  const contentSecurityPolicy = ({ response }: HtmlPage): string => response.headers.get('content-security-policy') ?? '';

  test.each([
    ['to a browser that has never signed in', async () => new HttpBrowser(server.origin)],
    [
      'to a browser that has signed out',
      async () => {
        const { browser } = await signUp(server.origin);
        const { text } = await browser.open('/account');
        await browser.open('/sign-out', {
          method: 'POST',
          body: new URLSearchParams({ csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' }),
        });
        return browser;
      },
    ],
  ])('shows a page with the content security policy of all pages %s', async (_, openBrowser) => {
    const browser = await openBrowser();
    const page = await browser.open('/oauth/logout');
    expect([page.response.status, page.url.pathname]).toEqual([200, '/oauth/logout']);
    expect(page.text).toContain('You are signed out');
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|onload=/);
    expect(contentSecurityPolicy(page)).toBe(contentSecurityPolicy(await browser.open('/sign-in')));
  });

  test('redirects to the registered URI of the application with state', async () => {
    const client = await createWebApplication(server.db, []);
    const registeredUri = 'https://app.example/signed-out';
    await server.db.em
      .fork()
      .execute('update applications set post_logout_redirect_uris = ? where client_id = ?', [`{${registeredUri}}`, client.clientId]);
    const query = new URLSearchParams({ client_id: client.clientId, post_logout_redirect_uri: registeredUri, state: 'abc' });
    const { externalRedirect: leaves } = await new HttpBrowser(server.origin).open(`/oauth/logout?${query.toString()}`);
    expect(leaves?.href).toBe(`${registeredUri}?state=abc`);
  });
});

test('the end session endpoint rejects a redirect URI that the application has not registered', async () => {
  const client = await createWebApplication(server.db, []);
  const query = new URLSearchParams({ client_id: client.clientId, post_logout_redirect_uri: 'https://evil.example/' });
  const { response, externalRedirect: leaves } = await new HttpBrowser(server.origin).open(`/oauth/logout?${query.toString()}`);
  expect([response.status, leaves]).toEqual([400, undefined]);
});
