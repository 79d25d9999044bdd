import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Opens a page of the console without reloading the document, as the navigation does. */
export async function navigateInConsole(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)}), dispatchEvent(new PopStateEvent('popstate'))`);
}

/** A page of the console, and text that appears only after the page's data has loaded. */
type PageWithData = { readonly path: string; readonly shows: string | RegExp };

/** Time in which a page must show its data, in milliseconds, even on a machine that runs other tests at the same time. */
const pageLoadMaxMs = 30_000;

/** Opens each page, and expects it to show its data and no error. */
export async function visitPages(page: Page, pages: readonly PageWithData[]): Promise<void> {
  for (const { path, shows } of pages) {
    await navigateInConsole(page, path);
    await expect.poll(() => page.locator('main').innerText(), { message: path, timeout: pageLoadMaxMs }).toMatch(shows);
    const shown = { heading: await page.locator('h1').innerText(), errors: await page.getByRole('alert').count() };
    expect([path, shown]).toEqual([path, { heading: expect.not.stringMatching(/Page not found|Something went wrong/), errors: 0 }]);
  }
}
