import type { Browser, Page } from 'playwright-core';
import { scopeDefinitions, scopeNames } from '@mandate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import { getPermissionGroup } from '../../../server/oauth/pages/views/permission-groups.ts';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  signUp,
  signUpWithRole,
} from '../../support/oauth/oauth-flow.ts';
import { signInAs } from '../../support/oauth/page-scenarios.ts';
import { useServer } from '../../support/server/use-server.ts';
import { databaseKind } from '../../support/services/database.ts';

const server = useServer();

const groupsOf = (page: string): string[] => [...page.matchAll(/<h2 id="group-\w+">([^<]+)/g)].map(([, title = '']) => title);

async function createPathForAllScopes(): Promise<string> {
  const { clientId, redirectUri } = await createWebApplication(server.db, scopeNames);
  const scope = ['openid', 'profile', 'email', 'offline_access', ...scopeNames].join(' ');
  return authorizationPath(buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope }).query);
}

describe('the permissions on the consent page', () => {
  test('are grouped, with the powerful ones last', async () => {
    const { browser } = await signUpWithRole(server.db, server.origin, 'admin');
    const { text } = await browser.open(await createPathForAllScopes());
    const powerful = [
      'Powerful permissions: full control of your account',
      'Powerful permissions: full control of other users and the whole shop',
    ];
    expect(groupsOf(text)).toEqual(['Profile', 'Orders', 'Payments', 'Other', ...powerful]);
    const [ordinary = '', marked = ''] = text.split('id="powerful"');
    expect(ordinary).toContain('value="orders.write"');
    for (const scope of ['users.write', 'api_keys.manage', 'orders.manage']) {
      expect(ordinary).not.toContain(`value="${scope}"`);
      expect(marked).toContain(`value="${scope}"`);
    }
    expect(marked).toContain('<a href="#powerful">Review the powerful permissions</a>');
  });

  test.each([
    ['openid', 'See your name, e-mail address and other account details, such as language and status'],
    ['openid profile', 'See your e-mail address and other account details, such as language and status'],
    ['openid email', 'See your name and other account details, such as language and status'],
    ['openid profile email', 'See your other account details, such as language and status'],
  ])('%s: the checkbox for users.read does not repeat data that are always included', async (scope, description) => {
    const { browser } = await signUp(server.origin);
    const { text } = await browser.open(authorizationPath(buildAuthorizationRequest({ scope: `${scope} users.read` }).query));
    expect(text).toMatch(new RegExp(`value="users.read"[^>]*/><span>${description}<`));
    const included = text.match(/<span>[^<]*<small>always included/g) ?? [];
    expect(included).toHaveLength(scope.split(' ').length);
  });

  test('without a powerful permission have no mark, and no heading for an empty group', async () => {
    const { browser } = await signUp(server.origin);
    const { text } = await browser.open(authorizationPath(buildAuthorizationRequest({ scope: 'openid orders.read payments.write' }).query));
    expect(groupsOf(text)).toEqual(['Profile', 'Orders', 'Payments']);
    expect(text.match(/<span>[^<]*<small>always included/g)).toEqual(['<span>Confirm your identity<small>always included']);
    expect(text).not.toContain('owerful');
    expect(text).toContain('You can revoke this access at any time on your account page, under “Applications that use your account”.');
  });

  test.each(scopeNames.filter((name) => scopeDefinitions[name].admin))('%s belongs to a powerful group', (name) => {
    expect(getPermissionGroup(name)).toBe('shop');
  });
});

// The page does not depend on the database.
describe.skipIf(!hasChromium || databaseKind === 'pglite')('on a phone, with every permission', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await signInAs(server, page, await signUpWithRole(server.db, server.origin, 'admin'));
    await page.goto(server.origin + (await createPathForAllScopes()));
  });
  afterAll(() => browser.close());

  test.each(bundledLanguages.tags)('"Allow" is visible without scrolling: %s', async (tag) => {
    if (tag !== 'en') await page.locator(`.languages [lang=${tag}]`).click();
    await page.locator(`html[lang=${tag}]`).waitFor();
    await page.evaluate('scrollTo(0, 0)');
    const isOnTop = `(() => {
      const button = document.querySelector('button[value=allow]');
      const { x, y, width, height } = button.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2) === button && y + height <= innerHeight;
    })()`;
    expect(await page.evaluate(isOnTop)).toBe(true);
    expect(await page.evaluate('scrollY')).toBe(0);
  });

  test('the keyboard reaches every checkbox, and the buttons never hide the checkbox that has the focus', async () => {
    await page.evaluate('document.activeElement?.blur?.()');
    const reached = new Set<string>();
    for (let step = 0; step < scopeNames.length + 20; step += 1) {
      await page.keyboard.press('Tab');
      const focused = z.object({ name: z.string().nullable(), hidden: z.boolean() }).parse(
        await page.evaluate(`(() => {
          const element = document.activeElement;
          const { x, y, width, height } = element.getBoundingClientRect();
          const top = document.elementFromPoint(x + width / 2, y + height / 2);
          return { name: element.matches('input[name=scope]') ? element.value : null, hidden: top === null || !!top.closest('.decision') };
        })()`),
      );
      if (focused.name === null) continue;
      reached.add(focused.name);
      expect(focused.hidden, focused.name).toBe(false);
    }
    expect([...reached].toSorted()).toEqual(scopeNames.toSorted());
  });

  test.each(bundledLanguages.tags)('the heading with the name of the command line has at most three lines: %s', async (tag) => {
    await page.goto(server.origin + authorizationPath(buildAuthorizationRequest({ prompt: 'consent' }).query));
    if ((await page.locator(`html[lang=${tag}]`).count()) === 0) await page.locator(`.languages [lang=${tag}]`).click();
    await page.locator(`html[lang=${tag}]`).waitFor();
    const lines = await page.evaluate(`(() => {
      const heading = document.querySelector('h1');
      return heading.getBoundingClientRect().height / parseFloat(getComputedStyle(heading).lineHeight);
    })()`);
    expect(Math.round(z.number().parse(lines))).toBeLessThanOrEqual(3);
  });
});
