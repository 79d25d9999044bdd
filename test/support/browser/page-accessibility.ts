import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { z } from 'zod';

export type ColorScheme = 'light' | 'dark';
/** axe's default rules that depend on colors. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the accessibility violations that axe finds on the page.
 * @param colorScheme with `dark`, axe applies only the rules about colors, because the check in light mode applies all rules
 */
export const findAxeViolations = (page: Page, colorScheme: ColorScheme = 'light'): Promise<string[]> =>
  runAxe(page, colorScheme === 'dark' ? { runOnly: { type: 'rule', values: colorRules } } : {});

/**
 * Returns the violations of all rules except those about colors, for a page whose colors have already been checked in a different language.
 */
export const findAxeViolationsInLanguage = (page: Page): Promise<string[]> =>
  runAxe(page, { rules: Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }])) });

async function runAxe(page: Page, options: Record<string, unknown>): Promise<string[]> {
  await finishAnimations(page);
  await loadAxe(page);
  return z
    .array(z.string())
    .parse(
      await page.evaluate(
        async (given) =>
          (await Reflect.get(globalThis, 'axe').run(given)).violations.map(
            (one: { id: string; nodes: { html: string }[] }) => `${one.id}: ${one.nodes.map((node) => node.html).join()}`,
          ),
        { resultTypes: ['violations'], ...options },
      ),
    );
}

/** The minified source takes half as long to evaluate as `axe.source`. */
const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const debuggers = new WeakMap<Page, CDPSession>();

/**
 * Loads axe into the document. `Runtime.evaluate` reuses the code that the browser compiled for earlier documents; `page.evaluate` does
 * not.
 */
async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate(`'axe' in globalThis`)) return;
  const session = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, session);
  await session.send('Runtime.evaluate', { expression: axeSource });
}

/** Finishes all animations and transitions except endless ones, because text that fades in has too little contrast at first. */
const finishAnimations = (page: Page): Promise<unknown> =>
  page.evaluate(`
    document.getAnimations()
      .filter((animation) => animation.effect.getComputedTiming().endTime !== Infinity)
      .forEach((animation) => animation.finish())
  `);

/** Returns the number of pixels by which the content is wider than the window. */
export const measureHorizontalOverflow = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Returns all elements that the Tab key reaches, and the elements among them that have no visible focus outline. */
export async function tabThrough(page: Page): Promise<{ reached: Set<string>; withoutOutline: string[] }> {
  const [reached, withoutOutline] = [new Set<string>(), new Array<string>()];
  let previous = '';
  await page.evaluate('document.activeElement?.blur?.()');
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    const at = z
      .object({ at: z.string(), outline: z.string() })
      .nullable()
      .parse(
        await page.evaluate(`(() => {
          const element = document.activeElement;
          if (element === document.body) return null;
          const style = getComputedStyle(element);
          return { at: [...document.querySelectorAll('*')].indexOf(element) + ' ' + element.outerHTML.slice(0, 200), outline: style.outlineStyle + ' ' + style.outlineWidth };
        })()`),
      );
    if (at === null) continue; // the focus moved past the last element and continues at the first one
    if (reached.has(at.at)) {
      if (at.at === previous) continue; // a date field contains several parts that receive the focus
      break;
    }
    previous = at.at;
    reached.add(at.at);
    if (!/^(solid|auto) [1-9]/.test(at.outline)) withoutOutline.push(`${at.at} ${at.outline}`);
  }
  return { reached, withoutOutline };
}

/** Returns the heights in pixels and the texts of the elements that match a Playwright selector. */
export const measureHeights = (page: Page, selector: string): Promise<{ height: number; text: string }[]> =>
  page
    .locator(selector)
    .evaluateAll((elements) =>
      elements.map((element) => ({ height: element.getBoundingClientRect().height, text: element.textContent.trim() })),
    );

/** Counts the visible links, buttons and fields, which the keyboard must reach. A group of radio buttons is one field. */
export const countInteractiveElements = (page: Page): Promise<number> =>
  page.locator('a[href]:visible, button:visible:not([disabled]), input:not([type=hidden], [type=radio]:not(:checked)):visible').count();

/** Presses Tab until the element with this text or label has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    const focused = `(() => {
      const element = document.activeElement;
      return (element.labels?.[0]?.innerText ?? element.getAttribute('aria-label') ?? element.innerText ?? '').trim();
    })()`;
    if ((await page.evaluate(focused)) === name) return;
  }
  throw new Error(`the keyboard does not reach "${name}"`);
}
