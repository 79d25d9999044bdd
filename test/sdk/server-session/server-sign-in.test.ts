import { describe, expect, test } from 'vitest';
import { createClient } from '@mandate/client-sdk';
import type { ServerSignIn } from '@mandate/client-sdk/server';
import { startStubAuthorizationServer } from '../authorization/stub-authorization-server.ts';
import { callbackPath, CookieJar, createSignIn, origin, signInBrowser } from './bff-browser.ts';

describe('signing in', () => {
  test('stores the tokens in an encrypted cookie that scripts cannot read, and returns to the page', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const browser = new CookieJar();
    const start = browser.store(await signIn.startSignIn(browser.request('/auth/sign-in?return_to=/cart%3Fstep=2')));
    expect(start.status).toBe(303);
    expect(start.headers.get('location')).toMatch(new RegExp(`^${server.url}/authorize\\?.*code_challenge_method=S256`));
    const callback = await signIn.completeSignIn(browser.request(callbackPath(start, server)));
    expect([callback.status, callback.headers.get('location')]).toEqual([303, `${origin}/cart?step=2`]);
    expect(callback.headers.get('cache-control')).toBe('no-store');
    const [session = '', pending = ''] = callback.headers.getSetCookie();
    expect(session).toMatch(/^__Host-mandate-session=[\w-]{200,}; Max-Age=(2592000|2591999); Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect(pending).toMatch(/^__Host-mandate-session-sign-in=; Max-Age=0;/);
    expect(Buffer.from(session, 'base64url').toString('latin1')).not.toContain('access-1');
    browser.store(callback);
    const opened = await signIn.openSession(browser.request('/'));
    expect([opened.signedIn, opened.scopes]).toEqual([true, ['orders.read']]);
    expect(await createClient({ baseUrl: server.url, auth: opened.auth }).orders.get(1)).toEqual({ id: 1 });
    const request = server.seen.find(({ url, body }) => url === '/token' && body.includes('authorization_code'));
    expect(request?.headers.authorization).toBe(`Basic ${btoa('bff:client+secret')}`);
  });

  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/x/..//evil.example'])(
    'does not return to %s',
    async (returnTo) => {
      await using server = await startStubAuthorizationServer();
      const signIn = createSignIn(server);
      const browser = new CookieJar();
      const start = browser.store(await signIn.startSignIn(browser.request('/auth/sign-in'), { returnTo }));
      const callback = await signIn.completeSignIn(browser.request(callbackPath(start, server)));
      expect(new URL(callback.headers.get('location') ?? '').origin).toBe(origin);
    },
  );

  test('rejects a sign-in that another browser started, and a second use of the callback', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const [attacker, browser] = [new CookieJar(), new CookieJar()];
    const start = attacker.store(await signIn.startSignIn(attacker.request('/auth/sign-in')));
    browser.store(await signIn.startSignIn(browser.request('/auth/sign-in')));
    const path = callbackPath(start, server);
    await expect(signIn.completeSignIn(browser.request(path))).rejects.toMatchObject({ error: 'sign_in_expired' });
    attacker.store(await signIn.completeSignIn(attacker.request(path)));
    await expect(signIn.completeSignIn(attacker.request(path))).rejects.toMatchObject({ error: 'sign_in_expired' });
    expect(server.grants).toEqual(['authorization_code']);
  });

  test('can be in progress in three tabs', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const browser = new CookieJar();
    const starts: Response[] = [];
    for (let tab = 0; tab < 4; tab++) starts.push(browser.store(await signIn.startSignIn(browser.request('/auth/sign-in'))));
    for (const start of starts.slice(1)) browser.store(await signIn.completeSignIn(browser.request(callbackPath(start, server))));
    const [oldest] = starts;
    if (!oldest) throw new Error('no sign-in was started');
    await expect(signIn.completeSignIn(browser.request(callbackPath(oldest, server)))).rejects.toMatchObject({ error: 'sign_in_expired' });
  });

  test('fails with the error of the authorization server', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const browser = new CookieJar();
    const start = browser.store(await signIn.startSignIn(browser.request('/auth/sign-in'), { scopes: ['orders.write'] }));
    const { searchParams } = new URL(start.headers.get('location') ?? '');
    expect(searchParams.get('scope')).toBe('orders.write');
    const query = new URLSearchParams({ error: 'access_denied', state: searchParams.get('state') ?? '', iss: server.url });
    await expect(signIn.completeSignIn(browser.request(`/auth/callback?${query.toString()}`))).rejects.toMatchObject({
      name: 'AuthorizationError',
      error: 'access_denied',
    });
  });

  test('uses an ordinary cookie name without https', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server, { redirectUri: 'http://localhost:4000/auth/callback', cookieName: 'shop' });
    const start = await signIn.startSignIn(new Request('http://localhost:4000/auth/sign-in'));
    expect(start.headers.get('set-cookie')).toMatch(/^shop-sign-in=[\w-]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
  });
});

describe('cross-site requests', () => {
  const headersFromBrowser: readonly (readonly [string, Record<string, string>, boolean])[] = [
    ['the same origin', { 'sec-fetch-site': 'same-origin', origin }, true],
    ['the same origin, in an older browser', { origin }, true],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, false],
    ['another subdomain', { 'sec-fetch-site': 'same-site', origin: 'https://other.app.example' }, false],
    ['another site, in an older browser', { origin: 'https://evil.example' }, false],
    ['an opaque origin', { origin: 'null' }, false],
    ['an unknown program', {}, false],
  ];
  test.each(headersFromBrowser)('a form from %s', async (_, headers, isAccepted) => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const browser = await signInBrowser(signIn, server);
    const request = browser.request('/auth/sign-out', { method: 'POST', headers });
    expect(signIn.rejectCrossSiteRequest(request)?.status).toBe(isAccepted ? undefined : 403);
    expect((await signIn.signOut(request)).status).toBe(isAccepted ? 303 : 403);
    expect(server.seen.some(({ url }) => url === '/revoke')).toBe(isAccepted);
    expect(signIn.rejectCrossSiteRequest(browser.request('/', { headers }))).toBeUndefined();
  });
});

describe('signing out', () => {
  const fromPage = { method: 'POST', headers: { origin } };

  test('revokes the refresh token and removes the cookie', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const browser = await signInBrowser(signIn, server);
    const response = browser.store(await signIn.signOut(browser.request('/auth/sign-out', fromPage), { returnTo: '/goodbye' }));
    expect([response.status, response.headers.get('location'), browser.names()]).toEqual([303, `${origin}/goodbye`, []]);
    const revocation = server.seen.find(({ url }) => url === '/revoke');
    expect(revocation?.body).toContain('token=refresh-1');
    expect(revocation?.headers.authorization).toMatch(/^Basic /);
  });

  test('accepts only POST', async () => {
    await using server = await startStubAuthorizationServer();
    const response = await createSignIn(server).signOut(new Request(`${origin}/auth/sign-out`));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('removes the cookie and reports the failure if the token cannot be revoked', async () => {
    const failures: unknown[] = [];
    let browser = new CookieJar();
    let signIn: ServerSignIn;
    {
      await using server = await startStubAuthorizationServer();
      signIn = createSignIn(server, { onRevocationFailure: (error) => failures.push(error) });
      browser = await signInBrowser(signIn, server);
    }
    browser.store(await signIn.signOut(browser.request('/auth/sign-out', fromPage)));
    expect(browser.names()).toEqual([]);
    expect(failures).toEqual([expect.objectContaining({ name: 'ConnectionError' })]);
  });
});
