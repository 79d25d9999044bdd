import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Directory for screenshots of every page and e-mail (default: no screenshots). */
const directory = process.env['PAGE_PICTURES'];

/** If a directory is set, takes screenshots of the whole page at phone and desktop size, in light and dark mode. */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  if (directory === undefined) return;
  const size = page.viewportSize();
  for (const width of [390, 1280])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(directory, `${name.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`), fullPage: true });
    }
  if (size) await page.setViewportSize(size);
}
