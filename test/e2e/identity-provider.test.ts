import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { logoColumnsFromImage } from '../../server/logos/logo-columns.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { createSquareLogo } from '../support/browser/square-png.ts';
import { insertIdentityProvider } from '../support/identity-providers/fake-identity-provider.ts';
import { startSecondIssuer, type SecondIssuer } from '../support/identity-providers/second-issuer.ts';
import { startMandateServer, type MandateServer } from '../support/server/start-mandate.ts';

if (!hasChromium) process.stderr.write('Chromium is not installed, so the test of a sign-in through a provider in a browser is skipped.\n');

describe.skipIf(!hasChromium)('a sign-in through another provider, in a real browser', () => {
  const account = { sub: 'paula', name: 'Paula Provider', email: `paula.${randomUUID()}@example.com` };
  let mandate: MandateServer;
  let issuer: SecondIssuer;
  let browser: Browser;
  let context: BrowserContext | undefined;

  beforeAll(async () => {
    mandate = await startMandateServer({ development: true });
    issuer = await startSecondIssuer(`${mandate.origin}/sign-in/providers/second/callback`, account);
    const logo = logoColumnsFromImage(createSquareLogo(64));
    await insertIdentityProvider(mandate.db, issuer, { slug: 'second', name: 'Second issuer', ...logo });
    browser = await launchChromium();
  }, 120_000);
  afterEach(() => context?.close());
  afterAll(async () => {
    await browser?.close();
    await issuer?.[Symbol.asyncDispose]();
    await mandate?.close();
  });

  test.each(['light', 'dark'] as const)(
    'starts with a button that shows the logo, in %s mode',
    { timeout: 60_000 },
    async (colorScheme) => {
      context = await browser.newContext({ colorScheme, locale: 'en-US' });
      const page = await context.newPage();
      await page.goto(`${mandate.origin}/sign-in`);
      const button = page.getByRole('button', { name: 'Continue with Second issuer', exact: true });
      const logo = button.locator('img');
      const { width, height } = (await logo.boundingBox()) ?? { width: 0, height: 0 };
      expect([width, height, await logo.getAttribute('alt')]).toEqual([20, 20, '']);
      const shown = await page.evaluate(
        `(image => [image.naturalWidth, getComputedStyle(image).backgroundColor])(document.querySelector('.provider-logo'))`,
      );
      expect(shown).toEqual([64, 'rgb(255, 255, 255)']);
      expect((await button.boundingBox())?.height).toBeLessThan(60);
    },
  );

  test.each([
    ['creates an account, with JavaScript', true],
    ['uses the account, without JavaScript', false],
  ])('%s', { timeout: 60_000 }, async (_name, javaScriptEnabled) => {
    context = await browser.newContext({ javaScriptEnabled, locale: 'en-US' });
    const page = await context.newPage();
    await page.goto(`${mandate.origin}/sign-in`);
    await page.getByRole('button', { name: 'Continue with Second issuer' }).click();
    await page.getByRole('button', { name: 'Sign in as Paula' }).click();
    await page.waitForURL(`${mandate.origin}/account`);
    expect(await page.getByText(account.email).first().isVisible()).toBe(true);
    await page.goto(`${mandate.origin}/account/security`);
    const linked = page.getByText(`${account.email} at Second issuer`);
    expect([
      await linked.isVisible(),
      await page.getByRole('button', { name: `Remove ${account.email} at Second issuer` }).count(),
    ]).toEqual([true, 1]);
    const rows = await mandate.db.em
      .fork()
      .execute('select details from audit_events where action = ? order by id desc limit 1', ['session.started']);
    expect(rows).toEqual([{ details: { amr: ['fed', 'pwd', 'otp', 'mfa'], issuer: issuer.issuer } }]);
  });
});
