import { decodeJwt, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { hasActiveSession, submitFormContaining } from '../../support/oauth/account-pages.ts';
import {
  FakeIdentityProvider,
  insertIdentityProvider,
  newProviderUser,
  type FakeClaims,
} from '../../support/identity-providers/fake-identity-provider.ts';
import { signIn, signUp } from '../../support/oauth/oauth-flow.ts';
import { useIdentityProvider } from '../../support/identity-providers/use-identity-provider.ts';
import { useServer } from '../../support/server/use-server.ts';
import { pressProviderButton, readAuthorizationRequest, signInThroughProvider } from './provider-sign-in.ts';

const server = useServer({ development: true, onLogLine: () => undefined });
const slug = 'example';
const provider = useIdentityProvider(server, { slug });
const otherProvider = useIdentityProvider(server, { slug: 'other', name: 'Other ID' });
const newBrowser = () => new HttpBrowser(server.origin);

const isKnown = async (email: string): Promise<boolean> =>
  (await server.db.em.fork().execute('select 1 from users where email = ?', [email])).length > 0;

/**
 * Returns the outcome of a response: the status, whether the page contains the given text, whether an account was created, and whether a
 * session was started.
 */
const readOutcome = async (browser: HttpBrowser, page: HtmlPage, text: string, email: string): Promise<unknown[]> => [
  page.response.status,
  page.text.includes(text),
  await isKnown(email),
  await hasActiveSession(browser),
];

/** Returns the outcome of a response that is rejected with the expected text. Nothing is written, and the browser is not signed in. */
const rejectedWith = (status: number): unknown[] => [status, true, false, false];

const invalid = 'was not valid';
const expired = 'has expired, was started in another browser, or has already been completed';

describe('an ID token is rejected', () => {
  const seconds = Math.floor(Date.now() / 1000);
  test.each<[string, FakeClaims]>([
    ['of another audience', { aud: 'another-client' }],
    ['of several audiences without azp', { aud: ['shop', 'another-client'] }],
    ['for another authorized party', { aud: ['shop', 'another-client'], azp: 'another-client' }],
    ['of another issuer', { iss: 'https://accounts.google.com' }],
    ['with another nonce', { nonce: 'another-nonce' }],
    ['without a nonce', { nonce: undefined }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['that has expired', { iat: seconds - 3600, exp: seconds - 600 }],
    ['that is not valid yet', { nbf: seconds + 3600 }],
  ])('%s', async (_name, change) => {
    const paula = newProviderUser();
    const browser = newBrowser();
    expect(
      await readOutcome(browser, await signInThroughProvider(browser, provider, slug, { ...paula, ...change }), invalid, paula.email),
    ).toEqual(rejectedWith(400));
  });

  test('without a signature', async () => {
    const paula = newProviderUser();
    provider.alterIdToken = (token) => new UnsecuredJWT(decodeJwt(token)).encode();
    provider.metadata = { id_token_signing_alg_values_supported: ['none', 'ES256'] };
    const browser = newBrowser();
    expect(await readOutcome(browser, await signInThroughProvider(browser, provider, slug, paula), invalid, paula.email)).toEqual(
      rejectedWith(400),
    );
  });

  test('with the signature of another provider', async () => {
    const paula = newProviderUser();
    provider.alterIdToken = (token) => otherProvider.signJwt(decodeJwt(token));
    const browser = newBrowser();
    expect(await readOutcome(browser, await signInThroughProvider(browser, provider, slug, paula), invalid, paula.email)).toEqual(
      rejectedWith(400),
    );
  });

  test('with changed claims', async () => {
    const paula = newProviderUser();
    provider.alterIdToken = (token) => {
      const [header, , signature] = token.split('.');
      const claims = { ...decodeJwt(token), email: 'admin@example.com' };
      return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
    };
    const browser = newBrowser();
    expect(await readOutcome(browser, await signInThroughProvider(browser, provider, slug, paula), invalid, paula.email)).toEqual(
      rejectedWith(400),
    );
  });

  test('replayed from an earlier sign-in', async () => {
    const paula = newProviderUser();
    let earlier = '';
    provider.alterIdToken = (token) => (earlier = token);
    await signInThroughProvider(newBrowser(), provider, slug, paula);
    provider.alterIdToken = () => earlier;
    const browser = newBrowser();
    const page = await signInThroughProvider(browser, provider, slug, paula);
    expect([page.response.status, page.text.includes(invalid), await hasActiveSession(browser)]).toEqual([400, true, false]);
  });
});

test("if the provider's keys change between the request and the response, the new key is used immediately", async () => {
  const browser = newBrowser();
  await signInThroughProvider(newBrowser(), provider, slug, newProviderUser());
  const request = await pressProviderButton(browser, slug);
  await provider.rotateKey();
  expect((await browser.open(provider.authorize(request, newProviderUser()).href)).url.pathname).toBe('/account');
});

test('a clock that differs by less than a minute is accepted', async () => {
  const ahead = Math.floor(Date.now() / 1000) + 45;
  const page = await signInThroughProvider(newBrowser(), provider, slug, { ...newProviderUser(), iat: ahead, nbf: ahead });
  expect(page.url.pathname).toBe('/account');
});

describe('a response is rejected', () => {
  test('in another browser (login CSRF)', async () => {
    const attacker = newProviderUser();
    const response = provider.authorize(await pressProviderButton(newBrowser(), slug), attacker);
    const victim = newBrowser();
    await victim.open('/sign-in');
    expect(await readOutcome(victim, await victim.open(response.href), expired, attacker.email)).toEqual(rejectedWith(400));
  });

  test("in another signed-in user's browser, even if the attacker has started to link an account", async () => {
    const [attacker, victim] = [await signUp(server.origin), await signUp(server.origin)];
    const security = await attacker.browser.open('/account/security');
    const request = readAuthorizationRequest(await submitFormContaining(attacker.browser, security, `value="${slug}"`));
    const page = await victim.browser.open(provider.authorize(request, newProviderUser()).href);
    expect([page.response.status, page.text.includes(expired)]).toEqual([400, true]);
    expect(await server.db.em.fork().execute('select 1 from linked_accounts where user_id in (?, ?)', [attacker.id, victim.id])).toEqual(
      [],
    );
  });

  test('a second time', async () => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), { ...paula, email_verified: false });
    const [first, second] = [await browser.open(response.href), await browser.open(response.href)];
    expect([first.response.status, second.response.status]).toEqual([403, 400]);
    expect(await readOutcome(browser, second, expired, paula.email)).toEqual(rejectedWith(400));
  });

  test('with a code that was redeemed before', async () => {
    const paula = newProviderUser();
    const used = provider.authorize(await pressProviderButton(newBrowser(), slug), paula).searchParams.get('code') ?? '';
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    response.searchParams.set('code', used); // this code was issued for a different sign-in, with a different code challenge
    expect(await readOutcome(browser, await browser.open(response.href), invalid, paula.email)).toEqual(rejectedWith(400));
  });

  test.each([
    ['from another provider at the redirect URI of the first (mix-up)', 'https://mixed-up.example'],
    ['without iss, if the provider supports it', undefined],
  ])('%s', async (_name, issuer) => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    if (issuer === undefined) response.searchParams.delete('iss');
    else response.searchParams.set('iss', issuer);
    expect(await readOutcome(browser, await browser.open(response.href), invalid, paula.email)).toEqual(rejectedWith(400));
  });

  test('at the redirect URI of another provider', async () => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    response.pathname = '/sign-in/providers/other/callback';
    expect(await readOutcome(browser, await browser.open(response.href), expired, paula.email)).toEqual(rejectedWith(400));
  });

  test.each([
    ['no state', ''],
    ['a made-up state', 'x'.repeat(300)],
    ['a state with other bytes', undefined],
  ])('with %s', async (_name, state) => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    const original = response.searchParams.get('state') ?? '';
    response.searchParams.set('state', state ?? `${original.slice(0, 50)}${original[50] === 'A' ? 'B' : 'A'}${original.slice(51)}`);
    expect(await readOutcome(browser, await browser.open(response.href), expired, paula.email)).toEqual(rejectedWith(400));
  });

  test('for the interaction of another application request', async () => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    const page = await browser.open(`/sign-in/another-interaction/providers/${slug}/complete${response.search}`);
    expect(await readOutcome(browser, page, expired, paula.email)).toEqual(rejectedWith(400));
  });

  test('with two codes', async () => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    response.searchParams.append('code', 'another');
    expect(await readOutcome(browser, await browser.open(response.href), invalid, paula.email)).toEqual(rejectedWith(400));
  });
});

test('a user who cancels at the provider returns to the sign-in page', async () => {
  const browser = newBrowser();
  const response = provider.authorize(await pressProviderButton(browser, slug), {});
  response.searchParams.delete('code');
  response.searchParams.set('error', 'access_denied');
  expect((await browser.open(response.href)).url.pathname).toBe('/sign-in');
});

test('the metadata of another issuer is rejected', async () => {
  const liar = new FakeIdentityProvider();
  await liar.start();
  liar.metadata = { issuer: provider.issuer };
  await insertIdentityProvider(server.db, liar, { slug: 'liar' });
  const browser = newBrowser();
  const page = await submitFormContaining(browser, await browser.open('/sign-in'), 'providers/liar/start');
  expect([page.response.status, page.text.includes(invalid)]).toEqual([400, true]);
  await liar.stop();
});

describe('a provider that does not respond properly affects only its own button', () => {
  const unavailable = 'cannot be reached at the moment';
  /** Expects that other sign-ins succeed while one sign-in is waiting for the provider. */
  async function expectOtherSignInsWork(): Promise<void> {
    const anna = await signUp(server.origin);
    await signIn(server.origin, anna);
    expect((await signInThroughProvider(newBrowser(), otherProvider, 'other', newProviderUser())).url.pathname).toBe('/account');
  }

  test('requests with slow responses are aborted after five seconds', async () => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    provider.intercept = () => true; // the provider never responds
    const page = browser.open(response.href);
    await expectOtherSignInsWork();
    expect(await readOutcome(browser, await page, unavailable, paula.email)).toEqual(rejectedWith(503));
  });

  test('a request with a response of 10 MB is aborted', async () => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    provider.intercept = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end(`{"id_token": "${'x'.repeat(10_000_000)}"}`);
      return true;
    };
    expect(await readOutcome(browser, await browser.open(response.href), unavailable, paula.email)).toEqual(rejectedWith(503));
  });

  test.each([
    ['an error', 500, '{"error":"server_error"}', 503, unavailable],
    ['a page', 200, '<html></html>', 400, invalid],
    ['a redirect', 302, '', 400, invalid],
    ['no ID token', 200, '{"access_token":"a","token_type":"Bearer"}', 400, invalid],
    ['a challenge, because the secret is wrong', 401, '{"error":"invalid_client"}', 400, invalid],
  ])('%s as the token response', async (_name, code, body, status, text) => {
    const paula = newProviderUser();
    const browser = newBrowser();
    const response = provider.authorize(await pressProviderButton(browser, slug), paula);
    provider.intercept = ({ url }, res) => {
      if (url !== '/token') return false;
      if (code === 401) res.setHeader('www-authenticate', 'Basic realm="provider", error="invalid_client"');
      res.writeHead(code, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/html', location: '/jwks' }).end(body);
      return true;
    };
    expect(await readOutcome(browser, await browser.open(response.href), text, paula.email)).toEqual(rejectedWith(status));
  });

  test('a server that is down', async () => {
    const down = new FakeIdentityProvider();
    await down.start();
    await insertIdentityProvider(server.db, down, { slug: 'down' });
    await down.stop();
    const browser = newBrowser();
    const page = await submitFormContaining(browser, await browser.open('/sign-in'), 'providers/down/start');
    expect([page.response.status, page.text.includes(unavailable)]).toEqual([503, true]);
    await expectOtherSignInsWork();
  });
});

test('the form that starts a sign-in requires a token', async () => {
  const browser = newBrowser();
  const body = new URLSearchParams({ csrf: 'made-up', next: '/account' });
  const response = await browser.request(`/sign-in/providers/${slug}/start`, { method: 'POST', body });
  expect([response.status, (await response.text()).includes('open for too long')]).toEqual([400, true]);
});
