import { describe, expect, test } from 'vitest';
import { isSignedIn, signInElsewhere } from '../../support/oauth/account-pages.ts';
import { ageSessions } from '../../support/oauth/age-sessions.ts';
import { Browser, type Page } from '../../support/browser/browser.ts';
import { followMailTo, lastMailTo } from '../../support/services/mailbox.ts';
import { refresh, signIn, signUp, tokensFor, type Person } from '../../support/oauth/oauth-flow.ts';
import { apiStatus, useServer } from '../../support/server/with-server.ts';

const server = useServer();
const newBrowser = () => new Browser(server.origin);
const newPassword = 'staple battery horse correct';

const ageSession = ({ id }: Pick<Person, 'id'>, minutes: number) => ageSessions(server.db, id, minutes);

describe('a new password', () => {
  test('ends every other sign-in and every token at once; this browser stays (74)', async () => {
    const anna = await signUp(server.origin);
    const elsewhere = await signInElsewhere(server.origin, anna);
    expect(await apiStatus(server, elsewhere.tokens.access_token)).toBe(200);
    const done = await anna.browser.submit(await anna.browser.open('/account/password'), { password: newPassword });
    expect(done.text).toContain('Your password is changed');
    expect(await apiStatus(server, elsewhere.tokens.access_token)).toBe(401);
    expect((await refresh(server.origin, elsewhere.tokens.refresh_token ?? '')).status).toBe(400);
    expect(await isSignedIn(elsewhere.browser)).toBe(false);
    expect(await isSignedIn(anna.browser)).toBe(true);
    await expect(signIn(server.origin, anna)).rejects.toThrow('sign-in ended at /sign-in');
    await signIn(server.origin, { ...anna, password: newPassword });
    expect((await lastMailTo(server.origin, anna.email)).subject).toBe('Your password for Mandate was changed');
  });

  test('wants a sign-in that is not old, and leads back', async () => {
    const anna = await signUp(server.origin);
    await ageSession(anna, 11);
    const asked = await anna.browser.open('/account/password');
    expect(asked.url.pathname + asked.url.search).toBe('/sign-in?next=/account/password');
    const back = await anna.browser.submit(asked, { email: anna.email, password: anna.password });
    expect(back.url.pathname).toBe('/account/password');
    expect((await anna.browser.submit(back, { password: newPassword })).text).toContain('Your password is changed');
  });

  test.each(['https://evil.example/', '//evil.example/', '/account/../oauth/authorize', '/account/password?x=1', '/sign-out'])(
    'leads nowhere but to the account: %s',
    async (next) => {
      const anna = await signUp(server.origin);
      const browser = newBrowser();
      const page = await browser.open(`/sign-in?next=${encodeURIComponent(next)}`);
      expect((await browser.submit(page, { email: anna.email, password: anna.password, next })).url.pathname).toBe('/account');
    },
  );

  test('is held to the same rules as the first', async () => {
    const anna = await signUp(server.origin);
    const refused = await anna.browser.submit(await anna.browser.open('/account/password'), { password: 'short' });
    expect([refused.response.status, refused.text.includes('at least 12 characters')]).toEqual([400, true]);
  });
});

describe('a forgotten password', () => {
  const ask = async (email: string): Promise<Page> => {
    const browser = newBrowser();
    return browser.submit(await browser.open('/password-reset'), { email });
  };

  test('is replaced by who reads the messages; every sign-in, token and key ends (74)', async () => {
    const anna = await signUp(server.origin);
    const elsewhere = await signInElsewhere(server.origin, anna);
    const { access_token: token } = await tokensFor(server.origin, anna, ['api_keys.manage', 'users.read']);
    const made = await fetch(`${server.origin}/api/v1/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', scopes: ['users.read'] }),
    });
    const { key } = JSON.parse(await made.text());
    expect(await apiStatus(server, key)).toBe(200);
    expect((await ask(anna.email)).text).toContain('Check your e-mail');
    const browser = newBrowser();
    const done = await browser.submit(await browser.open(await followMailTo(server.origin, anna.email)), { password: newPassword });
    expect(done.text).toContain('Your password is changed');
    expect([await apiStatus(server, elsewhere.tokens.access_token), await apiStatus(server, key)]).toEqual([401, 401]);
    expect([await isSignedIn(elsewhere.browser), await isSignedIn(anna.browser), await isSignedIn(browser)]).toEqual([false, false, false]);
    await signIn(server.origin, { ...anna, password: newPassword });
  });

  test('an unknown address gets the same answer, and a message that says so', async () => {
    const anna = await signUp(server.origin);
    const nobody = `nobody.${crypto.randomUUID()}@example.com`;
    const [known, unknown] = [await ask(anna.email), await ask(nobody)];
    expect(known.text.replaceAll(anna.email, '')).toBe(unknown.text.replaceAll(nobody, ''));
    expect([known.response.status, unknown.response.status]).toEqual([200, 200]);
    expect((await lastMailTo(server.origin, nobody)).subject).toBe('There is no account at Mandate');
  });

  test('the link is good for once, and the ones before it end with it', async () => {
    const anna = await signUp(server.origin);
    await ask(anna.email);
    const first = await followMailTo(server.origin, anna.email);
    await ask(anna.email);
    const second = await followMailTo(server.origin, anna.email);
    const browser = newBrowser();
    await browser.submit(await browser.open(second), { password: newPassword });
    for (const link of [first, second]) expect((await browser.open(link)).text).toContain('This link is no longer valid');
  });

  test('the link is over after an hour', async () => {
    const anna = await signUp(server.origin);
    await ask(anna.email);
    await server.db.em.fork().execute(`update mailed_links set expires_at = now() where user_id = ?`, [anna.id]);
    expect((await newBrowser().open(await followMailTo(server.origin, anna.email))).text).toContain('This link is no longer valid');
  });

  test('a stopped account stays stopped', async () => {
    const anna = await signUp(server.origin);
    await ask(anna.email);
    await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
    const browser = newBrowser();
    const done = await browser.submit(await browser.open(await followMailTo(server.origin, anna.email)), { password: newPassword });
    expect(done.text).toContain('This link is no longer valid');
  });

  test('an account that somebody else opened gets its first password', async () => {
    const email = `made.${crypto.randomUUID()}@example.com`;
    await server.db.em.fork().execute(`insert into users (name, email) values ('Made', ?)`, [email]);
    await ask(email);
    const browser = newBrowser();
    await browser.submit(await browser.open(await followMailTo(server.origin, email)), { password: newPassword });
    expect(await isSignedIn(await signIn(server.origin, { email, password: newPassword }))).toBe(true);
  });
});
