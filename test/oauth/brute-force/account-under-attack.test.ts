import { Secret, TOTP } from 'otpauth';
import { beforeEach, describe, expect, test } from 'vitest';
import { createAccount } from '../../../server/oauth/accounts/account-store.ts';
import { hashPassword } from '../../../server/oauth/passwords/password-hash.ts';
import { Browser, formRequest, type Page } from '../../support/browser/browser.ts';
import { lastMailTo, mailsTo } from '../../support/services/mailbox.ts';
import { authorizationRequest, authorizePath, signUp, type Person } from '../../support/oauth/oauth-flow.ts';
import {
  asksForEmailCode,
  codeIn,
  guess,
  isSignedIn,
  setCeiling,
  submitForm,
  submitPassword,
  wrong,
  type Credentials,
} from '../../support/oauth/sign-in-attempts.ts';
import { useServer } from '../../support/server/with-server.ts';

const server = useServer();
beforeEach(() => server.db.em.fork().execute('delete from attempts'));

describe('more than 100 wrong passwords within a day from many networks', { timeout: 60_000 }, () => {
  test('a right password from a new browser must be confirmed by e-mail; wrong ones get the same answer', async () => {
    const owner = await signUp(server.origin);
    await guess(server, owner.email, 100);
    const before = await mailsTo(server.origin, owner.email);
    const guessed = await submitPassword(server, wrong(owner.email));
    expect([asksForEmailCode(guessed), guessed.response.status]).toEqual([true, 200]);
    const notice = await lastMailTo(server.origin, owner.email);
    expect(notice.subject).toBe('Many failed sign-in attempts at Mandate');
    await submitPassword(server, wrong(owner.email));
    expect(await mailsTo(server.origin, owner.email)).toHaveLength(before.length + 1); // one notice, and no code

    const browser = new Browser(server.origin);
    const page = await submitPassword(server, owner, browser);
    const comparable = (text: string): string => text.replaceAll(/name="(csrf|proof)" value="[^"]*"/g, '');
    expect(comparable(page.text)).toBe(comparable(guessed.text));
    const lengthOfProof = ({ text }: Page): number => (/name="proof" value="([^"]*)"/.exec(text)?.[1] ?? '').length;
    expect(lengthOfProof(page)).toBe(lengthOfProof(guessed));

    const mail = await lastMailTo(server.origin, owner.email);
    expect(mail.subject).toBe('Your code to sign in to Mandate');
    const bad = await submitForm(browser, page, 'e-mail-code', { code: 'aaaaa-aaaaa' });
    expect([bad.response.status, bad.text.includes('The code or your details are incorrect')]).toEqual([400, true]);
    expect((await submitForm(browser, page, 'e-mail-code', { code: '' })).text).toContain('Enter the code from the e-mail');
    const code = codeIn(mail.text);
    expect(isSignedIn(await submitForm(browser, page, 'e-mail-code', { code: code.toUpperCase() }))).toBe(true);
    const again = new Browser(server.origin);
    const otherPage = await submitPassword(server, owner, again);
    expect((await submitForm(again, otherPage, 'e-mail-code', { code })).response.status).toBe(400); // that of another sign-in
    // now this browser is known
    expect(isSignedIn(await submitPassword(server, owner, browser))).toBe(true);
  });

  test('an account that does not exist gets the same answer, in the same time', async () => {
    const owner = await signUp(server.origin);
    const nobody = `nobody.${crypto.randomUUID()}@example.com`;
    for (const email of [owner.email, nobody]) await guess(server, email, 1);
    await setCeiling(server, 'password', 100);
    const timed = async (given: Credentials): Promise<{ ms: number; asks: boolean; status: number }> => {
      const browser = new Browser(server.origin);
      const form = formRequest(await browser.open('/sign-in'), given);
      const started = performance.now();
      const response = await browser.request('/sign-in', form);
      const ms = performance.now() - started;
      return { ms, asks: (await response.text()).includes('Code from the e-mail'), status: response.status };
    };
    const answers = [await timed(owner), await timed(wrong(owner.email)), await timed({ email: nobody, password: owner.password })];
    for (const { ms, asks, status } of answers) {
      expect([asks, status]).toEqual([true, 200]);
      expect(ms).toBeGreaterThan(990);
      expect(ms).toBeLessThan(1500);
    }
  });

  test('a code is accepted once, and only in the browser that began the sign-in', async () => {
    const owner = await signUp(server.origin);
    await guess(server, owner.email, 1);
    await setCeiling(server, 'password', 100);
    const browser = new Browser(server.origin);
    const page = await submitPassword(server, owner, browser);
    const code = codeIn((await lastMailTo(server.origin, owner.email)).text);
    const proof = /name="proof" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const thief = new Browser(server.origin);
    const stolen = formRequest(await thief.open('/sign-in'), { proof, code });
    expect((await thief.open('/sign-in/e-mail-code', stolen)).text).toContain('Please sign in again');
    expect(isSignedIn(await submitForm(browser, page, 'e-mail-code', { code }))).toBe(true);
    expect((await submitForm(browser, page, 'e-mail-code', { code })).response.status).toBe(400);
  });

  test('an account with an authenticator app asks for its code after the one from the e-mail', async () => {
    const { owner, totp } = await withAuthenticatorApp();
    await guess(server, owner.email, 1);
    await setCeiling(server, 'password', 100);
    const browser = new Browser(server.origin);
    const page = await submitPassword(server, owner, browser);
    const code = codeIn((await lastMailTo(server.origin, owner.email)).text);
    const second = await submitForm(browser, page, 'e-mail-code', { code });
    expect(second.text).toContain('Code from your authenticator app');
    expect(isSignedIn(await submitForm(browser, second, 'second-factor', { code: totp() }))).toBe(true);
  });

  test('a sign-in that an application has asked for goes on after the code', async () => {
    const owner = await signUp(server.origin);
    await guess(server, owner.email, 1);
    await setCeiling(server, 'password', 100);
    const browser = new Browser(server.origin);
    const signIn = await browser.open(authorizePath(authorizationRequest().query));
    const page = await browser.submit(signIn, { email: owner.email, password: owner.password });
    expect(asksForEmailCode(page)).toBe(true);
    const code = codeIn((await lastMailTo(server.origin, owner.email)).text);
    expect((await submitForm(browser, page, 'e-mail-code', { code })).url.pathname).toMatch(/^\/consent\//);
  });

  test('a browser that has signed in before is not asked', async () => {
    const owner = await signUp(server.origin);
    await guess(server, owner.email, 1);
    await setCeiling(server, 'password', 1000);
    expect(asksForEmailCode(await submitPassword(server, owner))).toBe(true);
    expect(isSignedIn(await submitPassword(server, owner, owner.browser))).toBe(true);
  });

  describe('where no e-mail can be sent', () => {
    const silent = useServer({ canMail: false });

    test('every attempt takes longer, and the owner is let in', async () => {
      const owner = { email: `ada.${crypto.randomUUID()}@example.com`, password: 'correct horse battery' };
      const passwordHash = await hashPassword(owner.password);
      await createAccount(silent.db.em.fork(), { name: 'Ada', email: owner.email, passwordHash }, new Date());
      await guess(silent, owner.email, 1);
      const timed = async (points: number): Promise<number> => {
        await setCeiling(silent, 'password', points);
        const started = performance.now();
        expect(isSignedIn(await submitPassword(silent, owner))).toBe(true);
        return performance.now() - started;
      };
      expect(await timed(50)).toBeLessThan(900);
      expect(await timed(100)).toBeGreaterThan(990);
      expect(await timed(160)).toBeGreaterThan(1990);
      expect(await timed(210)).toBeGreaterThan(3990);
    });
  });
});

async function withAuthenticatorApp(): Promise<{ owner: Person; totp: () => string }> {
  const owner = await signUp(server.origin);
  const page = await owner.browser.open('/account/authenticator-app');
  const secret = (/<p class="key"><code>([^<]+)/.exec(page.text)?.[1] ?? '').replaceAll(' ', '');
  const app = new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: 30 });
  await owner.browser.submit(page, { code: app.generate({ timestamp: Date.now() - 30_000 }) });
  return { owner, totp: () => app.generate() };
}

describe('wrong codes of an authenticator app', { timeout: 60_000 }, () => {
  const atSecondStep = async (owner: Credentials, address?: string): Promise<{ browser: Browser; page: Page }> => {
    const browser = new Browser(server.origin, address);
    return { browser, page: await submitPassword(server, owner, browser) };
  };

  test('lock out the network that knows the password, and not the owner', async () => {
    const { owner, totp } = await withAuthenticatorApp();
    const { browser, page } = await atSecondStep(owner, '198.51.100.40');
    const wrongCode = (): Promise<Page> => submitForm(browser, page, 'second-factor', { code: '000000' });
    for (let time = 0; time < 10; time += 1) expect((await wrongCode()).response.status).toBe(400);
    expect((await wrongCode()).response.status).toBe(429);
    expect((await submitForm(browser, page, 'second-factor', { code: totp() })).response.status).toBe(429);
    const own = await atSecondStep(owner, '203.0.113.40');
    expect(isSignedIn(await submitForm(own.browser, own.page, 'second-factor', { code: totp() }))).toBe(true);
  });

  test('from many networks: above the ceiling a right code must be confirmed by e-mail', async () => {
    const { owner, totp } = await withAuthenticatorApp();
    const guesser = await atSecondStep(owner);
    await submitForm(guesser.browser, guesser.page, 'second-factor', { code: '000000' });
    await setCeiling(server, 'secondFactor', 100);
    const mails = (await mailsTo(server.origin, owner.email)).length;
    const guessed = await submitForm(guesser.browser, guesser.page, 'second-factor', { code: '000000' });
    expect(asksForEmailCode(guessed)).toBe(true);
    expect(await mailsTo(server.origin, owner.email)).toHaveLength(mails);
    const own = await atSecondStep(owner);
    const page = await submitForm(own.browser, own.page, 'second-factor', { code: totp() });
    expect(asksForEmailCode(page)).toBe(true);
    const code = codeIn((await lastMailTo(server.origin, owner.email)).text);
    expect(isSignedIn(await submitForm(own.browser, page, 'e-mail-code', { code }))).toBe(true);
  });
});
