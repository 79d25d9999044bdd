import { describe, expect, test } from 'vitest';
import { bundledLanguages, type Messages } from '../../../server/languages/languages.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { approveDevice, startDeviceAuthorization, submitUserCode } from '../../support/oauth/device-flow.ts';
import { authorizationPath, buildAuthorizationRequest, signUp } from '../../support/oauth/oauth-flow.ts';
import { readMailLink } from '../../support/services/mailbox.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const newPassword = 'staple battery horse correct';

/** Opens an account page as a new user and submits its form. */
const submitAccountForm =
  (path: string, fields: Record<string, string>) =>
  async (browser = new HttpBrowser(server.origin)): Promise<HtmlPage> => {
    const user = await signUp(server.origin);
    await browser.submit(await browser.open('/sign-in'), { email: user.email, password: user.password });
    return browser.submit(await browser.open(path), fields);
  };

const submitForm =
  (path: string, fields: Record<string, string>) =>
  async (browser: HttpBrowser): Promise<HtmlPage> =>
    browser.submit(await browser.open(path), fields);

const createEmailAddress = (): string => `anna.${crypto.randomUUID()}@example.com`;

/** Signs the browser in and returns the final page of a device flow. */
async function completeDeviceFlow(browser: HttpBrowser, decision: 'allow' | 'abort' | 'cancel'): Promise<HtmlPage> {
  const { email, password } = await signUp(server.origin);
  await browser.submit(await browser.open('/sign-in'), { email, password });
  const { user_code: code } = await startDeviceAuthorization(server.origin);
  if (decision === 'allow') return approveDevice({ browser }, code);
  const confirmation = await submitUserCode({ browser }, code);
  if (decision === 'abort') return browser.submit(confirmation, { abort: 'yes' });
  return browser.submit(await browser.submit(confirmation, {}), { decision: 'cancel' });
}

async function submitNewPassword(browser: HttpBrowser, password: string): Promise<HtmlPage> {
  const { email } = await signUp(server.origin);
  await browser.submit(await browser.open('/password-reset'), { email });
  return browser.submit(await browser.open(await readMailLink(server.origin, email)), { password });
}

async function failSignInTooOften(browser: HttpBrowser): Promise<HtmlPage> {
  const { email } = await signUp(server.origin);
  const signIn = await browser.open('/sign-in');
  for (let at = 0; at < 10; at += 1) await browser.submit(signIn, { email, password: 'wrong' });
  return browser.submit(signIn, { email, password: 'wrong' });
}

const languageNav = ({ text }: HtmlPage): string => /<nav class="languages"[^]*?<\/nav>/.exec(text)?.[0] ?? '';
const languageLinks = (page: HtmlPage): string[] =>
  [...languageNav(page).matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

type Scenario = [name: string, open: (browser: HttpBrowser) => Promise<HtmlPage>, text: string];

const completed = 'the change is complete and a GET request shows the form again';
const usedOnce = 'the URL works only once';
const rejected = 'the typed values are not in the URL';

describe('a page that no GET request shows again has no language switch', () => {
  test.for<[...Scenario, reason: string]>([
    ['password changed', submitAccountForm('/account/password', { password: newPassword }), 'Your password has been changed', completed],
    ['profile saved', submitAccountForm('/account/profile', { name: 'Anna New' }), 'Anna New', completed],
    ['account closed', submitAccountForm('/account/close', {}), 'Your account is closed', completed],
    ['e-mail sent to the new address', submitAccountForm('/account/email', { email: createEmailAddress() }), 'Check your', completed],
    ['language saved', submitAccountForm('/account/language', { locale: 'en' }), 'Language saved', completed],
    ['signed out', submitAccountForm('/account/sessions', { everywhere: 'yes' }), 'You are signed out', completed],
    ['password reset complete', (browser) => submitNewPassword(browser, newPassword), 'Your password has been changed', completed],
    ['sign-up link sent', submitForm('/sign-up', { email: createEmailAddress() }), 'Check your', completed],
    ['password reset link sent', submitForm('/password-reset', { email: createEmailAddress() }), 'Check your', completed],
    ['device connected', (browser) => completeDeviceFlow(browser, 'allow'), 'The device is connected', usedOnce],
    ['device refused', (browser) => completeDeviceFlow(browser, 'cancel'), 'The device was not connected', usedOnce],
    ['device code refused', (browser) => completeDeviceFlow(browser, 'abort'), 'The device was not connected', completed],
    ['too many attempts', failSignInTooOften, 'Too many attempts', 'the rejection applies only to the submitted form'],
    ['sign-in with errors', submitForm('/sign-in', { email: 'anna', password: '' }), 'Enter your password', rejected],
    ['new password with errors', (browser) => submitNewPassword(browser, 'short'), 'class="fault"', rejected],
    ['profile with errors', submitAccountForm('/account/profile', { name: '' }), 'class="fault"', rejected],
    ['user code with errors', submitAccountForm('/oauth/device', { user_code: 'BBBB-BBBB' }), 'No device is waiting', rejected],
  ])('%s', async ([_name, open, text]) => {
    const page = await open(new HttpBrowser(server.origin));
    expect(page.text).toContain(text);
    expect(languageNav(page)).toBe('');
  });
});

describe('the language links show the same page in every language', () => {
  const confirmDevice = async (browser: HttpBrowser): Promise<HtmlPage> => {
    const { email, password } = await signUp(server.origin);
    await browser.submit(await browser.open('/sign-in'), { email, password });
    return submitUserCode({ browser }, (await startDeviceAuthorization(server.origin)).user_code);
  };
  test.for<[name: string, open: (browser: HttpBrowser) => Promise<HtmlPage>, text: (messages: Messages) => string]>([
    ['the confirmation of a user code', confirmDevice, ({ device }) => device.confirm],
    ['signed out by an application', (browser) => browser.open('/oauth/logout/success'), ({ signedOut }) => signedOut.title],
    ['an expired e-mail link', (browser) => browser.open('/password-reset/confirm?token=x'), ({ linkExpired }) => linkExpired.title],
    [
      'an invalid authorization request',
      (browser) => browser.open(authorizationPath(buildAuthorizationRequest({ client_id: 'unknown' }).query)),
      ({ failure }) => failure.badRequestTitle,
    ],
  ])('%s', async ([_name, open, text]) => {
    const browser = new HttpBrowser(server.origin);
    const page = await open(browser);
    expect(page.text).toContain(`>${text(bundledLanguages.default.messages)}<`);
    const links = languageLinks(page);
    expect(links).toHaveLength(bundledLanguages.tags.length - 1);
    for (const link of links) {
      const tag = new URLSearchParams(link).get('language') ?? '';
      const translated = await browser.open(new URL(link, page.url).href);
      expect([tag, translated.response.headers.get('content-language')]).toEqual([tag, tag]);
      const language = bundledLanguages.match(tag);
      expect(language && translated.text).toContain(`>${language && text(language.messages)}<`);
    }
  });
});
