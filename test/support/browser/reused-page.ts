import { randomInt } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** Returns a request header with a new random client IP address, for servers that trust a proxy. */
export const createClientAddressHeader = (): Record<string, string> => ({
  'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`,
});

/**
 * Reuses one browser page for all tests, because opening a new page takes longer than most tests. At the beginning of each test, the page
 * is empty, has no cookies, uses a new client IP address, and has the given size and color scheme. If a test fails, its page is closed. The
 * tested pages must store nothing except cookies. Call `close()` after the tests.
 */
export class ReusedPage {
  readonly #browser: Browser;
  readonly #options: BrowserContextOptions;
  #idle: Page | undefined;

  constructor(browser: Browser, options: BrowserContextOptions) {
    this.#browser = browser;
    this.#options = options;
  }

  async use(test: (page: Page) => Promise<void>): Promise<void> {
    const page = this.#idle ?? (await (await this.#browser.newContext(this.#options)).newPage());
    this.#idle = undefined;
    try {
      await this.#reset(page);
      await test(page);
    } catch (error) {
      await page.context().close();
      throw error;
    }
    this.#idle = page;
  }

  async close(): Promise<void> {
    await this.#idle?.context().close();
  }

  async #reset(page: Page): Promise<void> {
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.setExtraHTTPHeaders(createClientAddressHeader());
    await page.emulateMedia({ colorScheme: this.#options.colorScheme ?? null });
    if (this.#options.viewport) await page.setViewportSize(this.#options.viewport);
  }
}
