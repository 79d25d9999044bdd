import type { Scope } from '@mandate/contract';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { consoleClientId } from '../../server/applications/ensure-console-client.ts';
import { launchChromium } from '../support/browser/chromium.ts';
import { findAxeViolations, measureHorizontalOverflow } from '../support/browser/page-accessibility.ts';
import { takeScreenshots } from '../support/browser/take-screenshots.ts';
import type { TestUser } from '../support/oauth/oauth-flow.ts';
import type { ApiServer } from '../support/server/start-mandate.ts';

/** Chromium with the console of a test server, shared by the tests of a file. */
export type ConsoleBrowser = {
  /** Errors on all pages since the file's tests started, including violations of the content security policy. */
  readonly pageErrors: readonly string[];
  /** Opens a page of the console in a new browser profile, and signs in. */
  openAs(user: Pick<TestUser, 'email' | 'password'>, path?: string, language?: string): Promise<Page>;
  /**
   * Opens a page of the console in a new browser profile, signs in, and consents only to the given scopes. Call `withdrawPreapproval`
   * first.
   */
  openAndConsent(user: Pick<TestUser, 'email' | 'password'>, scopes: readonly Scope[], path: string): Promise<Page>;
  /** Opens a page of the console in a new browser profile, without signing in. */
  open(path?: string, language?: string): Promise<Page>;
};

/** Starts Chromium before the tests in a file, and stops Chromium after these tests. */
export function useConsoleBrowser(server: Pick<ApiServer, 'origin'>): ConsoleBrowser {
  let chromium: Browser;
  const pageErrors: string[] = [];
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    chromium = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await chromium?.close();
  });
  const open: ConsoleBrowser['open'] = async (path = '', language = 'en') => {
    const context = await chromium.newContext({ viewport: { width: 1280, height: 860 }, locale: language, reducedMotion: 'reduce' });
    contexts.push(context);
    const page = await context.newPage();
    page.on('pageerror', (error) => pageErrors.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|React|Error/.test(message.text())) pageErrors.push(message.text());
    });
    await page.goto(`${server.origin}/console${path}`);
    return page;
  };
  return {
    pageErrors,
    open,
    async openAs(user, path, language = 'en') {
      const page = await open(path, language);
      await page.locator('main button').click();
      await signInAtServer(page, user);
      return page;
    },
    async openAndConsent(user, scopes, path) {
      const page = await open(path);
      await page.locator('main button').click();
      await submitSignInForm(page, user);
      await consentTo(page, scopes);
      await waitForConsole(page);
      return page;
    },
  };
}

/** Submits the sign-in form of the server, and waits until the console is open. */
export async function signInAtServer(page: Page, user: Pick<TestUser, 'email' | 'password'>): Promise<void> {
  await submitSignInForm(page, user);
  await waitForConsole(page);
}

async function submitSignInForm(page: Page, user: Pick<TestUser, 'email' | 'password'>): Promise<void> {
  await page.locator('input[name=email]').fill(user.email);
  await page.locator('input[name=password]').fill(user.password);
  await page.locator('input[name=password]').press('Enter');
}

async function waitForConsole(page: Page): Promise<void> {
  await page.waitForURL((url) => url.pathname.startsWith('/console') && !url.searchParams.has('code'));
  await page.locator('h1').waitFor();
}

/**
 * Replaces the token in the API requests of a page that is signed in, so that the console receives the same responses as a test that calls
 * the API with this token.
 */
export async function replaceTokens(page: Page, readToken: () => string): Promise<void> {
  await page.route('**/api/v1/**', async (route) => {
    const { dpop: _proof, ...headers } = route.request().headers();
    await route.continue({ headers: { ...headers, authorization: `Bearer ${readToken()}` } });
  });
}

/** Makes the server show the consent page for the console's scopes. */
export async function withdrawPreapproval({ db }: ApiServer): Promise<void> {
  await db.em.fork().execute(`update applications set preapproved_scopes = '{}' where client_id = ?`, [consoleClientId]);
}

/** Selects exactly the given scopes on the consent page, and consents. */
export async function consentTo(page: Page, scopes: readonly Scope[]): Promise<void> {
  const boxes = page.locator('input[name=scope]');
  await boxes.first().waitFor({ state: 'attached' });
  for (const box of await boxes.all()) {
    const value = await box.inputValue();
    await box.setChecked(
      scopes.some((scope) => scope === value),
      { force: true },
    );
  }
  await page.locator('button[value=allow]').click();
}

/**
 * Checks a page in its current state for axe violations and for horizontal overflow, in narrow and wide windows and in light and dark mode.
 * In dark mode, axe applies only the rules about colors. Takes screenshots if a directory is set.
 */
export async function checkPageAccessibilityAndLayout(page: Page, name: string): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await takeScreenshots(page, `console ${name}`);
  const size = page.viewportSize();
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 860 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // Charts adapt to a new width after the page has been laid out.
      await expect.poll(() => measureHorizontalOverflow(page), { message: `${name}, ${width} pixels` }).toBe(0);
      expect(await findAxeViolations(page, colorScheme), `${name}, ${width} pixels, ${colorScheme}`).toEqual([]);
    }
  }
  if (size) await page.setViewportSize(size);
}
