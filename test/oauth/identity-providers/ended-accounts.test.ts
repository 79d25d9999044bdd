import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { LinkedAccount } from '../../../server/oauth/linked-accounts/linked-account.entity.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { changeIdentityProvider, newProviderUser } from '../../support/identity-providers/fake-identity-provider.ts';
import { useIdentityProvider } from '../../support/identity-providers/use-identity-provider.ts';
import { hasActiveSession, submitFormContaining } from '../../support/oauth/account-pages.ts';
import { readAuditTrail } from '../../support/oauth/credentials.ts';
import { signIn, signUp, signUpWithRole, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { connectCommandLineClient, connectDevice, connectDuringSignIn, connectWebApplicationTwice } from './connected-applications.ts';
import { pressProviderButton, readAuthorizationRequest, signInThroughProvider } from './provider-sign-in.ts';

const server = useServer({ development: true });
const slug = 'company';
const scopes = ['openid', 'email', 'profile', 'offline_access'];
const provider = useIdentityProvider(server, { slug, name: 'Company ID', scopes });
const newBrowser = () => new HttpBrowser(server.origin);

beforeEach(async () => {
  provider.issuesRefreshTokens = true;
  await changeIdentityProvider(server.db, slug, { requiredForStaff: false, clientId: 'shop', scopes, preset: 'oidc', status: 'enabled' });
});

type ProviderUser = { readonly browser: HttpBrowser; readonly sub: string };

/** Creates an account through the provider. */
async function signUpThroughProvider(): Promise<ProviderUser> {
  const [browser, claims] = [newBrowser(), newProviderUser()];
  const page = await signInThroughProvider(browser, provider, slug, claims);
  expect(page.url.pathname).toBe('/account');
  return { browser, sub: claims.sub };
}

/** Signs up a user with a password and a role, links an account, and signs in through the provider in a different browser. */
async function signUpAndLink(role: 'customer' | 'staff'): Promise<TestUser & { readonly through: ProviderUser }> {
  const user = await signUpWithRole(server.db, server.origin, role);
  const claims = newProviderUser();
  const page = await submitFormContaining(user.browser, await user.browser.open('/account/security'), `value="${slug}"`);
  await user.browser.open(provider.authorize(readAuthorizationRequest(page), claims).href);
  const browser = newBrowser();
  await signInThroughProvider(browser, provider, slug, claims);
  return { ...user, through: { browser, sub: claims.sub } };
}

const readLinkedAccount = ({ sub }: ProviderUser) => server.db.em.fork().findOneOrFail(LinkedAccount, { subject: sub });

const makeCheckDue = ({ sub }: ProviderUser): Promise<number> =>
  server.db.em.fork().nativeUpdate(LinkedAccount, { subject: sub }, { checkDueAt: new Date(0) });

const countRefreshRequests = (): number => provider.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token').length;

const connectApplication = (user: Pick<ProviderUser, 'browser'>) => connectCommandLineClient(server, user);

const refused = '400 invalid_grant';

describe('the refresh token of a provider', () => {
  test('is stored encrypted, and redeemed at most once every 15 minutes', async () => {
    const user = await signUpThroughProvider();
    const [token = ''] = provider.refreshTokensOf(user.sub);
    expect(token).not.toBe('');
    const { sealedRefreshToken, checkDueAt } = await readLinkedAccount(user);
    expect(sealedRefreshToken).toMatch(/^[\w-]{40,}$/);
    expect(Buffer.from(sealedRefreshToken ?? '', 'base64url').includes(token)).toBe(false);
    expect((checkDueAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(14 * 60_000);
    const application = await connectApplication(user);
    const before = countRefreshRequests();
    expect([await application.refresh(), countRefreshRequests() - before]).toEqual(['200', 0]);
    await makeCheckDue(user);
    const other = await connectApplication(user);
    expect(await Promise.all([application.refresh(), other.refresh()])).toEqual(['200', '200']);
    expect([await application.refresh(), countRefreshRequests() - before]).toEqual(['200', 1]);
  });

  test('is replaced by the token in the response', async () => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    const presented: (string | null | undefined)[] = [];
    const expected: (string | undefined)[] = [];
    for (let check = 0; check < 3; check += 1) {
      expected.push(provider.refreshTokensOf(user.sub)[0]);
      await makeCheckDue(user);
      expect(await application.refresh()).toBe('200');
      presented.push(provider.tokenRequests.at(-1)?.get('refresh_token'));
    }
    expect(presented).toEqual(expected);
    expect(new Set(presented).size).toBe(3);
  });

  test('is kept if a later sign-in returns no token', async () => {
    const user = await signUpThroughProvider();
    const { sealedRefreshToken } = await readLinkedAccount(user);
    provider.issuesRefreshTokens = false;
    await signInThroughProvider(newBrowser(), provider, slug, { ...newProviderUser(), sub: user.sub });
    expect((await readLinkedAccount(user)).sealedRefreshToken).toBe(sealedRefreshToken);
  });

  test('is neither stored nor used unless the server requests offline access', async () => {
    const earlier = await signUpThroughProvider();
    const application = await connectApplication(earlier);
    await changeIdentityProvider(server.db, slug, { scopes: ['openid', 'email', 'profile'] });
    const user = await signUpThroughProvider();
    expect((await readLinkedAccount(user)).sealedRefreshToken).toBeNull();
    provider.endAccount(earlier.sub);
    await makeCheckDue(earlier);
    expect([await application.refresh(), (await readLinkedAccount(earlier)).sealedRefreshToken]).toEqual(['200', null]);
  });

  test('is never presented with another client ID', async () => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    await changeIdentityProvider(server.db, slug, { clientId: 'new-client' });
    await makeCheckDue(user);
    const before = countRefreshRequests();
    expect([await application.refresh(), countRefreshRequests() - before]).toEqual(['200', 0]);
    expect((await readLinkedAccount(user)).sealedRefreshToken).toBeNull();
  });
});

describe('after an account has ended at the provider, the next refresh', () => {
  test("is rejected, and the access through this account ends, but not the user's other access", async () => {
    const user = await signUpAndLink('customer');
    const application = await connectApplication(user.through);
    const second = await connectApplication(user.through);
    const withPassword = await connectApplication({ browser: await signIn(server.origin, user) });
    provider.endAccount(user.through.sub);
    await makeCheckDue(user.through);
    expect(await fetchApiStatus(server, application.accessToken)).toBe(200);
    expect(await application.refresh()).toBe(refused);
    expect(await fetchApiStatus(server, application.accessToken)).toBe(401);
    expect([await application.refresh(), await second.refresh(), await withPassword.refresh()]).toEqual([refused, refused, '200']);
    expect([await hasActiveSession(user.through.browser), await hasActiveSession(user.browser)]).toEqual([false, true]);
    expect(await readAuditTrail(server, user.id)).toContain('sessions.ended');
    const rows = await server.db.em
      .fork()
      .execute('select details from audit_events where action = ? and user_id = ?', ['sessions.ended', user.id]);
    expect(rows).toEqual([{ details: { identity_provider: slug } }]);
  });

  test('ends all access of staff who must use the provider', async () => {
    const user = await signUpAndLink('staff');
    const application = await connectApplication(user.through);
    const withPassword = await connectApplication(user);
    await changeIdentityProvider(server.db, slug, { requiredForStaff: true });
    provider.endAccount(user.through.sub);
    await makeCheckDue(user.through);
    expect([await application.refresh(), await withPassword.refresh()]).toEqual([refused, refused]);
    expect(await hasActiveSession(user.browser)).toBe(false);
  });

  test('is rejected for every way in which the application was connected', async () => {
    const user = await signUpThroughProvider();
    const withConsent = await connectApplication(user);
    const inRequest = await connectDuringSignIn(server, provider, slug, { ...newProviderUser(), sub: user.sub });
    const device = await connectDevice(server, user);
    const webApplications = await connectWebApplicationTwice(server, user);
    const unaffected = await connectApplication(await signUpThroughProvider());
    provider.endAccount(user.sub);
    await makeCheckDue(user);
    expect(await withConsent.refresh()).toBe(refused);
    expect([await inRequest.refresh(), await device.refresh()]).toEqual([refused, refused]);
    for (const { refresh } of webApplications) expect(await refresh()).toBe(refused);
    expect(await unaffected.refresh()).toBe('200');
  });

  test('does not prevent a new sign-in, if the provider permits it', async () => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    provider.endAccount(user.sub);
    await makeCheckDue(user);
    expect(await application.refresh()).toBe(refused);
    await signInThroughProvider(user.browser, provider, slug, { ...newProviderUser(), sub: user.sub });
    expect(await (await connectApplication(user)).refresh()).toBe('200');
  });
});

const sendJson = (res: ServerResponse, status: number, body: object): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Replaces the provider's handler for a path. */
const interceptPath =
  (path: string, respond: (res: ServerResponse) => void) =>
  (req: IncomingMessage, res: ServerResponse): boolean => {
    if (req.url !== path) return false;
    respond(res);
    return true;
  };

describe('a provider that cannot be queried does not end the access', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['is down', (res) => res.destroy()],
    ['fails', (res) => sendJson(res, 500, { error: 'server_error' })],
    ['is overloaded', (res) => sendJson(res, 503, { error: 'invalid_grant' })],
    ['no longer accepts the credential', (res) => sendJson(res, 401, { error: 'invalid_client' })],
    ['sends a page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>Maintenance</p>')],
    ['sends a response without tokens', (res) => sendJson(res, 200, {})],
  ])('because it %s', async (_name, respond) => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    await makeCheckDue(user);
    provider.intercept = interceptPath('/token', respond);
    expect([await application.refresh(), await hasActiveSession(user.browser)]).toEqual(['200', true]);
  });

  test('because it sends the ID token of another account', async () => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    await makeCheckDue(user);
    const now = Math.floor(Date.now() / 1000);
    provider.alterIdToken = () => provider.signJwt({ iss: provider.issuer, aud: 'shop', iat: now, exp: now + 300, sub: 'another' });
    expect([await application.refresh(), await hasActiveSession(user.browser)]).toEqual(['200', true]);
  });

  test('because it is disabled', async () => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    provider.endAccount(user.sub);
    await makeCheckDue(user);
    await changeIdentityProvider(server.db, slug, { status: 'disabled' });
    expect([await application.refresh(), (await readLinkedAccount(user)).sealedRefreshToken === null]).toEqual(['200', false]);
  });

  test('because a lost response may have replaced the refresh token', async () => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    await makeCheckDue(user);
    provider.intercept = (req, res) => {
      if (req.url === '/token') Object.assign(res, { end: () => res.destroy() });
      return false;
    };
    expect(await application.refresh()).toBe('200');
    provider.reset();
    await makeCheckDue(user);
    expect([await application.refresh(), await hasActiveSession(user.browser)]).toEqual(['200', true]);
    expect((await readLinkedAccount(user)).sealedRefreshToken).toBeNull();
  });

  test('because a sign-in has replaced the refresh token in the meantime', async () => {
    const user = await signUpThroughProvider();
    const application = await connectApplication(user);
    await makeCheckDue(user);
    provider.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      provider.intercept = () => false;
      void signInThroughProvider(newBrowser(), provider, slug, { ...newProviderUser(), sub: user.sub }).then(() =>
        sendJson(res, 400, { error: 'invalid_grant' }),
      );
      return true;
    };
    expect([await application.refresh(), await hasActiveSession(user.browser)]).toEqual(['200', true]);
    expect((await readLinkedAccount(user)).sealedRefreshToken).not.toBeNull();
  });
});

test('a refresh waits at most two seconds for the provider, and a late refusal ends the access', async () => {
  const user = await signUpThroughProvider();
  const application = await connectApplication(user);
  await makeCheckDue(user);
  let refuse: (() => void) | undefined;
  provider.intercept = interceptPath('/token', (res) => {
    refuse = () => sendJson(res, 400, { error: 'invalid_grant' });
  });
  const start = performance.now();
  expect(await application.refresh()).toBe('200');
  expect(performance.now() - start).toBeGreaterThan(1_900);
  expect(await hasActiveSession(user.browser)).toBe(true);
  refuse?.();
  await expect.poll(() => hasActiveSession(user.browser)).toBe(false);
  expect(await application.refresh()).toBe(refused);
});

test.each([
  ['google', { scope: 'openid email profile', access_type: 'offline' }],
  ['apple', { scope: 'openid email profile' }],
  ['microsoft', { scope: 'openid email profile offline_access' }],
  ['oidc', { scope: 'openid email profile offline_access', prompt: 'consent' }],
] as const)('offline access is requested as the preset %s requires', async (preset, expected) => {
  await changeIdentityProvider(server.db, slug, { preset });
  const { searchParams } = await pressProviderButton(newBrowser(), slug);
  const { scope, access_type, prompt } = Object.fromEntries(searchParams);
  expect({ scope, access_type, prompt }).toEqual({ access_type: undefined, prompt: undefined, ...expected });
});

test('Google is asked for a new consent when a user links an account, because it issues no refresh token otherwise', async () => {
  await changeIdentityProvider(server.db, slug, { preset: 'google' });
  const { browser } = await signUp(server.origin);
  const page = await submitFormContaining(browser, await browser.open('/account/security'), `value="${slug}"`);
  const { access_type, prompt } = Object.fromEntries(readAuthorizationRequest(page).searchParams);
  expect({ access_type, prompt }).toEqual({ access_type: 'offline', prompt: 'consent' });
});
