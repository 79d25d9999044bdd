import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultShopBranding } from '../../../server/branding/default-branding.ts';
import { renderBrandedEmail } from '../../../server/branding/render-branded-email.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import { databaseKind } from '../../support/services/database.ts';

const shop = { ...defaultShopBranding, name: 'Ann & <Sons>', accent_color: '#ffd400', email_footer: 'Ann & <Sons>\n12 Market Street' };
const content = {
  language: 'en',
  direction: 'ltr',
  subject: 'Your <account>',
  paragraphs: ['Hello,', 'text with <b>markup</b>'],
  action: { url: `https://shop.example/?a=1&token=${'x'.repeat(120)}`, label: 'Continue', hint: 'Copy this address:' },
  lists: [{ title: 'Kept:', items: ['Passkey <i>Phone</i>'] }],
  notes: ['A note'],
  shopLinks: [{ url: 'https://shop.example/help', text: 'Help' }],
} as const;
const mail = renderBrandedEmail('ann@example.com', shop, 'https://shop.example', content);

test('the HTML of an e-mail escapes every value', () => {
  expect(mail.html).not.toMatch(/<Sons>|<b>|<i>|<account>/);
  expect(mail.html).toContain('text with &lt;b&gt;markup&lt;/b&gt;');
  expect(mail.html).toContain('href="https://shop.example/?a=1&amp;token=');
});

test('the plain text of an e-mail has the same content, without markup', () => {
  const { action, subject } = content;
  const blocks = ['Hello,', 'text with <b>markup</b>', action.url, 'Kept:\n- Passkey <i>Phone</i>', 'A note'];
  expect([mail.subject, mail.text]).toEqual([
    subject,
    [...blocks, shop.name, shop.email_footer, 'Help: https://shop.example/help\n'].join('\n\n'),
  ]);
});

// E-mails do not depend on the database.
describe.skipIf(!hasChromium || databaseKind === 'pglite')('an e-mail in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test.each(['light', 'dark'] as const)('is accessible and fits small screens in %s mode', async (colorScheme) => {
    const page = await browser.newPage({ colorScheme, viewport: { width: 320, height: 640 } });
    await page.setContent(mail.html);
    await page.evaluate(axe.source);
    const violations = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
    expect(violations).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    const background = await page.evaluate(`getComputedStyle(document.querySelector('.card')).backgroundColor`);
    expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(26, 27, 33)');
  });
});
