import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
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
    await insertIdentityProvider(mandate.db, issuer, { slug: 'second', name: 'Second issuer' });
    browser = await launchChromium();
  }, 120_000);
  afterEach(() => context?.close());
  afterAll(async () => {
    await browser?.close();
    await issuer?.[Symbol.asyncDispose]();
    await mandate?.close();
  });

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
