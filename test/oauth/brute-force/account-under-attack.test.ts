import { Secret, TOTP } from 'otpauth';
import { beforeEach, describe, expect, test } from 'vitest';
import { createAccountWithVerifiedEmail } from '../../../server/oauth/accounts/accounts-and-passwords.ts';
import { hashPassword } from '../../../server/oauth/passwords/hash-and-verify-password.ts';
import { HttpBrowser, buildFormRequest, removeLineBreakMarkup, type HtmlPage } from '../../support/browser/browser.ts';
import { readLastMailTo, readMailsTo } from '../../support/services/mailbox.ts';
import { buildAuthorizationRequest, authorizationPath, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import {
  requestsEmailCode,
  extractEmailCode,
  submitWrongPasswords,
  isAccountPage,
  setAttemptCount,
  submitFormByAction,
  submitPassword,
  wrongCredentials,
  type PasswordCredentials,
} from '../../support/oauth/sign-in-attempts.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
beforeEach(() => server.db.em.fork().execute('delete from attempts'));

describe('more than 100 wrong passwords within a day from many networks', { timeout: 60_000 }, () => {
  test('a correct password from a new browser requires an e-mail code; a wrong password gets the same response', async () => {
    const owner = await signUp(server.origin);
    await submitWrongPasswords(server, owner.email, 100);
    const before = await readMailsTo(server.origin, owner.email);
    const pageOfAttacker = await submitPassword(server, wrongCredentials(owner.email));
    expect([requestsEmailCode(pageOfAttacker), pageOfAttacker.response.status]).toEqual([true, 200]);
    const notification = await readLastMailTo(server.origin, owner.email);
    expect(notification.subject).toBe('Many failed sign-in attempts at Mandate');
    await submitPassword(server, wrongCredentials(owner.email));
    expect(await readMailsTo(server.origin, owner.email)).toHaveLength(before.length + 1); // one notification, but no code

    const browser = new HttpBrowser(server.origin);
    const page = await submitPassword(server, owner, browser);
    const withoutTokens = (text: string): string => text.replaceAll(/name="(csrf|proof)" value="[^"]*"/g, '');
    expect(withoutTokens(page.text)).toBe(withoutTokens(pageOfAttacker.text));
    const proofLength = ({ text }: HtmlPage): number => (/name="proof" value="([^"]*)"/.exec(text)?.[1] ?? '').length;
    expect(proofLength(page)).toBe(proofLength(pageOfAttacker));

    const mail = await readLastMailTo(server.origin, owner.email);
    expect(mail.subject).toBe('Your sign-in code for Mandate');
    const rejectedPage = await submitFormByAction(browser, page, 'e-mail-code', { code: 'aaaaa-aaaaa' });
    expect([rejectedPage.response.status, rejectedPage.text.includes('The code, the e-mail address or the password is incorrect')]).toEqual(
      [400, true],
    );
    const hasLanguageSwitch = ({ text }: HtmlPage): boolean => text.includes('class="languages"');
    expect([hasLanguageSwitch(page), hasLanguageSwitch(rejectedPage)]).toEqual([true, false]); // changing the language would hide the error
    expect((await submitFormByAction(browser, page, 'e-mail-code', { code: '' })).text).toContain('Enter the code from the e-mail');
    const code = extractEmailCode(mail.text);
    expect(isAccountPage(await submitFormByAction(browser, page, 'e-mail-code', { code: code.toUpperCase() }))).toBe(true);
    const otherBrowser = new HttpBrowser(server.origin);
    const otherPage = await submitPassword(server, owner, otherBrowser);
    // the code belongs to a different sign-in
    expect((await submitFormByAction(otherBrowser, otherPage, 'e-mail-code', { code })).response.status).toBe(400);
    // this browser has previously signed in to the account
    expect(isAccountPage(await submitPassword(server, owner, browser))).toBe(true);
  });

  test('an unknown account gets the same response in the same time', async () => {
    const owner = await signUp(server.origin);
    const unknownEmail = `nobody.${crypto.randomUUID()}@example.com`;
    for (const email of [owner.email, unknownEmail]) await submitWrongPasswords(server, email, 1);
    await setAttemptCount(server, 'password', 100);
    const timeSignIn = async (credentials: PasswordCredentials): Promise<{ ms: number; asks: boolean; status: number }> => {
      const browser = new HttpBrowser(server.origin);
      const form = buildFormRequest(await browser.open('/sign-in'), credentials);
      const started = performance.now();
      const response = await browser.request('/sign-in', form);
      const ms = performance.now() - started;
      const text = removeLineBreakMarkup(await response.text());
      return { ms, asks: text.includes('Code from the e-mail'), status: response.status };
    };
    const responses = [
      await timeSignIn(owner),
      await timeSignIn(wrongCredentials(owner.email)),
      await timeSignIn({ email: unknownEmail, password: owner.password }),
    ];
    for (const { ms, asks, status } of responses) {
      expect([asks, status]).toEqual([true, 200]);
      expect(ms).toBeGreaterThan(990);
      expect(ms).toBeLessThan(1500);
    }
  });

  test('a code is accepted once, and only in the browser that started the sign-in', async () => {
    const owner = await signUp(server.origin);
    await submitWrongPasswords(server, owner.email, 1);
    await setAttemptCount(server, 'password', 100);
    const browser = new HttpBrowser(server.origin);
    const page = await submitPassword(server, owner, browser);
    const code = extractEmailCode((await readLastMailTo(server.origin, owner.email)).text);
    const proof = /name="proof" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const thief = new HttpBrowser(server.origin);
    const stolenForm = buildFormRequest(await thief.open('/sign-in'), { proof, code });
    expect((await thief.open('/sign-in/e-mail-code', stolenForm)).text).toContain('Please sign in again');
    expect(isAccountPage(await submitFormByAction(browser, page, 'e-mail-code', { code }))).toBe(true);
    expect((await submitFormByAction(browser, page, 'e-mail-code', { code })).response.status).toBe(400);
  });

  test('an account with an authenticator app requires the app code after the e-mail code', async () => {
    const { owner, totp } = await withAuthenticatorApp();
    await submitWrongPasswords(server, owner.email, 1);
    await setAttemptCount(server, 'password', 100);
    const browser = new HttpBrowser(server.origin);
    const page = await submitPassword(server, owner, browser);
    const code = extractEmailCode((await readLastMailTo(server.origin, owner.email)).text);
    const second = await submitFormByAction(browser, page, 'e-mail-code', { code });
    expect(second.text).toContain('Code from your authenticator app');
    expect(isAccountPage(await submitFormByAction(browser, second, 'second-factor', { code: totp() }))).toBe(true);
  });

  test('an authorization request continues after the e-mail code', async () => {
    const owner = await signUp(server.origin);
    await submitWrongPasswords(server, owner.email, 1);
    await setAttemptCount(server, 'password', 100);
    const browser = new HttpBrowser(server.origin);
    const signIn = await browser.open(authorizationPath(buildAuthorizationRequest().query));
    const page = await browser.submit(signIn, { email: owner.email, password: owner.password });
    expect(requestsEmailCode(page)).toBe(true);
    const code = extractEmailCode((await readLastMailTo(server.origin, owner.email)).text);
    expect((await submitFormByAction(browser, page, 'e-mail-code', { code })).url.pathname).toMatch(/^\/consent\//);
  });

  test('a browser that has signed in before needs no e-mail code', async () => {
    const owner = await signUp(server.origin);
    await submitWrongPasswords(server, owner.email, 1);
    await setAttemptCount(server, 'password', 1000);
    expect(requestsEmailCode(await submitPassword(server, owner))).toBe(true);
    expect(isAccountPage(await submitPassword(server, owner, owner.browser))).toBe(true);
  });

  describe('on a server without e-mail', () => {
    const serverWithoutMail = useServer({ canMail: false });

    test('every attempt takes longer, but the owner can sign in', async () => {
      const owner = { email: `ada.${crypto.randomUUID()}@example.com`, password: 'correct horse battery' };
      const passwordHash = await hashPassword(owner.password);
      await createAccountWithVerifiedEmail(serverWithoutMail.db.em.fork(), { name: 'Ada', email: owner.email, passwordHash }, new Date());
      await submitWrongPasswords(serverWithoutMail, owner.email, 1);
      const timeSignIn = async (points: number): Promise<number> => {
        await setAttemptCount(serverWithoutMail, 'password', points);
        const started = performance.now();
        expect(isAccountPage(await submitPassword(serverWithoutMail, owner))).toBe(true);
        return performance.now() - started;
      };
      expect(await timeSignIn(50)).toBeLessThan(900);
      expect(await timeSignIn(100)).toBeGreaterThan(990);
      expect(await timeSignIn(160)).toBeGreaterThan(1990);
      expect(await timeSignIn(210)).toBeGreaterThan(3990);
    });
  });
});

async function withAuthenticatorApp(): Promise<{ owner: TestUser; totp: () => string }> {
  const owner = await signUp(server.origin);
  const page = await owner.browser.open('/account/authenticator-app');
  const secret = (/<p class="key"><code>([^<]+)/.exec(page.text)?.[1] ?? '').replaceAll(' ', '');
  const app = new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30 });
  await owner.browser.submit(page, { code: app.generate({ timestamp: Date.now() - 30_000 }) });
  return { owner, totp: () => app.generate() };
}

describe('wrong codes of an authenticator app', { timeout: 60_000 }, () => {
  const submitPasswordFrom = async (owner: PasswordCredentials, address?: string): Promise<{ browser: HttpBrowser; page: HtmlPage }> => {
    const browser = new HttpBrowser(server.origin, address);
    return { browser, page: await submitPassword(server, owner, browser) };
  };

  test('lock out the network of the attacker, but not the owner', async () => {
    const { owner, totp } = await withAuthenticatorApp();
    const { browser, page } = await submitPasswordFrom(owner, '198.51.100.40');
    const wrongCode = (): Promise<HtmlPage> => submitFormByAction(browser, page, 'second-factor', { code: '000000' });
    for (let time = 0; time < 10; time += 1) expect((await wrongCode()).response.status).toBe(400);
    expect((await wrongCode()).response.status).toBe(429);
    expect((await submitFormByAction(browser, page, 'second-factor', { code: totp() })).response.status).toBe(429);
    const ownerSession = await submitPasswordFrom(owner, '203.0.113.40');
    expect(isAccountPage(await submitFormByAction(ownerSession.browser, ownerSession.page, 'second-factor', { code: totp() }))).toBe(true);
  });

  test('that exceed the limit for all networks make an e-mail code necessary in addition to a correct code', async () => {
    const { owner, totp } = await withAuthenticatorApp();
    const attacker = await submitPasswordFrom(owner);
    await submitFormByAction(attacker.browser, attacker.page, 'second-factor', { code: '000000' });
    await setAttemptCount(server, 'secondFactor', 100);
    const mails = (await readMailsTo(server.origin, owner.email)).length;
    const pageOfAttacker = await submitFormByAction(attacker.browser, attacker.page, 'second-factor', { code: '000000' });
    expect(requestsEmailCode(pageOfAttacker)).toBe(true);
    expect(await readMailsTo(server.origin, owner.email)).toHaveLength(mails);
    const ownerSession = await submitPasswordFrom(owner);
    const page = await submitFormByAction(ownerSession.browser, ownerSession.page, 'second-factor', { code: totp() });
    expect(requestsEmailCode(page)).toBe(true);
    const code = extractEmailCode((await readLastMailTo(server.origin, owner.email)).text);
    expect(isAccountPage(await submitFormByAction(ownerSession.browser, page, 'e-mail-code', { code }))).toBe(true);
  });
});
