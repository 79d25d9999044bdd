import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { countInteractiveElements, findAxeViolations, measureHorizontalOverflow, tabThrough } from './page-accessibility.ts';
import { takeScreenshots } from './take-screenshots.ts';

/**
 * Checks the accessibility of a page in a window 320 pixels wide: runs axe in light and dark mode, and moves through the page with the
 * keyboard.
 */
export async function expectAccessiblePage(page: Page, name: string): Promise<void> {
  await takeScreenshots(page, name);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await measureHorizontalOverflow(page), name).toBe(0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findAxeViolations(page, colorScheme), `${name}, ${colorScheme}`).toEqual([]);
  }
  const usable = await countInteractiveElements(page);
  const { reached, withoutOutline } = await tabThrough(page);
  expect([reached.size >= usable, withoutOutline], name).toEqual([true, []]);
  if (size) await page.setViewportSize(size);
}
