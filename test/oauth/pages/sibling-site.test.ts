import type { Browser as Chromium, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import { readAllRows } from '../../support/services/database-dump.ts';
import { createCsrfVictim, listFormPaths, readPostPaths, readFormState } from '../../support/oauth/csrf-forms.ts';
import {
  httpsChromiumArguments,
  type HttpsServer,
  type HttpsMandate,
  fetchHttps,
  startHttpsServer,
  siblingHost,
  signUpOverHttps,
  startHttpsMandate,
} from '../../support/oauth/https-server.ts';

type Attack = { readonly cookies: readonly string[]; readonly action: string; readonly fields: Record<string, string> };
const noAttack: Attack = { cookies: [], action: '', fields: {} };

describe.skipIf(!hasChromium)('a page on a sibling subdomain', { timeout: 120_000 }, () => {
  let shop: HttpsMandate;
  let attackerSite: HttpsServer;
  let chromium: Chromium;
  let attack: Attack | undefined;

  beforeAll(async () => {
    shop = await startHttpsMandate();
    attackerSite = await startHttpsServer(siblingHost, (req, res) => {
      const { cookies, action, fields } = req.url === '/attack' && attack ? attack : noAttack;
      const inputs = Object.entries(fields).map(
        ([name, value]) => `<input type="hidden" name="${name}" value="${value.replaceAll('"', '&quot;')}">`,
      );
      const form = `<form method="post" action="${action}">${inputs.join('')}</form>${cookies.length > 0 ? '<script>document.forms[0].submit()</script>' : ''}`;
      res.writeHead(200, { 'content-type': 'text/html', 'set-cookie': [...cookies] }).end(`<!doctype html>${form}`);
    });
    chromium = await launchChromium(httpsChromiumArguments);
  });
  afterAll(async () => {
    await chromium?.close();
    await attackerSite?.[Symbol.asyncDispose]();
    await shop?.[Symbol.asyncDispose]();
  });

  async function withVictim(use: (page: Page) => Promise<void>): Promise<void> {
    const account = await signUpOverHttps(shop);
    const context = await chromium.newContext({ ignoreHTTPSErrors: true });
    try {
      const page = await context.newPage();
      await page.goto(`${shop.origin}/sign-in`);
      await page.getByLabel('E-mail address').fill(account.email);
      await page.getByLabel('Password', { exact: true }).fill(account.password);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/account');
      await use(page);
    } finally {
      await context.close();
    }
  }

  /** Opens the page as the attacker, and returns the attacker's cookies and the matching form token. */
  async function visitAsAttacker(path: string): Promise<{ cookies: string[]; token: string }> {
    const { response, text } = await new HttpBrowser(shop.origin, undefined, fetchHttps).open(path);
    const cookies = response.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
    return { cookies, token: /name="(?:csrf|xsrf)" value="([^"]+)"/.exec(text)?.[1] ?? '' };
  }

  async function attackWith(page: Page, newAttack: Attack): Promise<Response> {
    attack = newAttack;
    const [response] = await Promise.all([
      page.waitForResponse((one) => one.request().method() === 'POST'),
      page.goto(`${attackerSite.origin}/attack`).catch(() => undefined),
    ]);
    await page.waitForLoadState();
    return response;
  }

  const plantedCookieHeaders = (cookies: readonly string[], path: string): string[] =>
    cookies.flatMap((cookie) =>
      [cookie, cookie.replace(/^__Host-/, '')].flatMap((pair) =>
        ['/', path].map((scope) => `${pair}; Domain=example.test; Path=${scope}; Secure; SameSite=Lax`),
      ),
    );

  test('cannot submit any form, even with planted cookies and their tokens', async () => {
    const context = await chromium.newContext({ ignoreHTTPSErrors: true });
    const victim = await createCsrfVictim(shop, fetchHttps);
    for (const pair of victim.browser.cookieHeader('/').split('; ')) {
      const [name = '', value = ''] = pair.split('=', 2);
      await context.addCookies([{ name, value, url: shop.origin, secure: true, httpOnly: true, sameSite: 'Lax' }]);
    }
    const page = await context.newPage();
    const [pageVisit, providerVisit] = [await visitAsAttacker('/sign-in'), await visitAsAttacker('/oauth/device')];
    const forms = listFormPaths(await readPostPaths(shop.db));
    for (const form of forms) {
      const { csrf: _csrf, xsrf: _xsrf, ...fields } = await victim.completeFields(form);
      const path = victim.formTarget(form);
      const cookies = plantedCookieHeaders([...pageVisit.cookies, ...providerVisit.cookies], new URL(path, shop.origin).pathname);
      const before = await readFormState(shop.db);
      const response = await attackWith(page, {
        cookies,
        action: shop.origin + path,
        fields: { ...fields, csrf: pageVisit.token, xsrf: providerVisit.token },
      });
      expect([form, response.status()]).toEqual([form, 403]);
      expect([form, await readFormState(shop.db)]).toEqual([form, before]);
    }
    const plantedCookies = (await context.cookies(shop.origin)).filter(({ domain }) => domain === '.example.test');
    expect(plantedCookies.length).toBeGreaterThan(0);
    expect(plantedCookies.filter(({ name }) => name.startsWith('__Host-'))).toEqual([]);
    await page.goto(`${shop.origin}/account`);
    expect(page.url()).toBe(`${shop.origin}/account`);
    await context.close();
  });

  test('cannot change the e-mail address of a signed-in user', async () => {
    await withVictim(async (page) => {
      const { cookies, token } = await visitAsAttacker('/sign-in');
      const path = '/account/email';
      const before = await readAllRows(shop.db);
      const response = await attackWith(page, {
        cookies: plantedCookieHeaders(cookies, path),
        action: shop.origin + path,
        fields: { csrf: token, email: 'attacker@example.com' },
      });
      expect((await readAllRows(shop.db)).filter((row) => !before.includes(row))).toEqual([]);
      expect(response.status()).toBe(403);
    });
  });
});
