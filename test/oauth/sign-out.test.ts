import { expect, test } from 'vitest';
import { apiStatus, useServer } from '../support/use-server.ts';
import { Browser } from '../support/browser.ts';
import {
  authorize,
  authorizationRequest,
  authorizePath,
  redeem,
  refresh,
  signUp,
  tokenResponse,
  webApplication,
} from '../support/oauth-flow.ts';

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

test('sends nobody to an address that the application did not register', async () => {
  const client = await webApplication(server.db, []);
  const query = new URLSearchParams({ client_id: client.clientId, post_logout_redirect_uri: 'https://evil.example/' });
  const { response, leaves } = await new Browser(server.origin).open(`/oauth/logout?${query.toString()}`);
  expect([response.status, leaves]).toEqual([400, undefined]);
});
