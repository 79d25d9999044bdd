import { randomUUID } from 'node:crypto';
import { UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { hasActiveSession, submitFormContaining } from '../../support/oauth/account-pages.ts';
import { readAuditTrail } from '../../support/oauth/credentials.ts';
import {
  changeIdentityProvider,
  FakeIdentityProvider,
  insertIdentityProvider,
  newProviderUser,
} from '../../support/identity-providers/fake-identity-provider.ts';
import { obtainTokens, sendRefreshRequest, signIn, signUpWithRole, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { useIdentityProvider } from '../../support/identity-providers/use-identity-provider.ts';
import { useServer } from '../../support/server/use-server.ts';
import { readAuthorizationRequest, signInThroughProvider } from './provider-sign-in.ts';

const server = useServer({ development: true });
const slug = 'company';
const company = useIdentityProvider(server, { slug, name: 'Company ID' });
const newBrowser = () => new HttpBrowser(server.origin);

beforeEach(() => changeIdentityProvider(server.db, slug, { requiredForStaff: false, breakGlassUser: null, audience: 'everyone' }));

/** Signs up a user with a role, and links an account at the company's provider. */
async function createLinkedUser(role: 'customer' | 'staff' | 'admin'): Promise<TestUser & { readonly claims: { sub: string } }> {
  const user = await signUpWithRole(server.db, server.origin, role);
  const claims = newProviderUser();
  const page = await submitFormContaining(user.browser, await user.browser.open('/account/security'), `value="${slug}"`);
  await user.browser.open(company.authorize(readAuthorizationRequest(page), claims).href);
  return { ...user, claims };
}

describe("staff must use the company's provider", () => {
  test('instead of a password, except for the break-glass administrator', async () => {
    const [staff, admin, breakGlass] = [await createLinkedUser('staff'), await createLinkedUser('admin'), await createLinkedUser('admin')];
    const customer = await createLinkedUser('customer');
    await changeIdentityProvider(server.db, slug, { requiredForStaff: true, breakGlassUser: breakGlass.id });
    for (const user of [staff, admin]) {
      const browser = newBrowser();
      const page = await browser.submit(await browser.open('/sign-in'), { email: user.email, password: user.password });
      expect([page.response.status, page.text.includes('Sign in through Company ID'), await hasActiveSession(browser)]).toEqual([
        403,
        true,
        false,
      ]);
      expect((await signInThroughProvider(newBrowser(), company, slug, user.claims)).url.pathname).toBe('/account');
    }
    await signIn(server.origin, breakGlass);
    await signIn(server.origin, customer);
  });

  test('instead of another provider', async () => {
    const other = new FakeIdentityProvider();
    await other.start();
    await insertIdentityProvider(server.db, other, { slug: 'private', name: 'Private ID' });
    const staff = await createLinkedUser('staff');
    const page = await submitFormContaining(staff.browser, await staff.browser.open('/account/security'), 'value="private"');
    await staff.browser.open(other.authorize(readAuthorizationRequest(page), staff.claims).href);
    await changeIdentityProvider(server.db, slug, { requiredForStaff: true });
    const refused = await signInThroughProvider(newBrowser(), other, 'private', staff.claims);
    expect([refused.response.status, refused.text.includes('Sign in through Company ID')]).toEqual([403, true]);
    await other.stop();
  });

  test('only while the provider is enabled', async () => {
    const staff = await createLinkedUser('staff');
    await changeIdentityProvider(server.db, slug, { requiredForStaff: true, status: 'disabled' });
    const browser = await signIn(server.origin, staff);
    await changeIdentityProvider(server.db, slug, { status: 'enabled' });
    expect(await hasActiveSession(browser)).toBe(true);
  });
});

test.each([
  ['staff', 'customer'],
  ['customers', 'staff'],
] as const)('a provider for %s cannot be used by an account with the role %s', async (audience, role) => {
  const user = await createLinkedUser(role);
  await changeIdentityProvider(server.db, slug, { audience });
  const page = await signInThroughProvider(newBrowser(), company, slug, user.claims);
  expect([page.response.status, page.text.includes('cannot be used here')]).toEqual([403, true]);
  expect((await user.browser.open('/account/security')).text).not.toContain(`value="${slug}"`);
});

describe('a logout token', () => {
  const seconds = () => Math.floor(Date.now() / 1000);
  const logoutClaims = (sub: string) => ({
    iss: company.issuer,
    aud: 'shop',
    iat: seconds(),
    exp: seconds() + 120,
    jti: randomUUID(),
    sub,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  const send = (token: string, provider = slug): Promise<Response> =>
    fetch(`${server.origin}/sign-in/providers/${provider}/logout`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) });

  test('ends the sessions of the user, but not the grants of a customer', async () => {
    const customer = await createLinkedUser('customer');
    const { refresh_token: refreshToken = '' } = await obtainTokens(server.origin, customer, ['orders.read']);
    const other = await createLinkedUser('customer');
    const response = await send(await company.signJwt(logoutClaims(customer.claims.sub)));
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect([await hasActiveSession(customer.browser), await hasActiveSession(other.browser)]).toEqual([false, true]);
    expect((await sendRefreshRequest(server.origin, refreshToken)).status).toBe(200);
    expect(await readAuditTrail(server, customer.id)).toContain('sessions.ended');
  });

  test('also revokes the grants of staff who must use this provider', async () => {
    const staff = await createLinkedUser('staff');
    const { refresh_token: refreshToken = '' } = await obtainTokens(server.origin, staff, ['orders.read']);
    await changeIdentityProvider(server.db, slug, { requiredForStaff: true });
    expect((await send(await company.signJwt(logoutClaims(staff.claims.sub)))).status).toBe(200);
    expect((await sendRefreshRequest(server.origin, refreshToken)).status).toBe(400);
  });

  test('for an unknown account is accepted and has no effect', async () => {
    const customer = await createLinkedUser('customer');
    expect((await send(await company.signJwt(logoutClaims('unknown')))).status).toBe(200);
    expect(await hasActiveSession(customer.browser)).toBe(true);
  });

  test('is accepted only once', async () => {
    const token = await company.signJwt(logoutClaims('unknown'));
    expect([(await send(token)).status, (await send(token)).status]).toEqual([200, 400]);
  });

  test.each<[string, object]>([
    ['with a nonce, which is an ID token', { nonce: 'n' }],
    ['without the event', { events: {} }],
    ['of another audience', { aud: 'another' }],
    ['of another issuer', { iss: 'https://accounts.google.com' }],
    ['without an ID', { jti: undefined }],
    ['without a subject', { sub: undefined }],
    ['that has expired', { exp: 1 }],
    ['that was issued long ago', { iat: 1 }],
  ])('is rejected: %s', async (_name, change) => {
    const customer = await createLinkedUser('customer');
    const response = await send(await company.signJwt({ ...logoutClaims(customer.claims.sub), ...change }));
    expect([response.status, await hasActiveSession(customer.browser)]).toEqual([400, true]);
  });

  test('is rejected without a signature, and at an unknown provider', async () => {
    const customer = await createLinkedUser('customer');
    const claims = logoutClaims(customer.claims.sub);
    expect((await send(new UnsecuredJWT(claims).encode())).status).toBe(400);
    expect((await send(await company.signJwt(claims), 'unknown')).status).toBe(400);
    expect((await send('')).status).toBe(400);
    expect(await hasActiveSession(customer.browser)).toBe(true);
  });
});
