import { describe, expect, test } from 'vitest';
import { twoFactorAcrValue } from '../../../server/oauth/protocol/acr-and-amr.ts';
import { useServer } from '../../support/server/use-server.ts';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { buildAuthorizationRequest, authorizationPath, signIn, signUp } from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const newBrowser = () => new HttpBrowser(server.origin);
const withoutSecrets = ({ text }: HtmlPage): string =>
  text.replace(/name="csrf" value="[^"]*"|data-options="[^"]*"/g, '').replaceAll(/[\w.]+@example\.com/g, '');

test('a user signs in, sees the e-mail address of the account, and signs out', async () => {
  const anna = await signUp(server.origin);
  const browser = await signIn(server.origin, anna);
  const account = await browser.open('/account');
  expect(account.text).toContain(anna.email);
  const signedOutPage = await browser.open('/sign-out', {
    method: 'POST',
    body: new URLSearchParams({ csrf: /name="csrf" value="([^"]*)"/.exec(account.text)?.[1] ?? '' }),
  });
  expect(signedOutPage.text).toContain('You are signed out');
  expect((await browser.open('/account')).url.pathname).toBe('/sign-in');
});

describe('the sign-in page of a signed-in user', () => {
  test('continues to the account without a password, and offers another account', async () => {
    const anna = await signUp(server.origin);
    const page = await anna.browser.open('/sign-in');
    expect(page.text).toContain('<a class="button main" href="/account"><span class="two-lines">Continue as Anna Test</span></a>');
    const ben = await signUp(server.origin);
    const account = await anna.browser.submit(page, { email: ben.email, password: ben.password });
    expect(account.text).toContain(ben.email);
  });

  test('states why a change of the account requires another sign-in', async () => {
    const anna = await signUp(server.origin);
    const { text } = await anna.browser.open('/sign-in?next=/account/password');
    expect(text).toContain('To protect your account, confirm your identity');
    expect(text).not.toContain('Continue as');
    expect(text).toContain(`value="${anna.email}"`);
    const other = await anna.browser.open('/sign-in?account=other&next=%2Faccount%2Fpassword');
    expect([other.text.includes(anna.email), other.text.includes('name="next" value="/account/password"')]).toEqual([false, true]);
  });

  test.each<[Record<string, string>, string]>([
    [{ prompt: 'login' }, 'Mandate command line is asking you to sign in again.'],
    [{ max_age: '60' }, 'because too much time has passed since you last signed in'],
    [{ claims: JSON.stringify({ id_token: { acr: { essential: true, value: twoFactorAcrValue } } }) }, 'second factor'],
  ])('states why the request %j of an application requires another sign-in', async (parameters, reason) => {
    const anna = await signUp(server.origin);
    await backdateSessions(server.db, anna.id, 20);
    const { text } = await anna.browser.open(authorizationPath(buildAuthorizationRequest(parameters).query));
    expect(text).toContain(reason);
    expect(text).toMatch(/href="\/sign-in\/[\w-]+\?account=other">Use another account/);
  });

  test('continues to an application after a sign-in on another page', async () => {
    const anna = await signUp(server.origin);
    const browser = newBrowser();
    const path = (await browser.open(authorizationPath(buildAuthorizationRequest().query))).url.pathname;
    await browser.submit(await browser.open('/sign-in'), { email: anna.email, password: anna.password });
    const { text } = await browser.open(path);
    const [, link = ''] = /<a class="button main" href="([^"]+)"><span[^>]*>Continue as/.exec(text) ?? [];
    expect((await browser.open(link)).text).toContain('Let Mandate command line use your Mandate account?');
  });
});

test('the e-mail address is not case-sensitive, but the password is', async () => {
  const anna = await signUp(server.origin);
  await signIn(server.origin, { ...anna, email: anna.email.toUpperCase() });
  const browser = newBrowser();
  const refused = await browser.submit(await browser.open('/sign-in'), { email: anna.email, password: anna.password.toUpperCase() });
  expect(refused.response.status).toBe(400);
});

describe('an unknown account, a wrong password and a suspended account (94)', () => {
  test('get the same response', async () => {
    const [anna, suspended] = [await signUp(server.origin), await signUp(server.origin)];
    await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [suspended.id]);
    const attempts = [
      { email: 'nobody@example.com', password: 'correct horse battery' },
      { email: anna.email, password: 'correct horse battery' },
      { email: suspended.email, password: suspended.password },
    ];
    const pages = await Promise.all(
      attempts.map(async (attempt) => {
        const browser = newBrowser();
        return browser.submit(await browser.open('/sign-in'), attempt);
      }),
    );
    expect(new Set(pages.map(withoutSecrets)).size).toBe(1);
    expect(pages.map(({ response }) => response.status)).toEqual([400, 400, 400]);
    expect(pages[0]?.text).toContain('The e-mail address or the password is incorrect');
  });

  test('get a response in the same time', async () => {
    const anna = await signUp(server.origin);
    const browser = newBrowser();
    const page = await browser.open('/sign-in');
    const attempt = async (email: string): Promise<number> => {
      const started = performance.now();
      await browser.submit(page, { email, password: 'correct horse battery' });
      return performance.now() - started;
    };
    // makes as many attempts as the limit allows, and compares only the shortest response times, because other load on the machine affects
    // them least
    let [known, unknown] = [Infinity, Infinity];
    for (let times = 0; times < 9; times += 1) {
      known = Math.min(known, await attempt(anna.email));
      unknown = Math.min(unknown, await attempt('nobody@example.com'));
    }
    expect(Math.max(known, unknown) / Math.min(known, unknown)).toBeLessThan(1.7);
  });
});

test('a missing value is reported at the field, in the summary and in the title, and the other input is kept', async () => {
  const browser = newBrowser();
  const refused = await browser.submit(await browser.open('/sign-in'), { email: 'ann"<b>@example.com', password: '' });
  expect(refused.text).toContain('<title>Error: Sign in to Mandate - Mandate</title>');
  expect(refused.text).toMatch(/role="alert"[^]*<a href="#password">Enter your password<\/a>/);
  expect(refused.text).toMatch(/id="password-fault">Enter your password/);
  expect(refused.text).toContain('value="ann&quot;&lt;b&gt;@example.com"');
  expect(refused.text).toMatch(/aria-describedby="password-fault"\s+aria-invalid="true"/);
});

test('a page without errors shows no error in its title, at its fields or in a summary', async () => {
  const page = await newBrowser().open('/sign-in');
  expect(page.text).toContain('<title>Sign in to Mandate - Mandate</title>');
  expect(page.text).not.toMatch(/role="alert"|aria-describedby|aria-invalid/);
});

test("a form without this browser's token is rejected", async () => {
  const browser = newBrowser();
  const pageForForgedRequest = await browser.open('/sign-in', {
    method: 'POST',
    body: new URLSearchParams({ email: 'a@example.com', password: 'x' }),
  });
  expect(pageForForgedRequest.text).toContain('This page was open for too long');
  const other = newBrowser();
  const page = await other.open('/sign-in');
  const anna = await signUp(server.origin);
  await browser.open('/sign-in');
  const pageForForeignToken = await browser.submit(page, { email: anna.email, password: anna.password });
  expect([pageForForeignToken.url.pathname, pageForForeignToken.response.status]).toEqual(['/sign-in', 400]);
});

test('a sign-in changes the session ID, and cookies are HttpOnly and SameSite=Lax (26)', async () => {
  const anna = await signUp(server.origin);
  const browser = newBrowser();
  const page = await browser.open(authorizationPath(buildAuthorizationRequest().query));
  const before = browser.cookieValue('mandate_session');
  const consent = await browser.submit(page, { email: anna.email, password: anna.password });
  expect(consent.url.pathname).toMatch(/^\/consent\//);
  const after = browser.cookieValue('mandate_session');
  expect(after).toBeTruthy();
  expect(after).not.toBe(before);
  const accountPage = await browser.submit(await browser.open('/sign-in'), { email: anna.email, password: anna.password });
  expect(accountPage.url.pathname).toBe('/account');
  expect(browser.cookieValue('mandate_session')).not.toBe(after);
  const { headers } = await newBrowser().request(authorizationPath(buildAuthorizationRequest().query));
  expect(headers.getSetCookie().length).toBeGreaterThan(0);
  for (const cookie of headers.getSetCookie()) expect(cookie.toLowerCase()).toMatch(/samesite=lax.*httponly|httponly.*samesite=lax/);
});

test('a second user who signs in replaces the first user', async () => {
  const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
  const page = await anna.browser.open(authorizationPath(buildAuthorizationRequest({ prompt: 'login' }).query));
  const consent = await anna.browser.submit(page, { email: ben.email, password: ben.password });
  expect(consent.text).toContain(ben.email);
  expect(consent.text).not.toContain(anna.email);
});

describe('headers of every page (22)', () => {
  const paths = ['/sign-in', '/sign-up', '/oauth/authorize', '/sign-in/unknown', '/consent/unknown', '/oauth/logout/success'];
  test.each(paths)('%s', async (path) => {
    const { response } = await newBrowser().open(path);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(response.headers.get('content-security-policy')).not.toContain('unsafe');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('cache-control')).toMatch(/no-store/);
    expect(response.headers.get('referrer-policy')).toBe('same-origin'); // `no-referrer` would make browsers send `Origin: null` with the forms
    expect(response.headers.get('x-powered-by')).toBeNull();
  });
});

test('the stylesheet URL contains a content hash and may be cached forever', async () => {
  const page = await newBrowser().open('/sign-in');
  const path = /<link rel="stylesheet" href="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const response = await fetch(server.origin + path);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
  expect(response.headers.get('cache-control')).toContain('immutable');
  expect(await response.text()).toContain('--accent: #');
});
