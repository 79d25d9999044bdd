import { decodeJwt, type JWTPayload } from 'jose';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { addAuthenticatorApp, generateTotpCode } from '../../support/oauth/credentials.ts';
import { approveDevice, expirePollIntervalSql, pollDeviceToken, startDeviceAuthorization } from '../../support/oauth/device-flow.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  createWebApplication,
  sendTokenRequest,
  signIn,
  signInToApplication,
  signUp,
  tokenResponseSchema,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import {
  extractEmailCode,
  isAccountPage,
  setAttemptCount,
  submitFormByAction,
  submitPassword,
  submitWrongPasswords,
} from '../../support/oauth/sign-in-attempts.ts';
import { readLastMailTo } from '../../support/services/mailbox.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const oneFactor = { amr: ['pwd'], acr: 'urn:mandate:one-factor' };
const twoFactors = { amr: ['pwd', 'otp', 'mfa'], acr: 'urn:mandate:two-factors' };
const now = (): number => Math.floor(Date.now() / 1000);

/** Signs the user in to a new application, using the browser's session. Returns the claims of the ID token. */
const readIdTokenClaims = async (browser: HttpBrowser): Promise<JWTPayload> =>
  (await signInToApplication(server.origin, { browser }, await createWebApplication(server.db, []))).claims;

async function signInWithSecondFactor({ email, password }: TestUser, code: string): Promise<HttpBrowser> {
  const browser = new HttpBrowser(server.origin);
  const page = await submitPassword(server, { email, password }, browser);
  expect(isAccountPage(await submitFormByAction(browser, page, 'second-factor', { code }))).toBe(true);
  return browser;
}

/** All ways to sign in except passkeys, which passkeys.test.ts tests. */
const signIns: readonly [string, object, (user: TestUser) => Promise<HttpBrowser>][] = [
  ['a sign-up', oneFactor, async ({ browser }) => browser],
  ['a password', oneFactor, (user) => signIn(server.origin, user)],
  [
    'a password and a code of an authenticator app',
    twoFactors,
    async (user) => {
      const { secret } = await addAuthenticatorApp(user.browser);
      return signInWithSecondFactor(user, generateTotpCode(secret));
    },
  ],
  [
    'a password and a recovery code',
    twoFactors,
    async (user) => {
      const { recoveryCodes } = await addAuthenticatorApp(user.browser);
      return signInWithSecondFactor(user, recoveryCodes[0] ?? '');
    },
  ],
  [
    'a password that an e-mail code confirms, which is not a second factor',
    oneFactor,
    async (user) => {
      await submitWrongPasswords(server, user.email, 1);
      await setAttemptCount(server, 'password', 100);
      const browser = new HttpBrowser(server.origin);
      const page = await submitPassword(server, user, browser);
      const code = extractEmailCode((await readLastMailTo(server.origin, user.email)).text);
      expect(isAccountPage(await submitFormByAction(browser, page, 'e-mail-code', { code }))).toBe(true);
      await server.db.em.fork().execute('delete from attempts');
      return browser;
    },
  ],
];

test.each(signIns)('the ID token reports %s in amr, acr and auth_time', async (_, expected, performSignIn) => {
  const user = await signUp(server.origin);
  await backdateSessions(server.db, user.id, 5);
  const startedAt = now();
  const browser = await performSignIn(user);
  const claims = await readIdTokenClaims(browser);
  expect(claims).toMatchObject(expected);
  const authTime = Number(claims['auth_time']);
  const isEarlierSignIn = browser === user.browser;
  expect({ earlier: startedAt - authTime >= 5 * 60, now: authTime >= startedAt }).toEqual({
    earlier: isEarlierSignIn,
    now: !isEarlierSignIn,
  });
});

test('an authenticator app that is added to a session adds a factor, but does not renew auth_time', async () => {
  const user = await signUp(server.origin);
  await backdateSessions(server.db, user.id, 5);
  await addAuthenticatorApp(user.browser);
  const claims = await readIdTokenClaims(user.browser);
  expect(claims).toMatchObject(twoFactors);
  expect(now() - Number(claims['auth_time'])).toBeGreaterThanOrEqual(5 * 60);
});

test('a password change does not renew auth_time', async () => {
  const user = await signUp(server.origin);
  await backdateSessions(server.db, user.id, 5);
  await user.browser.submit(await user.browser.open('/account/password'), { password: 'staple battery horse correct' });
  const claims = await readIdTokenClaims(user.browser);
  expect(claims).toMatchObject(oneFactor);
  expect(now() - Number(claims['auth_time'])).toBeGreaterThanOrEqual(5 * 60);
});

test('prompt=login renews auth_time, even for the next application', async () => {
  const user = await signUp(server.origin);
  await backdateSessions(server.db, user.id, 5);
  const { browser, email, password } = user;
  const page = await browser.open(authorizationPath(buildAuthorizationRequest({ prompt: 'login' }).query));
  expect(page.url.pathname).toMatch(/^\/sign-in\//);
  expect((await browser.submit(page, { email, password })).url.pathname).toMatch(/^\/consent\//);
  expect(now() - Number((await readIdTokenClaims(browser))['auth_time'])).toBeLessThan(60);
});

test('a refresh keeps amr, acr and auth_time of the ID token, even after a later sign-in in the session', async () => {
  const user = await signUp(server.origin);
  await backdateSessions(server.db, user.id, 5);
  const application = await createWebApplication(server.db, []);
  const { tokens, claims } = await signInToApplication(server.origin, user, application);
  await addAuthenticatorApp(user.browser);
  const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
  const response = await sendTokenRequest(server.origin, form, basicAuthorization(application.clientId, application.secret));
  const { id_token: idToken = '' } = tokenResponseSchema.parse(await response.json());
  expect(decodeJwt(idToken)).toMatchObject({ ...oneFactor, auth_time: claims['auth_time'] });
});

test('a device gets amr, acr and auth_time of the browser session, in the ID token and for the API', async () => {
  const user = await signUp(server.origin);
  await backdateSessions(server.db, user.id, 5);
  await addAuthenticatorApp(user.browser);
  const device = await startDeviceAuthorization(server.origin);
  await approveDevice(user, device.user_code);
  await server.db.em.fork().execute(expirePollIntervalSql);
  const tokens = tokenResponseSchema.parse(await (await pollDeviceToken(server.origin, device.device_code)).json());
  const claims = decodeJwt(tokens.id_token ?? '');
  expect(claims).toMatchObject(twoFactors);
  expect(now() - Number(claims['auth_time'])).toBeGreaterThanOrEqual(5 * 60);
  expect(decodeJwt(tokens.access_token)).toMatchObject({ acr: twoFactors.acr, auth_time: claims['auth_time'] });
});

test('acr and auth_time are the same in the access token, and in its introspection response', async () => {
  const user = await signUp(server.origin);
  const application = await createWebApplication(server.db, ['orders.read']);
  const { tokens, claims } = await signInToApplication(server.origin, user, application, { scope: 'openid orders.read' });
  const expected = { acr: oneFactor.acr, auth_time: claims['auth_time'] };
  expect(decodeJwt(tokens.access_token)).toMatchObject(expected);
  const response = await fetch(`${server.origin}/oauth/introspection`, {
    method: 'POST',
    body: new URLSearchParams({ token: tokens.access_token }),
    headers: basicAuthorization(application.clientId, application.secret),
  });
  expect(z.record(z.unknown()).parse(await response.json())).toMatchObject({ active: true, ...expected });
});
