import { decodeJwt } from 'jose';
import { expect, describe, test } from 'vitest';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import type { HtmlPage } from '../../support/browser/browser.ts';
import {
  createLogoutApplication,
  sendDueLogoutTokens,
  useLogoutTokenReceiver,
  verifyLogoutToken,
} from '../../support/oauth/logout-tokens.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  sendTokenRequest,
  signIn,
  signInToApplication,
  signUp,
  basicAuthorization,
  tokenResponseSchema,
  type TestUser,
  type WebApplication,
} from '../../support/oauth/oauth-flow.ts';
import { readMailLink } from '../../support/services/mailbox.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { withShop } from '../../support/shop/with-shop.ts';

requireOneProcess('the tests send the logout tokens themselves');
const shop = withShop({ sampleData: false });
const admin = shop.admin(['users.manage']);
const receiver = useLogoutTokenReceiver();
const newPassword = 'staple battery horse correct';

type SignedIn = { readonly user: TestUser; readonly application: WebApplication; readonly sid: unknown };

/** Signs a new user in to a new application that receives logout tokens. */
async function signInNewUser(): Promise<SignedIn> {
  const user = await signUp(shop.origin);
  const application = await createLogoutApplication(shop.db, receiver.url);
  const { claims } = await signInToApplication(shop.origin, user, application);
  expect(claims['sid']).toEqual(expect.any(String));
  return { user, application, sid: claims['sid'] };
}

const confirmSignOut = ({ browser }: TestUser, { text }: HtmlPage, form: Readonly<Record<string, string>>): Promise<HtmlPage> => {
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  return browser.open('/oauth/logout/confirm', { method: 'POST', body: new URLSearchParams({ xsrf, ...form }) });
};

/** The ways in which a session can end. */
const endings: readonly [string, (signedIn: SignedIn) => Promise<unknown>][] = [
  ['RP-initiated logout', async ({ user }) => confirmSignOut(user, await user.browser.open('/oauth/logout'), { logout: 'yes' })],
  [
    'RP-initiated logout after which the user stays signed in to the shop',
    async ({ user, application }) => confirmSignOut(user, await user.browser.open(`/oauth/logout?client_id=${application.clientId}`), {}),
  ],
  [
    'a sign-out on the account page',
    async ({ user: { browser } }) => submitFormContaining(browser, await browser.open('/account'), 'action="/sign-out"'),
  ],
  [
    'the end of one session on the account page',
    async ({ user }) => {
      const ownPage = await user.browser.open('/account/sessions');
      const uid = /This browser[^]*?name="session" value="([^"]+)"/.exec(ownPage.text)?.[1] ?? '';
      const other = await signIn(shop.origin, user);
      return submitFormContaining(other, await other.open('/account/sessions'), uid);
    },
  ],
  [
    'a sign-out everywhere',
    async ({ user: { browser } }) =>
      submitFormContaining(browser, await browser.open('/account/sessions'), 'name="everywhere"', { everywhere: 'yes' }),
  ],
  [
    'a suspension',
    async ({ user: { id } }) => {
      const { status } = await admin.callApi('PATCH', `/api/v1/users/${id}`, { body: { status: 'suspended' } });
      expect(status).toBe(200);
    },
  ],
  [
    'the closing of the account by its owner',
    async ({ user: { browser } }) => browser.submit(await browser.open('/account/close'), { confirm: 'yes' }),
  ],
  [
    'the closing of the account by an administrator',
    async ({ user: { id } }) => expect((await admin.callApi('DELETE', `/api/v1/users/${id}`)).status).toBe(204),
  ],
  [
    'a password reset',
    async ({ user: { email } }) => {
      const { browser } = await signUp(shop.origin);
      await browser.submit(await browser.open('/password-reset'), { email });
      return browser.submit(await browser.open(await readMailLink(shop.origin, email)), { password: newPassword });
    },
  ],
  [
    'a password change',
    async ({ user: { browser } }) => browser.submit(await browser.open('/account/password'), { password: newPassword }),
  ],
  [
    'a sign-in by another user',
    async ({ user: { browser } }) => {
      const other = await signUp(shop.origin);
      return browser.submit(await browser.open('/sign-in'), { email: other.email, password: other.password });
    },
  ],
  [
    'a sign-in by another user in an authorization request',
    async ({ user: { browser } }) => {
      const other = await signUp(shop.origin);
      const page = await browser.open(authorizationPath(buildAuthorizationRequest({ prompt: 'login' }).query));
      return browser.submit(page, { email: other.email, password: other.password });
    },
  ],
  [
    'a switch of the user on the consent page',
    async ({ user: { browser } }) => {
      const page = await browser.open(authorizationPath(buildAuthorizationRequest().query));
      return browser.submit(page, { decision: 'switch' });
    },
  ],
];

test.each(endings)('%s sends one logout token to each application with a session there', async (_, endSession) => {
  const signedIn = await signInNewUser();
  const { user, application, sid } = signedIn;
  const withoutSession = await createLogoutApplication(shop.db, `${receiver.url}/without-session`);
  await signInToApplication(shop.origin, user, await createWebApplication(shop.db, []));
  await endSession(signedIn);
  await sendDueLogoutTokens(shop);
  expect(receiver.requests).toHaveLength(1);
  const [{ path, contentType, token } = { path: '', contentType: '', token: '' }] = receiver.requests;
  expect([path, contentType]).toEqual(['/logout', 'application/x-www-form-urlencoded']);
  const claims = await verifyLogoutToken(shop.origin, token, application.clientId);
  expect(claims).toEqual({
    iss: shop.origin,
    aud: application.clientId,
    sub: String(user.id),
    sid,
    iat: expect.any(Number),
    exp: Number(claims.iat) + 120,
    jti: expect.any(String),
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  expect(decodeJwt(token)['aud']).not.toBe(withoutSession.clientId);
  expect(await sendDueLogoutTokens(shop)).toBe(0);
});

test('a sign-out sends a logout token to several applications, each with its own sid', async () => {
  const { user, application: first, sid } = await signInNewUser();
  const second = await createLogoutApplication(shop.db, receiver.url);
  const { claims } = await signInToApplication(shop.origin, user, second);
  await confirmSignOut(user, await user.browser.open('/oauth/logout'), { logout: 'yes' });
  await sendDueLogoutTokens(shop);
  const sids = receiver.requests.map(({ token }) => decodeJwt(token)).map(({ aud, sid: received }) => [aud, received]);
  expect(Object.fromEntries(sids)).toEqual({ [first.clientId]: sid, [second.clientId]: claims['sid'] });
});

test('a session that continues after the same user signs in again ends with one logout token', async () => {
  const { user, sid } = await signInNewUser();
  await user.browser.submit(await user.browser.open('/sign-in'), { email: user.email, password: user.password });
  expect(await sendDueLogoutTokens(shop)).toBe(0);
  await submitFormContaining(user.browser, await user.browser.open('/account'), 'action="/sign-out"');
  await sendDueLogoutTokens(shop);
  expect(receiver.requests.map(({ token }) => decodeJwt(token)['sid'])).toEqual([sid]);
});

test('"Stay signed in" without an application sends nothing', async () => {
  const { user } = await signInNewUser();
  await confirmSignOut(user, await user.browser.open('/oauth/logout'), {});
  expect(await sendDueLogoutTokens(shop)).toBe(0);
});

describe('sid in the ID token', () => {
  test('stays the same after a refresh and a second sign-in in the same session', async () => {
    const user = await signUp(shop.origin);
    const application = await createLogoutApplication(shop.db, receiver.url);
    const { tokens, claims } = await signInToApplication(shop.origin, user, application);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    const refreshed = await sendTokenRequest(shop.origin, form, basicAuthorization(application.clientId, application.secret));
    const { id_token: idToken = '' } = tokenResponseSchema.parse(await refreshed.json());
    expect(decodeJwt(idToken)['sid']).toBe(claims['sid']);
    expect((await signInToApplication(shop.origin, user, application)).claims['sid']).toBe(claims['sid']);
  });

  test('differs between two sessions', async () => {
    const user = await signUp(shop.origin);
    const application = await createLogoutApplication(shop.db, receiver.url);
    const { claims } = await signInToApplication(shop.origin, user, application);
    const other = await signInToApplication(shop.origin, { browser: await signIn(shop.origin, user) }, application);
    expect(other.claims['sid']).not.toBe(claims['sid']);
  });

  test('is absent if the application receives no logout tokens', async () => {
    const { claims } = await signInToApplication(shop.origin, await signUp(shop.origin), await createWebApplication(shop.db, []));
    expect(claims).not.toHaveProperty('sid');
  });
});
