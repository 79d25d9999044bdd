import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import { useServer } from '../../support/server/use-server.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import {
  countInteractiveElements,
  findAxeViolations,
  findAxeViolationsInLanguage,
  measureHeights,
  measureHorizontalOverflow,
  tabThrough,
} from '../../support/browser/page-accessibility.ts';
import { createClientAddressHeader, ReusedPage } from '../../support/browser/reused-page.ts';
import { takeScreenshots } from '../../support/browser/take-screenshots.ts';
import { databaseKind } from '../../support/services/database.ts';
import { readMailLink } from '../../support/services/mailbox.ts';
import { buildAuthorizationRequest, authorizationPath, redeemCode, signUp, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';
import { Secret, TOTP } from 'otpauth';
import { createBrandingScenarios } from '../../support/oauth/branding-scenarios.ts';
import { createApprovalScenarios } from '../../support/shop/approval-page-scenarios.ts';
import { createAccountPageScenarios } from '../../support/shop/account-page-scenarios.ts';
import { setUpAuthenticatorApp, signInAs, submitSignInForm, createPageScenarios } from '../../support/oauth/page-scenarios.ts';

const widths = [320, 360, 768, 1280];
/** Elements that must be large enough to tap. */
const touchTargets =
  'button:visible, input:not([type=hidden], [type=checkbox], [type=radio]):visible, :is(.elsewhere a, .menu a, a.button):visible, label:has(input):visible';

// The pages do not depend on the database.
describe.skipIf(!hasChromium || databaseKind === 'pglite')('the pages in Chromium', () => {
  const server = useServer();
  let browser: Browser;
  let application: Server;
  let redirectUri: string;

  beforeAll(async () => {
    browser = await launchChromium();
    application = createServer((_req, res) => res.end('You can close this window'));
    application.listen(0, '127.0.0.1');
    await once(application, 'listening');
    redirectUri = `http://127.0.0.1:${z.object({ port: z.number() }).parse(application.address()).port}/callback`;
  });
  afterAll(async () => {
    await browser.close();
    application.close();
  });

  async function withPage(options: BrowserContextOptions, use: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ ...options, extraHTTPHeaders: createClientAddressHeader() });
    try {
      await use(await context.newPage());
    } finally {
      await context.close();
    }
  }

  test.each([true, false])(
    'a user signs up, allows the application and is redirected to it; JavaScript: %s (23)',
    async (javaScriptEnabled) => {
      const { query, verifier } = buildAuthorizationRequest({ redirect_uri: redirectUri, scope: 'openid users.read' });
      await withPage({ javaScriptEnabled }, async (page) => {
        const violations: string[] = [];
        page.on('console', (message) => message.type() === 'error' && violations.push(message.text()));
        await page.goto(server.origin + authorizationPath(query));
        await page.getByRole('link', { name: 'Create an account' }).click();
        const email = `ann.${randomBytes(6).toString('hex')}@example.com`;
        await page.getByLabel('E-mail address').fill(email);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
        await page.goto(await readMailLink(server.origin, email));
        await page.getByLabel('Your name').fill('Ann');
        await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.waitForURL(`${redirectUri}**`);
        expect(await page.textContent('body')).toBe('You can close this window');
        const code = new URL(page.url()).searchParams.get('code') ?? '';
        const tokens = await redeemCode(server.origin, { code, verifier, redirectUri, clientId: 'mandate-cli' });
        expect(tokenResponseSchema.parse(await tokens.json()).scope).toBe('openid users.read');
        expect(violations).toEqual([]);
      });
    },
  );

  const accountScenarios = createAccountPageScenarios(server);

  describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
    const scenarios = {
      ...createPageScenarios(server, javaScriptEnabled),
      ...createApprovalScenarios(server),
      ...accountScenarios,
      ...createBrandingScenarios(server),
    };
    let reusedPage: ReusedPage;
    beforeAll(() => {
      reusedPage = new ReusedPage(browser, { javaScriptEnabled, viewport: { width: 320, height: 640 } });
    });
    afterAll(() => reusedPage.close());

    test.each(Object.entries(scenarios))('%s', { timeout: 60_000 }, async (name, open) => {
      await reusedPage.use(async (page) => {
        await open(page);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(javaScriptEnabled ? await findAxeViolations(page, colorScheme) : [], colorScheme).toEqual([]);
          for (const width of widths) {
            await page.setViewportSize({ width, height: 720 });
            expect(await measureHorizontalOverflow(page), `${width} pixels`).toBe(0);
          }
        }
        if (javaScriptEnabled) await takeScreenshots(page, name);
        await page.setViewportSize({ width: 360, height: 720 });
        expect((await measureHeights(page, touchTargets)).filter(({ height }) => height < 44)).toEqual([]);
        const usable = await countInteractiveElements(page);
        const { reached, withoutOutline } = await tabThrough(page);
        expect([reached.size >= usable, withoutOutline]).toEqual([true, []]);
        // on a narrow screen, the page must not scroll horizontally, even with text at twice the size
        await page.setViewportSize({ width: 640, height: 720 });
        await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
        expect(await measureHorizontalOverflow(page), 'text of twice the size').toBe(0);
        if (javaScriptEnabled) await checkOtherLanguages(page, name);
      });
    });
  });

  /** Checks the page in each language other than English. */
  async function checkOtherLanguages(page: Page, name: string): Promise<void> {
    const hasSwitch = (await page.locator('nav.languages').count()) > 0;
    if (!hasSwitch && resultsOfSingleSubmissions.has(name)) return;
    for (const tag of bundledLanguages.tags.filter((one) => one !== 'en')) {
      await (hasSwitch ? page.locator(`.languages [lang=${tag}]`).click() : submitAgainInLanguage(page, tag));
      await page.locator(`html[lang=${tag}]`).waitFor();
      expect(await findAxeViolationsInLanguage(page), tag).toEqual([]);
      await takeScreenshots(page, `${name} ${tag}`);
      await page.setViewportSize({ width: 320, height: 720 });
      expect(await measureHorizontalOverflow(page), `${tag}, 320 pixels`).toBe(0);
      await page.setViewportSize({ width: 640, height: 720 });
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      expect(await measureHorizontalOverflow(page), `${tag}, text of twice the size`).toBe(0);
    }
  }

  /** Results of forms that a user can submit only once, because the submission ends the session or uses a link or a code. */
  const resultsOfSingleSubmissions = new Set([
    'account closed',
    'device code with errors',
    'device connected',
    'password changed',
    'password reset complete',
  ]);

  /** Submits the form whose result the page shows a second time, and expects the same kind of page in the language. */
  async function submitAgainInLanguage(page: Page, tag: string): Promise<void> {
    const countMarks = (): Promise<number[]> =>
      Promise.all(['.fault', '.summary', 'h1', 'input'].map((mark) => page.locator(mark).count()));
    const before = await countMarks();
    await page.context().addCookies([{ name: 'mandate_language', value: tag, url: server.origin }]);
    await page.reload();
    expect(await countMarks(), tag).toEqual(before);
  }

  test.each([
    ['sign-in while signed in', 'the button with a very long name', 'a.button.main', 2],
    ['orders', 'a status', '.badge', 1],
    ['sessions in several browsers', 'the mark of this browser', '.here', 1],
  ])('on the page “%s”, %s (%s) has at most %i line(s) on a phone', { timeout: 60_000 }, async (name, _element, selector, lines) => {
    await withPage({ viewport: { width: 320, height: 640 } }, async (page) => {
      await accountScenarios[name]?.(page);
      const heights = await measureHeights(page, selector);
      expect([heights.length > 0, heights.filter(({ height }) => height > lines * 24 + 18)]).toEqual([true, []]);
    });
  });

  test('the button with a very long name has space for the ellipsis', { timeout: 60_000 }, async () => {
    await withPage({}, async (page) => {
      await accountScenarios['sign-in while signed in']?.(page);
      const lineStarts = `(() => {
        const text = document.querySelector('a.button.main .two-lines');
        const range = document.createRange();
        range.selectNodeContents(text);
        return [...range.getClientRects()].map(({ left }) => left - text.getBoundingClientRect().left);
      })()`;
      expect(new Set(z.array(z.number()).parse(await page.evaluate(lineStarts)))).toEqual(new Set([0]));
    });
  });

  test.each(bundledLanguages.tags)('on a phone, the main button is above the second button in the language %s', async (language) => {
    const { browser: signedInBrowser } = await signUp(server.origin);
    await withPage({ viewport: { width: 390, height: 844 } }, async (page) => {
      await signInAs(server, page, { browser: signedInBrowser });
      await page.goto(`${server.origin}/oauth/logout?language=${language}`);
      const [main, second] = [page.locator('.choice button:not(.second)'), page.locator('.choice button.second')];
      const [mainBox, secondBox] = [await main.boundingBox(), await second.boundingBox()];
      expect(mainBox?.y).toBeLessThan(secondBox?.y ?? 0);
      expect(mainBox?.width).toBe(secondBox?.width);
    });
  });

  test('a shown password is hidden again when the form is submitted', async () => {
    await withPage({}, async (page) => {
      await page.goto(`${server.origin}/sign-in`);
      const field = page.getByLabel('Password', { exact: true });
      await field.fill('correct horse battery');
      await page.getByRole('button', { name: 'Show password' }).click();
      expect(await field.getAttribute('type')).toBe('text');
      await page.getByRole('button', { name: 'Hide password' }).click();
      expect(await field.getAttribute('type')).toBe('password');
      await page.getByRole('button', { name: 'Show password' }).click();
      await page.evaluate(`document.forms[0].addEventListener('submit', (event) => event.preventDefault())`);
      await field.press('Enter');
      expect(await field.getAttribute('type')).toBe('password');
    });
  });

  test('the sixth digit submits the form once, but a recovery code does not', async () => {
    const anna = await signUp(server.origin);
    await withPage({}, async (page) => {
      const { secret } = await setUpAuthenticatorApp(server, page, anna, true);
      await page.context().clearCookies();
      await submitSignInForm(server, page, anna);
      const field = page.getByLabel('Code from your authenticator app');
      await field.waitFor();
      const sent: string[] = [];
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
      await field.pressSequentially('ab2cd-ef3gh');
      await field.fill('');
      await field.pressSequentially('12345');
      expect(sent).toEqual([]);
      await field.fill('');
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + 30_000 });
      await field.pressSequentially(code);
      await page.waitForURL('**/account');
      expect(sent).toHaveLength(1);
    });
  });

  test('a separator divides the passkey button from the password form', async () => {
    await withPage({}, async (page) => {
      await page.goto(`${server.origin}/sign-in`);
      const [separator, passkey] = [page.getByText('or', { exact: true }), page.getByRole('button', { name: 'Sign in with a passkey' })];
      await passkey.waitFor();
      expect((await separator.boundingBox())?.y).toBeLessThan((await passkey.boundingBox())?.y ?? 0);
      const submit = page.getByRole('button', { name: 'Sign in', exact: true });
      expect((await separator.boundingBox())?.y).toBeGreaterThan((await submit.boundingBox())?.y ?? Infinity);
    });
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${server.origin}/sign-in`);
      expect(await page.getByText('or', { exact: true }).isVisible()).toBe(false);
    });
  });

  test('pages without JavaScript show no buttons that require JavaScript', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${server.origin}/sign-in`);
      expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign in']);
    });
  });

  test('after a rejected form, the keyboard reaches the error summary and then the field', async () => {
    await withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${server.origin}/sign-in`);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      expect(await page.title()).toMatch(/^Error: /);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.keyboard.type('ann@example.com');
      expect(await page.getByLabel('E-mail address').inputValue()).toBe('ann@example.com');
    });
  });
});
