import type { Page } from 'playwright-core';
import { html } from '../../server/http/response/html-template.ts';
import type { BrowserStep } from './suite-api.ts';
import type { UserAction } from './user-actions.ts';

export type BrowserUser = { readonly email: string; readonly password: string };

/** A screenshot of the last page that the server showed. `isFinalPage` means that the browser stayed on this page. */
export type Screenshot = { readonly image: Buffer; readonly isFinalPage: boolean };

/** Maximum number of pages in a browser step. No sign-in has this many pages. */
const maxPages = 10;
/** Maximum time for a page to redirect by itself, such as the page that posts a response to the client. */
const redirectTimeoutMs = 3_000;

type StepOptions = {
  readonly issuer: string;
  readonly user: BrowserUser;
  readonly suiteOrigin: string;
  readonly action?: UserAction;
};

/**
 * Opens a URL of the suite, signs in, allows or declines the requested permissions, and confirms the sign-out, as a user would. Returns a
 * screenshot of the last page that the server showed, if any.
 */
export async function completeBrowserStep(
  page: Page,
  step: BrowserStep,
  { issuer, user, suiteOrigin, action = 'allow' }: StepOptions,
): Promise<Screenshot | undefined> {
  await openStep(page, step, suiteOrigin);
  if (action === 'open') return undefined;
  let screenshot: Screenshot | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    await page.waitForLoadState('load');
    if (!page.url().startsWith(`${issuer}/`)) break;
    const image = await page.screenshot().catch(() => undefined);
    const shown = page.url();
    if (!shown.startsWith(`${issuer}/`)) break;
    if (await submitPage(page, user, action)) {
      screenshot = image && { image, isFinalPage: false };
      continue;
    }
    // this is a final page, or a page that redirects by itself
    const left = await page
      .waitForURL((url) => url.href !== shown, { timeout: redirectTimeoutMs })
      .then(
        () => true,
        () => false,
      );
    if (!left) return { image: await page.screenshot(), isFinalPage: true };
  }
  return screenshot;
}

/** Opens the URL with GET, or submits its query with POST from a page on the suite's origin. */
async function openStep(page: Page, { url, method }: BrowserStep, suiteOrigin: string): Promise<void> {
  if (method !== 'POST') {
    await page.goto(url);
    return;
  }
  const { origin, pathname, searchParams } = new URL(url);
  const formUrl = `${suiteOrigin}/form-of-the-conformance-run`;
  const fields = Array.from(searchParams, ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
  const form = html`<form method="post" action="${origin + pathname}">${fields}<button>Continue</button></form>`;
  await page.route(formUrl, (route) => route.fulfill({ contentType: 'text/html', body: form.toString() }));
  await page.goto(formUrl);
  await page.getByRole('button').click();
  await page.waitForURL((current) => current.href !== formUrl);
}

/** Submits the sign-in, consent or sign-out page. Returns false for any other page. */
async function submitPage(page: Page, { email, password }: BrowserUser, action: UserAction): Promise<boolean> {
  const shown = page.url();
  const passwordField = page.locator('input[name="password"]');
  if (await passwordField.isVisible()) {
    await page.locator('input[name="email"]').fill(email);
    await passwordField.fill(password);
    await passwordField.press('Enter');
  } else {
    const button = page.locator(`button[name="decision"][value="${action}"], button[name="logout"][value="yes"]`);
    if (!(await button.isVisible())) return false;
    await button.click();
  }
  await page.waitForURL((url) => url.href !== shown);
  return true;
}
