import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defaultShopBranding } from '../../../server/branding/default-branding.ts';
import { renderBrandedEmail } from '../../../server/branding/render-branded-email.ts';
import { bundledLanguages, type Language } from '../../../server/languages/languages.ts';
import type { Mail } from '../../../server/mail/queue-mail.ts';
import { describeChangeTimeAndSource } from '../../../server/oauth/pages/emails/describe-change-time-and-source.ts';
import { renderEmail } from '../../../server/oauth/pages/emails/render-email.ts';
import type { PageSettings } from '../../../server/oauth/pages/views/page-layout-and-form-fields.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import { findAxeViolations } from '../../support/browser/page-accessibility.ts';
import { takeScreenshots } from '../../support/browser/take-screenshots.ts';
import { databaseKind } from '../../support/services/database.ts';

const shop = { ...defaultShopBranding, name: 'Ann & <Sons>', accent_color: '#ffd400', email_footer: 'Ann & <Sons>\n12 Market Street' };
const content = {
  language: 'en',
  direction: 'ltr',
  subject: 'Your <account>',
  paragraphs: ['Hello,', 'text with <b>markup</b>', { code: 'ab2cd-ef3gh' }],
  lists: [{ title: 'Kept:', items: ['Passkey <i>Phone</i>'] }],
  advice: 'Check your account.',
  action: { url: `https://shop.example/?a=1&token=${'x'.repeat(120)}`, label: 'Continue', hint: 'Copy this address:' },
  notes: ['A note'],
  shopLinks: [{ url: 'https://shop.example/help', text: 'Help' }],
} as const;
const mail = renderBrandedEmail('ann@example.com', shop, 'https://shop.example', content);

test('the HTML of an e-mail escapes every value', () => {
  expect(mail.html).not.toMatch(/<Sons>|<b>|<i>|<account>/);
  expect(mail.html).toContain('text with &lt;b&gt;markup&lt;/b&gt;');
  expect(mail.html).toContain('href="https://shop.example/?a=1&amp;token=');
});

test('the HTML of an e-mail keeps the word “e-mail” on one line', () => {
  const subject = 'Your e-mail address';
  const { html } = renderBrandedEmail('ann@example.com', shop, 'https://shop.example', { ...content, subject });
  expect(html).toContain(`<title>${subject}</title>`);
  expect(html).toMatch(/<h1 [^>]*>Your <span style="white-space: nowrap">e-mail<\/span> address<\/h1>/);
});

test('the lines of the heading and the button of an e-mail are balanced', () => {
  expect(mail.html.match(/<(?:h1|a class="button") [^>]*text-wrap: balance/g)).toHaveLength(2);
});

test('the plain text of an e-mail has the same content, without markup', () => {
  const { action, advice, subject } = content;
  const blocks = ['Hello,', 'text with <b>markup</b>', 'ab2cd-ef3gh', 'Kept:\n- Passkey <i>Phone</i>', advice, action.url, 'A note'];
  expect([mail.subject, mail.text]).toEqual([
    subject,
    [...blocks, shop.name, shop.email_footer, 'Help: https://shop.example/help\n'].join('\n\n'),
  ]);
});

const url = `https://shop.example/?a=1&token=${'x'.repeat(120)}`;
const values = {
  shop: 'Larkspur',
  email: `${'a-rather-long-address.'.repeat(2)}@a-long-domain-name.example.com`,
  failures: 1000,
  host: 'a-long-host-name.shop.example.com',
  id: '12',
};

/** Renders every account e-mail in the given language. */
function renderAccountEmails({ messages }: Language): Mail[] {
  const { mail: texts, credential, approvals } = messages;
  const settings = { shop: { ...shop, name: values.shop }, issuer: 'https://shop.example', messages };
  const source = { headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0' }, ip: '203.0.113.7' };
  const pageSettings = z.custom<PageSettings>().parse(settings);
  const changed = describeChangeTimeAndSource(pageSettings, new Date('2026-11-25T04:34:00Z'), source);
  const lists = [
    { title: texts.removed, items: [credential.passkey({ name: 'Phone' }), credential.authenticatorApp] },
    { title: texts.keysRevoked, items: [credential.apiKey({ name: 'Nightly export', prefix: 'mk_1a2b3c4d' })] },
    changed,
  ];
  const [createAccount, choosePassword, confirmAddress] = (['createAccount', 'choosePassword', 'confirmAddress'] as const).map((label) => ({
    url,
    label,
  }));
  const application = 'An application with a rather long name';
  const reason = approvals.reason.perOrder({ application, limit: '€50.00' });
  const contents = [
    { subject: texts.signUpSubject(values), text: texts.signUp(values), button: createAccount, ignore: true },
    { subject: texts.haveAccountSubject(values), text: texts.haveAccount(values), button: choosePassword, ignore: true },
    { subject: texts.resetSubject(values), text: texts.reset(values), button: choosePassword, ignore: true },
    { subject: texts.noAccountSubject(values), text: texts.noAccount(values), button: createAccount, ignore: true },
    { subject: texts.newAddressSubject(values), text: texts.newAddress(values), button: confirmAddress, ignore: true },
    { subject: texts.addressTakenSubject(values), text: texts.addressTaken(values), advice: texts.addressTakenAdvice },
    ...[texts.addressChanged, texts.addressChangedByOther].map((text) => ({
      subject: texts.addressChangedSubject(values),
      text: text(values),
      lists: [changed],
      advice: texts.addressAdvice,
      button: { url, label: 'getHelp' as const },
    })),
    { subject: texts.confirmAddressSubject(values), text: texts.confirmNewAddress(values), button: confirmAddress, ignore: true },
    { subject: texts.confirmAddressSubject(values), text: texts.confirmAddressFirst(values), button: confirmAddress, ignore: true },
    {
      subject: texts.passwordChangedSubject(values),
      text: texts.passwordChanged(values),
      lists,
      advice: texts.passwordAdvice,
      button: choosePassword,
    },
    {
      subject: texts.signInCodeSubject(values),
      text: texts.signInCode(values),
      code: { value: 'ab2cd-ef3gh', note: texts.signInCodeNote },
      button: choosePassword,
    },
    { subject: texts.underAttackSubject(values), text: texts.underAttack(values), advice: texts.underAttackAdvice, button: choosePassword },
    ...Object.values(texts.securityChange).map((text) => ({
      subject: texts.securityChangedSubject(values),
      text: text(values),
      lists: [changed],
      advice: texts.securityAdvice,
      button: { url, label: 'checkAccount' as const },
    })),
    { subject: texts.webhookDisabledSubject(values), text: `${texts.webhookDisabled(values)} ${texts.webhookGone} ${texts.webhookStored}` },
    {
      subject: texts.approvalSubject({ ...values, application }),
      text: texts.approval({ ...values, application, amount: '€60.00', reason }),
      advice: texts.approvalAdvice({ when: 'Nov 25, 2026, 04:34 UTC' }),
      button: { url, label: 'viewApprovalRequest' as const },
      lists: [{ title: approvals.items, items: [approvals.line({ quantity: '2', name: 'Teapot '.repeat(20), amount: '€55.00' })] }],
    },
  ];
  return contents.map((one) => renderEmail('ann@example.com', pageSettings, one));
}

test.each(bundledLanguages.all)(
  'in the language $tag, texts above a button do not call it a link',
  ({ tag, messages: { mail: texts } }) => {
    const here = { en: /\bhere:$/, de: /\bhier\b.*:$/i, es: /\baquí:$/, fr: /\bici\u00a0:$/ }[tag] ?? tag;
    const { signUp, haveAccount, reset, noAccount, newAddress, confirmNewAddress, confirmAddressFirst } = texts;
    for (const text of [signUp, haveAccount, reset, noAccount, newAddress, confirmNewAddress, confirmAddressFirst])
      expect(text(values)).toMatch(here);
  },
);

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
    expect(await findAxeViolations(page, colorScheme)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    const background = await page.evaluate(`getComputedStyle(document.querySelector('.card')).backgroundColor`);
    expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(26, 27, 33)');
  });

  test.each(['en', 'de'])('in the language %s, the button that confirms an e-mail address has one line on a phone', async (tag) => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    const label = bundledLanguages.match(tag)?.messages.mail.buttons.confirmAddress ?? '';
    await page.setContent(
      renderBrandedEmail('ann@example.com', shop, 'https://shop.example', { ...content, action: { ...content.action, label } }).html,
    );
    const lines = `(() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('a.button'));
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    })()`;
    expect(await page.evaluate(lines)).toBe(1);
    await page.close();
  });

  test.each(bundledLanguages.all)(
    'all e-mails in the language $tag are accessible and fit small screens',
    { timeout: 60_000 },
    async (language) => {
      const page = await browser.newPage();
      for (const [index, { html, subject }] of renderAccountEmails(language).entries()) {
        await page.setViewportSize({ width: 320, height: 640 });
        await page.setContent(html);
        expect(await page.evaluate('document.documentElement.scrollWidth'), subject).toBe(320);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await findAxeViolations(page, colorScheme), `${subject}, ${colorScheme}`).toEqual([]);
        }
        await takeScreenshots(page, `e-mail ${index + 10} ${language.tag}`);
      }
      await page.close();
    },
  );
});
