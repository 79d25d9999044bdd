import { afterEach, describe, expect, test, vi } from 'vitest';
import { createClient, SignInRequiredError } from '@mandate/client-sdk';
import type { ServerSignIn } from '@mandate/client-sdk/server';
import { startStubAuthorizationServer, type StubAuthorizationServer } from '../authorization/stub-authorization-server.ts';
import { CookieJar, createSignIn, origin, secret, signInBrowser } from './bff-browser.ts';

afterEach(() => void vi.useRealTimers());

const countRefreshes = ({ grants }: StubAuthorizationServer): number => grants.filter((grant) => grant === 'refresh_token').length;

describe('the cookie', () => {
  const isSignedIn = async (signIn: ServerSignIn, cookie: string): Promise<boolean> =>
    (await signIn.openSession(new Request(origin, { headers: { cookie } }))).signedIn;

  test('is rejected if it was changed, expired or meant for another purpose', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server, { sessionMaxAgeSeconds: 60 });
    const browser = await signInBrowser(signIn, server);
    const [name = '', value = ''] = browser.header().split('=');
    expect(await isSignedIn(signIn, `${name}=${value}`)).toBe(true);
    const middle = Math.floor(value.length / 2);
    const changed = value.slice(0, middle) + (value[middle] === 'A' ? 'B' : 'A') + value.slice(middle + 1);
    for (const invalid of [changed, value.slice(0, -4), '', 'x', '%%%']) expect(await isSignedIn(signIn, `${name}=${invalid}`)).toBe(false);
    const pending = new CookieJar();
    pending.store(await signIn.startSignIn(pending.request('/auth/sign-in')));
    expect(await isSignedIn(signIn, `${name}=${pending.header().split('=')[1]}`)).toBe(false);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    expect(await isSignedIn(signIn, `${name}=${value}`)).toBe(false);
  });

  test('remains valid while its secret is replaced', async () => {
    await using server = await startStubAuthorizationServer();
    const browser = await signInBrowser(createSignIn(server), server);
    const newSecret = 'a new secret of at least thirty-two characters';
    expect(await isSignedIn(createSignIn(server, { cookieSecrets: [newSecret, secret] }), browser.header())).toBe(true);
    expect(await isSignedIn(createSignIn(server, { cookieSecrets: [newSecret] }), browser.header())).toBe(false);
    const rotated = await signInBrowser(createSignIn(server, { cookieSecrets: [newSecret, secret] }), server);
    expect(await isSignedIn(createSignIn(server, { cookieSecrets: [newSecret] }), rotated.header())).toBe(true);
  });

  test('requires a long secret', async () => {
    await using server = await startStubAuthorizationServer();
    expect(() => createSignIn(server, { cookieSecrets: ['short'] })).toThrow(/secrets of at least 32 characters/);
    expect(() => createSignIn(server, { cookieSecrets: [] })).toThrow(/secrets of at least 32 characters/);
  });

  test('is not created if browsers would not store it', async () => {
    await using server = await startStubAuthorizationServer();
    const returnTo = `/${'x'.repeat(5000)}`;
    await expect(createSignIn(server).startSignIn(new Request(origin), { returnTo })).resolves.toMatchObject({ status: 303 });
    await expect(createSignIn(server, { cookieName: 'x'.repeat(4000) }).startSignIn(new Request(origin))).rejects.toThrow(
      /browsers store at most 4096/,
    );
  });
});

describe('a refresh', () => {
  test('happens once for all requests with the same cookie, even if the browser never received the next cookie', async () => {
    await using server = await startStubAuthorizationServer({ tokenDelayMs: 50 });
    const signIn = createSignIn(server);
    const browser = await signInBrowser(signIn, server);
    const withOldCookie = browser.request('/');
    for (const expectedRefreshes of [1, 2]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 590_000 });
      const requests = [...Array.from({ length: 5 }, () => withOldCookie), browser.request('/')];
      const sessions = await Promise.all(requests.map((request) => signIn.openSession(request)));
      expect(sessions.map(({ signedIn }) => signedIn)).toEqual(requests.map(() => true));
      const responses = await Promise.all(sessions.map((session) => session.addCookie(new Response('page', { status: 201 }))));
      for (const response of responses) {
        expect([response.status, response.headers.get('cache-control'), await response.text()]).toEqual([201, 'no-store', 'page']);
        browser.store(response);
      }
      expect(countRefreshes(server)).toBe(expectedRefreshes);
    }
  });

  test('replaces the cookie only if the tokens have changed', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const browser = await signInBrowser(signIn, server);
    const unchanged = new Response('page');
    expect(await (await signIn.openSession(browser.request('/'))).addCookie(unchanged)).toBe(unchanged);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 590_000 });
    const requests = [browser.request('/'), browser.request('/orders')];
    const sessions = await Promise.all(requests.map((request) => signIn.openSession(request)));
    expect(countRefreshes(server)).toBe(1);
    for (const session of sessions) browser.store(await session.addCookie(new Response('page')));
    const renewed = await signIn.openSession(browser.request('/'));
    expect(await createClient({ baseUrl: server.url, auth: renewed.auth }).orders.get(1)).toEqual({ id: 1 });
    expect(await renewed.addCookie(unchanged)).toBe(unchanged);
    expect(countRefreshes(server)).toBe(1);
  });

  test('that is refused ends the session, as does a token that the API rejects', async () => {
    await using server = await startStubAuthorizationServer();
    const signIn = createSignIn(server);
    const browser = await signInBrowser(signIn, server);
    const session = await signIn.openSession(browser.request('/'));
    server.current.refreshToken = undefined;
    await fetch(`${server.url}/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }) });
    await expect(createClient({ baseUrl: server.url, auth: session.auth }).orders.get(1)).rejects.toBeInstanceOf(SignInRequiredError);
    const response = browser.store(await session.addCookie(new Response('sign in again')));
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-mandate-session=; Max-Age=0;/)]);
    const next = await signIn.openSession(browser.request('/'));
    expect(next.signedIn).toBe(false);
    await expect(next.auth.accessToken()).rejects.toBeInstanceOf(SignInRequiredError);
  });

  test('that fails because the server is unavailable keeps the session', async () => {
    let isAvailable = true;
    await using server = await startStubAuthorizationServer();
    const available: typeof fetch = async (url, init) => (isAvailable ? fetch(url, init) : Promise.reject(new TypeError('fetch failed')));
    const signIn = createSignIn(server, { fetch: (url, init) => available(url, init) });
    const browser = await signInBrowser(signIn, server);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 590_000 });
    isAvailable = false;
    const session = await signIn.openSession(browser.request('/'));
    const page = new Response('page');
    expect([session.signedIn, await session.addCookie(page)]).toEqual([true, page]);
    isAvailable = true;
    expect(await session.auth.accessToken()).toBe('access-2');
  });
});
