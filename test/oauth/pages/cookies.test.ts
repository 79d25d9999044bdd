import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cookieNamesForIssuer } from '../../../server/oauth/protocol/cookie-names.ts';
import { HttpBrowser, type SendRequest } from '../../support/browser/browser.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import { buildAuthorizationRequest, authorizationPath, cliClient } from '../../support/oauth/oauth-flow.ts';
import {
  httpsChromiumArguments,
  fetchHttps,
  signUpOverHttps,
  startHttpsMandate,
  type HttpsMandate,
} from '../../support/oauth/https-server.ts';
import { z } from 'zod';

const interactionIds = (browser: HttpBrowser): string[] =>
  browser
    .cookieHeader('/')
    .split('; ')
    .flatMap((pair) => /_interaction_([\w-]+)=/.exec(pair)?.[1] ?? []);

describe.each(['', '/shop'])('over HTTPS, with the issuer path "%s"', (path) => {
  let shop: HttpsMandate;
  const setCookies: string[] = [];
  const send: SendRequest = async (url, init) => {
    const response = await fetchHttps(url, init);
    setCookies.push(...response.headers.getSetCookie());
    return response;
  };
  beforeAll(async () => {
    shop = await startHttpsMandate(path);
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  const authorizationPathOnServer = (parameters = {}): string => path + authorizationPath(buildAuthorizationRequest(parameters).query);

  test('every cookie of every flow has the __Host- prefix and the required attributes', async () => {
    const { browser, email, password } = await signUpOverHttps(shop, send);
    await browser.submit(await browser.open(`${path}/account`), {}); // signs out
    expect((await browser.open(`${path}/sign-in?language=en`)).url.search).toBe('');
    const signIn = await browser.open(authorizationPathOnServer());
    const consent = await browser.submit(signIn, { email, password });
    expect(consent.url.pathname).toContain('/consent/');
    expect((await browser.submit(consent, { decision: 'allow' })).externalRedirect?.searchParams.get('code')).toBeTruthy();

    const body = new URLSearchParams({ client_id: cliClient.clientId, scope: 'openid' });
    const device = await (await browser.request(`${path}/oauth/device-authorization`, { method: 'POST', body })).json();
    const { user_code: code } = z.object({ user_code: z.string() }).parse(device);
    const confirm = await browser.submit(await browser.open(`${path}/oauth/device`), { user_code: code });
    const allowed = await browser.submit(await browser.submit(confirm, {}), { decision: 'allow' });
    expect(allowed.text).toContain('The device is connected');
    expect(interactionIds(browser)).toEqual([]);

    const logout = await browser.open(`${path}/oauth/logout`);
    const action = /<form[^>]*action="([^"]+)"/.exec(logout.text)?.[1] ?? '';
    const done = await browser.submit({ ...logout, url: new URL(action) }, { logout: 'yes' });
    expect(done.text).toContain('You are signed out');

    expect(
      new Set(
        setCookies.map((line) =>
          line
            .split('=', 1)[0]
            ?.replace(/(_interaction)_[\w-]+/, '$1')
            .replace(/\.sig$/, ''),
        ),
      ),
    ).toEqual(new Set(Object.values({ ...cookieNamesForIssuer(shop.issuer), timeZone: undefined }).filter((name) => name !== undefined)));
    for (const line of setCookies) {
      const [pair = '', ...attributes] = line.split('; ');
      expect(pair).toMatch(/^__Host-mandate/);
      expect(attributes.filter((one) => !one.startsWith('Expires=')).toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']);
    }
    // the session cookie outlives the browser session, and is deleted when the user signs out
    const sessions = setCookies
      .map((line) => /^[^=]*_session=([^;]*);(?:.*; Expires=([^;]*))?/i.exec(line))
      .filter((found) => found !== null);
    const days = sessions.map(([, value, expires = '']) => [value !== '', Math.round((Date.parse(expires) - Date.now()) / 86_400_000)]);
    expect(days).toContainEqual([true, 14]);
    expect(days.filter(([isSet, count]) => isSet && count !== 14)).toEqual([]);
    expect(days.some(([isSet, count]) => !isSet && Number(count) < 0)).toBe(true);
  });

  test('cookies without the prefix are ignored', async () => {
    const { browser } = await signUpOverHttps(shop, send);
    const [sessionCookies, unprefixedCookies] = [browser.cookieHeader('/'), browser.cookieHeader('/').replaceAll('__Host-', '')];
    const accountStatus = async (cookie: string) =>
      (await fetchHttps(new URL(`${shop.issuer}/account`), { headers: { cookie, accept: 'text/html' } })).status;
    expect([await accountStatus(sessionCookies), await accountStatus(unprefixedCookies)]).toEqual([200, 303]);
  });

  test('concurrent sign-ins in two tabs of a browser both complete', async () => {
    const { browser: first, email, password } = await signUpOverHttps(shop, send);
    const browser = new HttpBrowser(shop.origin, first.ipAddress, send);
    const [left, right] = [await browser.open(authorizationPathOnServer()), await browser.open(authorizationPathOnServer())];
    expect(new Set(interactionIds(browser)).size).toBe(2);
    const rightConsent = await browser.submit(right, { email, password });
    // the page's CSRF token was issued before the sign-in
    const signInPage = await browser.submit(left, { email, password });
    const leftConsent = await browser.submit(signInPage, { email, password });
    const finalPages = [
      await browser.submit(leftConsent, { decision: 'allow' }),
      await browser.submit(rightConsent, { decision: 'allow' }),
    ];
    for (const { externalRedirect: leaves } of finalPages) expect(leaves?.searchParams.get('code')).toBeTruthy();
    expect(interactionIds(browser)).toEqual([]);
  });

  test('the interaction cookie is deleted when the user switches accounts', async () => {
    const { browser } = await signUpOverHttps(shop, send);
    const consent = await browser.open(authorizationPathOnServer());
    const [uid = ''] = interactionIds(browser);
    expect(consent.url.pathname).toContain(uid);
    const signIn = await browser.submit(consent, { decision: 'switch' });
    expect(signIn.url.pathname).toContain('/sign-in/');
    expect(interactionIds(browser)).not.toContain(uid);
  });

  test('a browser keeps at most eight open interactions and loses the oldest', async () => {
    const { browser } = await signUpOverHttps(shop, send);
    const pages = [];
    for (let count = 0; count < 10; count += 1) pages.push(await browser.open(authorizationPathOnServer()));
    expect(new Set(interactionIds(browser)).size).toBe(8);
    const statuses = [];
    for (const { url } of pages) statuses.push((await browser.request(url.href)).status);
    expect(statuses).toEqual([400, 400, ...Array.from({ length: 8 }, () => 200)]);
  });
});

test('issuers with different paths on one host have different cookie names, and HTTP cookies have no prefix', () => {
  const all = ['https://host.example', 'https://host.example/a', 'https://host.example/b', 'https://host.example/a/b'].map(
    cookieNamesForIssuer,
  );
  const names = all.flatMap((one) => Object.values(one));
  expect(new Set(names).size).toBe(4 * Object.keys(cookieNamesForIssuer('https://host.example')).length);
  for (const name of names) expect(name).toMatch(/^__Host-mandate[\w-]*$/);
  expect(cookieNamesForIssuer('http://localhost:3000').session).toBe('mandate_session');
});

describe.skipIf(!hasChromium)('in Chromium', { timeout: 120_000 }, () => {
  let shop: HttpsMandate;
  let chromium: Chromium;
  beforeAll(async () => {
    shop = await startHttpsMandate();
    chromium = await launchChromium(httpsChromiumArguments);
  });
  afterAll(async () => {
    await chromium?.close();
    await shop?.[Symbol.asyncDispose]();
  });

  test('concurrent sign-ins in two tabs complete, and their interaction cookies are deleted', async () => {
    const accountStatus = await signUpOverHttps(shop);
    const context = await chromium.newContext({ ignoreHTTPSErrors: true, timezoneId: 'Asia/Tokyo' });
    const signIn = async (page: Page): Promise<void> => {
      await page.getByLabel('E-mail address').fill(accountStatus.email);
      await page.getByLabel('Password', { exact: true }).fill(accountStatus.password);
      await page.keyboard.press('Enter');
    };
    const allow = async (page: Page): Promise<string> => {
      await page.getByRole('heading', { name: 'Mandate command line' }).waitFor();
      const redirect = page.waitForRequest((one) => one.url().startsWith(cliClient.redirectUri));
      await page.getByRole('button', { name: 'Allow' }).click();
      return new URL((await redirect).url()).searchParams.get('code') ?? '';
    };
    const [left, right] = [await context.newPage(), await context.newPage()];
    for (const page of [left, right]) await page.goto(shop.origin + authorizationPath(buildAuthorizationRequest().query));
    await signIn(left);
    await left.waitForURL('**/consent/*');
    await signIn(right);
    await right.getByRole('alert').waitFor(); // the page's CSRF token was issued before the sign-in
    await signIn(right);
    await right.waitForURL('**/consent/*');
    expect([await allow(left), await allow(right)]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
    const allCookies = await context.cookies(shop.origin);
    const [timeZone, ...others] = allCookies.filter(({ name }) => name.includes('time_zone'));
    expect([timeZone, others]).toEqual([
      expect.objectContaining({ name: '__Host-mandate_time_zone', value: 'Asia/Tokyo', secure: true }),
      [],
    ]);
    const cookies = allCookies.filter((cookie) => cookie !== timeZone);
    expect(cookies.map(({ name }) => name).toSorted()).toEqual([
      '__Host-mandate_browser',
      '__Host-mandate_form',
      '__Host-mandate_session',
      '__Host-mandate_session.sig',
    ]);
    for (const cookie of cookies)
      expect(cookie).toMatchObject({ domain: 'shop.example.test', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' });
    await context.close();
  });
});
