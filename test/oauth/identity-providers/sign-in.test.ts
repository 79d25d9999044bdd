import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { addAuthenticatorApp, generateTotpCode, readAuditTrail, requestsSecondFactor } from '../../support/oauth/credentials.ts';
import {
  changeIdentityProvider,
  FakeIdentityProvider,
  insertIdentityProvider,
  newProviderUser,
} from '../../support/identity-providers/fake-identity-provider.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { authorizationPath, buildAuthorizationRequest, redeemCode, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';
import { useIdentityProvider } from '../../support/identity-providers/use-identity-provider.ts';
import { useServer } from '../../support/server/use-server.ts';
import { pressProviderButton, readAuthorizationRequest, signInThroughProvider } from './provider-sign-in.ts';

const server = useServer({ development: true });
const slug = 'example';
const provider = useIdentityProvider(server, { slug });
const newBrowser = () => new HttpBrowser(server.origin);

const findUser = async (email: string) =>
  (
    await server.db.em
      .fork()
      .execute<{ id: number; name: string; role: string; email_verification: string }[]>(
        'select id, name, role, email_verification from users where email = ?',
        [email],
      )
  )[0];
const countSessions = async (id: number | undefined): Promise<number> =>
  (await server.db.em.fork().execute(`select 1 from oauth_records where model = 'Session' and account_id = ?`, [String(id)])).length;

test('the button sends a request with PKCE, state and nonce, and the page works without the page script', async () => {
  const request = await pressProviderButton(newBrowser(), slug);
  expect(`${request.origin}${request.pathname}`).toBe(`${provider.issuer}/authorize`);
  expect(Object.fromEntries(request.searchParams)).toEqual({
    client_id: 'shop',
    response_type: 'code',
    redirect_uri: `${server.origin}/sign-in/providers/${slug}/callback`,
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{100,2000}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    ui_locales: 'en',
  });
});

test('the first sign-in creates a customer account, and the next one uses it', async () => {
  const paula = newProviderUser();
  const browser = newBrowser();
  const page = await signInThroughProvider(browser, provider, slug, paula);
  expect([page.url.pathname, page.text.includes('Paula Provider')]).toEqual(['/account', true]);
  const user = await findUser(paula.email);
  expect(user).toMatchObject({ name: 'Paula Provider', role: 'customer', email_verification: 'verified' });
  expect(await readAuditTrail(server, Number(user?.id))).toEqual(expect.arrayContaining(['account.created', 'session.started']));
  // the address does not identify the account, because it can change at the provider
  const again = await signInThroughProvider(newBrowser(), provider, slug, { ...paula, email: 'other@example.com', name: 'Other' });
  expect([again.url.pathname, again.text.includes('Paula Provider')]).toEqual(['/account', true]);
  expect(await findUser('other@example.com')).toBeUndefined();
  expect(await countSessions(user?.id)).toBe(2);
});

test('an application receives a code, and its ID token describes the authentication at the provider', async () => {
  const paula = { ...newProviderUser(), amr: ['pwd', 'hwk', 'mfa', 'made-up'], auth_time: Math.floor(Date.now() / 1000) - 300 };
  const browser = newBrowser();
  const { query, verifier } = buildAuthorizationRequest();
  const request = await pressProviderButton(browser, slug, await browser.open(authorizationPath(query)));
  const consent = await browser.open(provider.authorize(request, paula).href);
  expect(consent.url.pathname).toMatch(/^\/consent\//);
  const { externalRedirect } = await browser.submit(consent, { decision: 'allow' });
  const code = externalRedirect?.searchParams.get('code') ?? '';
  const response = await redeemCode(server.origin, { code, verifier, redirectUri: query['redirect_uri'] ?? '', clientId: 'mandate-cli' });
  const claims = decodeJwt(tokenResponseSchema.parse(await response.json()).id_token ?? '');
  expect(claims).toMatchObject({ amr: ['fed', 'pwd', 'hwk', 'mfa'], acr: 'urn:mandate:two-factors', auth_time: paula.auth_time });
});

describe('an application that requires two factors', () => {
  const requireTwoFactors = { claims: JSON.stringify({ id_token: { acr: { essential: true, values: ['urn:mandate:two-factors'] } } }) };
  const authorize = async (claims: object) => {
    const browser = newBrowser();
    const { query } = buildAuthorizationRequest(requireTwoFactors);
    const request = await pressProviderButton(browser, slug, await browser.open(authorizationPath(query)));
    return { browser, page: await browser.open(provider.authorize(request, { ...claims }).href) };
  };

  test('gets them from the provider', async () => {
    const { page } = await authorize({ ...newProviderUser(), amr: ['mfa'] });
    expect(page.url.pathname).toMatch(/^\/consent\//);
  });

  test('gets them from this server', async () => {
    const paula = newProviderUser();
    const first = newBrowser();
    await signInThroughProvider(first, provider, slug, paula);
    const { secret } = await addAuthenticatorApp(first);
    const { browser, page } = await authorize(paula);
    expect(requestsSecondFactor(page)).toBe(true);
    const code = generateTotpCode(secret, Date.now() + 30_000);
    expect((await submitFormContaining(browser, page, 'second-factor-form', { code })).url.pathname).toMatch(/^\/consent\//);
  });

  test('gets an error if neither can provide them', async () => {
    const { page } = await authorize(newProviderUser());
    expect(page.externalRedirect?.searchParams.get('error')).toBe('unmet_authentication_requirements');
  });
});

test('administrators configure the values of acr that mean two factors', async () => {
  const paula = newProviderUser();
  const first = newBrowser();
  await signInThroughProvider(first, provider, slug, paula);
  await addAuthenticatorApp(first);
  await changeIdentityProvider(server.db, slug, { twoFactorValues: ['gold'] });
  const signInWith = (claims: object) => signInThroughProvider(newBrowser(), provider, slug, { ...paula, ...claims });
  const [withMfa, withGold] = [await signInWith({ amr: ['mfa'] }), await signInWith({ acr: 'gold' })];
  expect([requestsSecondFactor(withMfa), withGold.url.pathname]).toEqual([true, '/account']);
  await changeIdentityProvider(server.db, slug, { twoFactorValues: ['mfa'] });
});

test('a change that requires a recent sign-in requires one at the provider', async () => {
  const paula = newProviderUser();
  const browser = newBrowser();
  const past = Math.floor(Date.now() / 1000) - 3600;
  await signInThroughProvider(browser, provider, slug, { ...paula, auth_time: past });
  const page = await browser.open('/account/security');
  expect(page.url.pathname).toBe('/sign-in');
  const request = await pressProviderButton(browser, slug, page);
  expect(request.searchParams.get('max_age')).toBe('0');
  const stale = await browser.open(provider.authorize(request, { ...paula, auth_time: past }).href);
  expect(stale.url.pathname).toBe('/sign-in');
  const fresh = await browser.open(
    provider.authorize(await pressProviderButton(browser, slug, stale), { ...paula, auth_time: Math.floor(Date.now() / 1000) }).href,
  );
  expect(fresh.url.pathname).toBe('/account/security');
});

describe('no account is created', () => {
  test.each([
    ['without email_verified', { email_verified: undefined }],
    ['with email_verified false', { email_verified: false }],
    ['with an invalid address', { email: 'not an address' }],
    ['without an address', { email: undefined }],
  ])('%s', async (_name, claims) => {
    const paula = { ...newProviderUser(), ...claims };
    const page = await signInThroughProvider(newBrowser(), provider, slug, paula);
    expect([page.response.status, page.text.includes('has not verified your e-mail address')]).toEqual([403, true]);
    expect(paula.email === undefined ? undefined : await findUser(paula.email)).toBeUndefined();
  });

  test('if the provider must not create accounts', async () => {
    await changeIdentityProvider(server.db, slug, { createsAccounts: false });
    const paula = newProviderUser();
    const page = await signInThroughProvider(newBrowser(), provider, slug, paula);
    await changeIdentityProvider(server.db, slug, { createsAccounts: true });
    expect([page.response.status, page.text.includes('You have no account here yet')]).toEqual([403, true]);
    expect(await findUser(paula.email)).toBeUndefined();
  });

  test.each([
    ['another domain', 'shop.example', 'a@other.example'],
    ['a longer domain', 'shop.example', 'a@evil-shop.example'],
    ['a subdomain', 'shop.example', 'a@sub.shop.example'],
  ])('with an address of %s', async (_name, emailDomain, email) => {
    await changeIdentityProvider(server.db, slug, { emailDomain });
    const page = await signInThroughProvider(newBrowser(), provider, slug, { ...newProviderUser(), email });
    await changeIdentityProvider(server.db, slug, { emailDomain: null });
    expect([page.response.status, page.text.includes('cannot be used here')]).toEqual([403, true]);
    expect(await findUser(email)).toBeUndefined();
  });
});

test('a suspended user cannot sign in', async () => {
  const paula = newProviderUser();
  await signInThroughProvider(newBrowser(), provider, slug, paula);
  await server.db.em.fork().execute(`update users set status = 'suspended' where email = ?`, [paula.email]);
  const page = await signInThroughProvider(newBrowser(), provider, slug, paula);
  expect([page.response.status, page.text.includes('cannot be used here')]).toEqual([403, true]);
});

test('Microsoft states in xms_edov whether the owner of the domain is verified', async () => {
  await changeIdentityProvider(server.db, slug, { preset: 'microsoft' });
  const paula = { ...newProviderUser(), email_verified: undefined };
  const unverified = await signInThroughProvider(newBrowser(), provider, slug, paula);
  const verified = await signInThroughProvider(newBrowser(), provider, slug, { ...paula, xms_edov: '1' });
  await changeIdentityProvider(server.db, slug, { preset: 'oidc' });
  expect([unverified.response.status, verified.url.pathname]).toEqual([403, '/account']);
});

describe('Apple', () => {
  test('receives a signed client secret, and responds with a form from another site', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const apple = new FakeIdentityProvider();
    await apple.start();
    const credential = { issuer: apple.issuer, clientSecret: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
    const method = {
      tokenEndpointAuthMethod: 'apple_client_secret' as const,
      keyId: 'KEY',
      teamId: 'TEAM',
      scopes: ['openid', 'email', 'name'],
    };
    await insertIdentityProvider(server.db, credential, { slug: 'apple', preset: 'apple', name: 'Apple', ...method });
    const browser = newBrowser();
    const request = await pressProviderButton(browser, 'apple');
    expect(request.searchParams.get('response_mode')).toBe('form_post');
    const { name: _, ...paula } = { ...newProviderUser(), email_verified: 'true' };
    const { searchParams } = apple.authorize(request, paula);
    searchParams.set('user', JSON.stringify({ name: { firstName: 'Pomona', lastName: 'Apple' } }));
    // the browser omits SameSite=Lax cookies from the cross-site form post, but sends them when it follows the redirect
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://appleid.apple.com',
      'sec-fetch-site': 'cross-site',
    };
    const callback = `${server.origin}/sign-in/providers/apple/callback`;
    const response = await fetch(callback, { method: 'POST', body: searchParams.toString(), headers, redirect: 'manual' });
    expect(response.status).toBe(303);
    const page = await browser.open(response.headers.get('location') ?? '');
    expect([page.url.pathname, page.text.includes('Pomona Apple')]).toEqual(['/account', true]);
    const secret = apple.tokenRequests.at(-1)?.get('client_secret') ?? '';
    expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: 'KEY' });
    expect(decodeJwt(secret)).toMatchObject({ iss: 'TEAM', sub: 'shop', aud: apple.issuer });
    await apple.stop();
  });
});

test('private_key_jwt: the server authenticates with a signed assertion', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const other = new FakeIdentityProvider();
  await other.start();
  const credential = { issuer: other.issuer, clientSecret: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
  await insertIdentityProvider(server.db, credential, { slug: 'assertion', tokenEndpointAuthMethod: 'private_key_jwt', keyId: 'one' });
  const page = await signInThroughProvider(newBrowser(), other, 'assertion', newProviderUser());
  expect(page.url.pathname).toBe('/account');
  const assertion = other.tokenRequests.at(-1)?.get('client_assertion') ?? '';
  expect(decodeProtectedHeader(assertion)).toMatchObject({ kid: 'one' });
  expect(decodeJwt(assertion)).toMatchObject({ iss: 'shop', sub: 'shop' });
  await other.stop();
});

test('a disabled provider has no button, and a sign-in that has started is not completed', async () => {
  const browser = newBrowser();
  const request = await pressProviderButton(browser, slug);
  await changeIdentityProvider(server.db, slug, { status: 'disabled' });
  const page = await browser.open(provider.authorize(request, newProviderUser()).href);
  const signIn = await newBrowser().open('/sign-in');
  await changeIdentityProvider(server.db, slug, { status: 'enabled' });
  expect([page.response.status, signIn.text.includes(`providers/${slug}`)]).toEqual([400, false]);
});

test.each([
  ['de', 'Weiter mit Example ID'],
  ['fr', 'Continuer avec Example ID'],
  ['es', 'Continuar con Example ID'],
])('the pages exist in %s', async (language, label) => {
  const browser = newBrowser();
  const page = await browser.open(`/sign-in?language=${language}`);
  expect(page.text).toContain(label);
  const redirect = await submitFormContaining(browser, page, `providers/${slug}/start`);
  expect(redirect.text).toContain(`lang="${language}"`);
  expect(readAuthorizationRequest(redirect).searchParams.get('ui_locales')).toBe(language);
});
