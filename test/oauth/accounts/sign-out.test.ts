import { describe, expect, test } from 'vitest';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import { Browser, type Page } from '../../support/browser/browser.ts';
import {
  authorize,
  authorizationRequest,
  authorizePath,
  redeem,
  refresh,
  signUp,
  tokenResponse,
  webApplication,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

test('sign-out at the endpoint asks, ends the session, and leaves applications what they were allowed (75)', async () => {
  const anna = await signUp(server.origin);
  const tokens = tokenResponse.parse(
    await (await redeem(server.origin, await authorize(server.origin, anna, { scope: 'openid users.read' }))).json(),
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
  expect((await anna.browser.open(authorizePath(authorizationRequest().query))).url.pathname).toMatch(/^\/sign-in\//);
  expect(await apiStatus(server, tokens.access_token)).toBe(200);
  expect((await refresh(server.origin, tokens.refresh_token ?? '')).status).toBe(200);
});

test('"Stay signed in" changes nothing', async () => {
  const anna = await signUp(server.origin);
  const { text } = await anna.browser.open('/oauth/logout');
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const page = await anna.browser.open('/oauth/logout/confirm', { method: 'POST', body: new URLSearchParams({ xsrf }) });
  expect([page.url.pathname, page.text.includes('You are signed in')]).toEqual(['/account', true]);
});

test('the session that was signed out does not come back with its old cookie', async () => {
  const anna = await signUp(server.origin);
  const cookies = ['mandate_session', 'mandate_session.sig'].map((name) => `${name}=${anna.browser.cookie(name)}`).join('; ');
  const withOldCookie = () => fetch(`${server.origin}/account`, { headers: { cookie: cookies }, redirect: 'manual' });
  expect((await withOldCookie()).status).toBe(200);
  const { text } = await anna.browser.open('/account');
  await anna.browser.open('/sign-out', {
    method: 'POST',
    body: new URLSearchParams({ csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' }),
  });
  expect((await withOldCookie()).status).toBe(303);
});

describe('sign-out at the endpoint without a session', () => {
  const policyOf = ({ response }: Page): string => response.headers.get('content-security-policy') ?? '';

  test.each([
    ['of a browser that never signed in', async () => new Browser(server.origin)],
    [
      'of a browser that signed out',
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
  ])('shows a page with our content security policy: %s', async (_, open) => {
    const browser = await open();
    const page = await browser.open('/oauth/logout');
    expect([page.response.status, page.url.pathname]).toEqual([200, '/oauth/logout']);
    expect(page.text).toContain('You are signed out');
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|onload=/);
    expect(policyOf(page)).toBe(policyOf(await browser.open('/sign-in')));
  });

  test('redirects to the registered URI of the application, with the state', async () => {
    const client = await webApplication(server.db, []);
    const registered = 'https://app.example/signed-out';
    await server.db.em
      .fork()
      .execute('update applications set post_logout_redirect_uris = ? where client_id = ?', [`{${registered}}`, client.clientId]);
    const query = new URLSearchParams({ client_id: client.clientId, post_logout_redirect_uri: registered, state: 'abc' });
    const { leaves } = await new Browser(server.origin).open(`/oauth/logout?${query.toString()}`);
    expect(leaves?.href).toBe(`${registered}?state=abc`);
  });
});

test('sends nobody to an address that the application did not register', async () => {
  const client = await webApplication(server.db, []);
  const query = new URLSearchParams({ client_id: client.clientId, post_logout_redirect_uri: 'https://evil.example/' });
  const { response, leaves } = await new Browser(server.origin).open(`/oauth/logout?${query.toString()}`);
  expect([response.status, leaves]).toEqual([400, undefined]);
});
