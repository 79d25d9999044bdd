import { problemDeclarations } from '@mandate/contract';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { findAxeViolations, measureHorizontalOverflow } from '../support/browser/page-accessibility.ts';
import { withShop } from '../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false });

const fetchPage = async (path: string): Promise<{ response: Response; text: string }> => {
  const response = await fetch(`${shop.origin}${path}`);
  return { response, text: await response.text() };
};

test.each(Object.entries(problemDeclarations))(
  '%s has a page that explains the cause and how to fix it',
  async (code, { title, status }) => {
    const { response, text } = await fetchPage(`/problems/${code}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(/<h1>.*?<\/h1>/.exec(text)?.[0].replaceAll(/<[^>]*>/g, '')).toBe(title);
    expect(text).toContain(`<code>${status}</code>`);
    expect(text).toMatch(/What happened<\/h2>\s*<p lang="en">[^]{20,}How to fix it<\/h2>\s*<p lang="en">[^]{15,}/);
    expect(text).not.toContain('`');
    expect(text).not.toContain('<script');
  },
);

test('the type of a problem response is the URL of its page', async () => {
  const { body } = await shop.callApi('GET', '/api/v1/orders');
  expect(body.type.startsWith(`${shop.origin}/problems/`)).toBe(true);
  expect(await (await fetch(body.type)).text()).toContain('An access token is required');
});

test('/problems links to the page of every error code, and to no other page', async () => {
  const { response, text } = await fetchPage('/problems');
  expect(response.status).toBe(200);
  const links = Array.from(text.matchAll(/href="\/problems\/(\w+)"/g), ([, code = '']) => code);
  expect(links.toSorted()).toEqual(Object.keys(problemDeclarations).toSorted());
});

test.each(['/problems/nothing', '/problems/toString', '/problems/__proto__'])('%s returns 404 with an HTML page', async (path) => {
  const { response, text } = await fetchPage(path);
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(text).toContain('Unknown problem code');
});

test.each([
  ['en', 'How to fix it', 'All problems', problemDeclarations.out_of_stock.title],
  ['de', 'So beheben Sie den Fehler', 'Alle Fehler', 'Nicht genug auf Lager'],
  ['fr', 'Comment corriger l’erreur', 'Toutes les erreurs', 'Stock insuffisant'],
  ['es', 'Cómo solucionarlo', 'Todos los errores', 'No hay suficientes existencias'],
])('the pages are in the language of the request, with explanations in English: %s', async (language, fix, list, title) => {
  const open = async (path: string) => {
    const response = await fetch(shop.origin + path, { headers: { 'accept-language': language } });
    return { headers: response.headers, text: await response.text() };
  };
  const page = await open('/problems/out_of_stock');
  expect([page.headers.get('content-language'), page.headers.get('vary')]).toEqual([language, 'Accept-Language, Cookie']);
  for (const text of [`<html lang="${language}"`, `<h1>${title}</h1>`, `<h2>${fix}</h2>`, `>${list}</a>`])
    expect(page.text).toContain(text);
  expect(page.text).toContain('<p lang="en">Each entry in <code>errors</code>');
  const other = language === 'fr' ? 'de' : 'fr';
  expect(page.text).toContain(`<a href="?language=${other}" lang="${other}" hreflang="${other}">`);
  expect((await open('/problems')).text).toContain(`<span>${title} <code class="quiet">out_of_stock</code></span>`);
});

describe.skipIf(!hasChromium)('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test.each(['/problems', '/problems/out_of_stock', '/problems/nothing'])(
    '%s has no accessibility violations and no horizontal overflow',
    async (path) => {
      const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
      const consoleMessages: string[] = [];
      page.on('console', (message) => consoleMessages.push(message.text()));
      await page.goto(shop.origin + path);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findAxeViolations(page, colorScheme), colorScheme).toEqual([]);
        expect(await measureHorizontalOverflow(page), colorScheme).toBe(0);
      }
      expect(consoleMessages.filter((text) => !text.includes('404'))).toEqual([]);
      await page.close();
    },
  );
});
