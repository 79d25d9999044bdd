import { describe, expect, test } from 'vitest';
import { hasActiveSession, createOtherSession } from '../../support/oauth/account-pages.ts';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { readMailLink, readLastMailTo } from '../../support/services/mailbox.ts';
import { sendRefreshRequest, signIn, signUp, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';

const server = useServer();
const newBrowser = () => new HttpBrowser(server.origin);
const newPassword = 'staple battery horse correct';

const ageSessionsOf = ({ id }: Pick<TestUser, 'id'>, minutes: number) => backdateSessions(server.db, id, minutes);

describe('a password change', () => {
  test('immediately revokes every other session and every token, and keeps the current session (74)', async () => {
    const anna = await signUp(server.origin);
    const otherDevice = await createOtherSession(server.origin, anna);
    expect(await fetchApiStatus(server, otherDevice.tokens.access_token)).toBe(200);
    const done = await anna.browser.submit(await anna.browser.open('/account/password'), { password: newPassword });
    expect(done.text).toContain('Your password has been changed');
    expect(await fetchApiStatus(server, otherDevice.tokens.access_token)).toBe(401);
    expect((await sendRefreshRequest(server.origin, otherDevice.tokens.refresh_token ?? '')).status).toBe(400);
    expect(await hasActiveSession(otherDevice.browser)).toBe(false);
    expect(await hasActiveSession(anna.browser)).toBe(true);
    await expect(signIn(server.origin, anna)).rejects.toThrow('sign-in ended at /sign-in');
    await signIn(server.origin, { ...anna, password: newPassword });
    expect((await readLastMailTo(server.origin, anna.email)).subject).toBe('Your password for Mandate was changed');
  });

  test('requires a recent sign-in, which returns to the password page', async () => {
    const anna = await signUp(server.origin);
    await ageSessionsOf(anna, 11);
    const signInPage = await anna.browser.open('/account/password');
    expect(signInPage.url.pathname + signInPage.url.search).toBe('/sign-in?next=/account/password');
    const passwordPage = await anna.browser.submit(signInPage, { email: anna.email, password: anna.password });
    expect(passwordPage.url.pathname).toBe('/account/password');
    expect((await anna.browser.submit(passwordPage, { password: newPassword })).text).toContain('Your password has been changed');
  });

  test.each(['https://evil.example/', '//evil.example/', '/account/../oauth/authorize', '/account/password?x=1', '/sign-out'])(
    'redirects to the account page instead of %s',
    async (next) => {
      const anna = await signUp(server.origin);
      const browser = newBrowser();
      const page = await browser.open(`/sign-in?next=${encodeURIComponent(next)}`);
      expect((await browser.submit(page, { email: anna.email, password: anna.password, next })).url.pathname).toBe('/account');
    },
  );

  test('applies the same rules as the sign-up', async () => {
    const anna = await signUp(server.origin);
    const refused = await anna.browser.submit(await anna.browser.open('/account/password'), { password: 'short' });
    expect([refused.response.status, refused.text.includes('at least 12 characters')]).toEqual([400, true]);
  });
});

describe('a password reset', () => {
  const requestPasswordReset = async (email: string): Promise<HtmlPage> => {
    const browser = newBrowser();
    return browser.submit(await browser.open('/password-reset'), { email });
  };

  test('through the mailed link revokes every session, token and API key (74)', async () => {
    const anna = await signUp(server.origin);
    const otherDevice = await createOtherSession(server.origin, anna);
    const { access_token: token } = await obtainTokens(server.origin, anna, ['api_keys.manage', 'users.read']);
    const apiKeyCreation = await fetch(`${server.origin}/api/v1/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', scopes: ['users.read'] }),
    });
    const { key } = JSON.parse(await apiKeyCreation.text());
    expect(await fetchApiStatus(server, key)).toBe(200);
    expect((await requestPasswordReset(anna.email)).text).toContain('Check your e-mail');
    const browser = newBrowser();
    const done = await browser.submit(await browser.open(await readMailLink(server.origin, anna.email)), { password: newPassword });
    expect(done.text).toContain('Your password has been changed');
    expect([await fetchApiStatus(server, otherDevice.tokens.access_token), await fetchApiStatus(server, key)]).toEqual([401, 401]);
    expect([await hasActiveSession(otherDevice.browser), await hasActiveSession(anna.browser), await hasActiveSession(browser)]).toEqual([
      false,
      false,
      false,
    ]);
    await signIn(server.origin, { ...anna, password: newPassword });
  });

  test('for an unknown address gets the same response and an e-mail about the missing account', async () => {
    const anna = await signUp(server.origin);
    const unknownEmail = `nobody.${crypto.randomUUID()}@example.com`;
    const [known, unknown] = [await requestPasswordReset(anna.email), await requestPasswordReset(unknownEmail)];
    expect(known.text.replaceAll(anna.email, '')).toBe(unknown.text.replaceAll(unknownEmail, ''));
    expect([known.response.status, unknown.response.status]).toEqual([200, 200]);
    expect((await readLastMailTo(server.origin, unknownEmail)).subject).toBe('There is no account at Mandate with this e-mail address');
  });

  test('invalidates its link and all earlier links', async () => {
    const anna = await signUp(server.origin);
    await requestPasswordReset(anna.email);
    const first = await readMailLink(server.origin, anna.email);
    await requestPasswordReset(anna.email);
    const second = await readMailLink(server.origin, anna.email);
    const browser = newBrowser();
    await browser.submit(await browser.open(second), { password: newPassword });
    for (const link of [first, second]) expect((await browser.open(link)).text).toContain('This link is no longer valid');
  });

  test('is rejected with an expired link', async () => {
    const anna = await signUp(server.origin);
    await requestPasswordReset(anna.email);
    await server.db.em.fork().execute(`update mailed_links set expires_at = now() where user_id = ?`, [anna.id]);
    expect((await newBrowser().open(await readMailLink(server.origin, anna.email))).text).toContain('This link is no longer valid');
  });

  test('is rejected for a suspended account', async () => {
    const anna = await signUp(server.origin);
    await requestPasswordReset(anna.email);
    await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
    const browser = newBrowser();
    const done = await browser.submit(await browser.open(await readMailLink(server.origin, anna.email)), { password: newPassword });
    expect(done.text).toContain('This link is no longer valid');
  });

  test('sets the first password of an account that was created without one', async () => {
    const email = `made.${crypto.randomUUID()}@example.com`;
    await server.db.em.fork().execute(`insert into users (name, email) values ('Made', ?)`, [email]);
    await requestPasswordReset(email);
    const browser = newBrowser();
    await browser.submit(await browser.open(await readMailLink(server.origin, email)), { password: newPassword });
    expect(await hasActiveSession(await signIn(server.origin, { email, password: newPassword }))).toBe(true);
  });
});
