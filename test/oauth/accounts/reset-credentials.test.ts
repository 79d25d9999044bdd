import { describe, expect, test } from 'vitest';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import {
  addAuthenticatorApp,
  readAuditTrail,
  createApiKey,
  insertPasskey,
  requestsSecondFactor,
  readPasskeyIds,
  generateTotpCode,
} from '../../support/oauth/credentials.ts';
import { databaseKind } from '../../support/services/database.ts';
import { readMailLink, readLastMailTo } from '../../support/services/mailbox.ts';
import { signIn, signUp, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';

const server = useServer();
const newPassword = 'staple battery horse correct';

/** Opens the link in the password reset e-mail in a browser without a session. Returns the page for the new password. */
async function openReset({ email }: Pick<TestUser, 'email'>): Promise<{ browser: HttpBrowser; page: HtmlPage }> {
  const browser = new HttpBrowser(server.origin);
  await browser.submit(await browser.open('/password-reset'), { email });
  return { browser, page: await browser.open(await readMailLink(server.origin, email)) };
}

async function signInWithNewPassword({ email }: TestUser): Promise<HtmlPage> {
  const browser = new HttpBrowser(server.origin);
  return browser.submit(await browser.open('/sign-in'), { email, password: newPassword });
}

const accessTokenForApiKeys = async (person: TestUser): Promise<string> =>
  (await obtainTokens(server.origin, person, ['api_keys.manage', 'users.read'])).access_token;

/** Returns the value of the "Keep" checkbox whose label contains `name`. */
function keepValue(page: HtmlPage, name: string): string {
  const boxes = [...page.text.matchAll(/<label[^]*?<\/label>/g)].map(([label]) => label);
  const box = boxes.find((label) => label.includes('name="keep"') && label.includes(name));
  if (box === undefined) throw new Error(`no checkbox for ${name}`);
  expect(box).not.toContain('checked');
  return /value="([^"]*)"/.exec(box)?.[1] ?? '';
}

describe('a password reset', () => {
  test('lists passkeys and API keys, and removes credentials that the user does not keep', async () => {
    const anna = await signUp(server.origin);
    const phone = await insertPasskey(server, anna.id, 'Telephone');
    const intruder = await insertPasskey(server, anna.id, 'Unknown device');
    const token = await accessTokenForApiKeys(anna);
    const [backup, report] = [await createApiKey(server, token, 'Backup'), await createApiKey(server, token, 'Report')];
    const { browser, page } = await openReset(anna);
    for (const name of ['Telephone', 'Unknown device', 'Backup', 'Report', backup.prefix]) expect(page.text).toContain(name);
    const done = await browser.submit(page, {
      password: newPassword,
      keep: [keepValue(page, 'Telephone'), keepValue(page, 'Backup')],
    });
    expect(done.response.status).toBe(200);
    expect(await readPasskeyIds(server, anna.id)).toEqual([phone]);
    expect([await fetchApiStatus(server, backup.key), await fetchApiStatus(server, report.key)]).toEqual([200, 401]);
    const [, removed = '', kept = ''] = /Removed([^]*)Kept([^]*)/.exec(done.text) ?? [];
    expect([removed.includes('Unknown device'), removed.includes('Report'), removed.includes('Telephone')]).toEqual([true, true, false]);
    expect([kept.includes('Telephone'), kept.includes('Backup'), kept.includes('Report')]).toEqual([true, true, false]);
    expect(done.text).toContain('You have been signed out everywhere');
    const mail = await readLastMailTo(server.origin, anna.email);
    expect(mail.text).toMatch(/Removed:[^]*Unknown device[^]*Report[^]*Kept:[^]*Telephone[^]*Backup/);
    const trail = await readAuditTrail(server, anna.id);
    expect(trail.slice(-3)).toEqual([`passkey.removed passkey:${intruder}`, `api_key.revoked api_key:${report.id}`, 'password.reset']);
  });

  test('removes all credentials, and lists them as removed, when the user keeps none', async () => {
    const anna = await signUp(server.origin);
    await insertPasskey(server, anna.id, 'Telephone');
    const { key } = await createApiKey(server, await accessTokenForApiKeys(anna), 'Backup');
    const { browser, page } = await openReset(anna);
    const done = await browser.submit(page, { password: newPassword });
    expect([await readPasskeyIds(server, anna.id), await fetchApiStatus(server, key)]).toEqual([[], 401]);
    expect([done.text.includes('Removed'), done.text.includes('Kept')]).toEqual([true, false]);
    expect((await readLastMailTo(server.origin, anna.email)).text).not.toContain('Kept:');
  });

  test('removes credentials that were added after the page was shown', async () => {
    const anna = await signUp(server.origin);
    const phone = await insertPasskey(server, anna.id, 'Telephone');
    const token = await accessTokenForApiKeys(anna);
    const { browser, page } = await openReset(anna);
    await insertPasskey(server, anna.id, 'Added later');
    const { key } = await createApiKey(server, token, 'Added later');
    const done = await browser.submit(page, { password: newPassword, keep: keepValue(page, 'Telephone') });
    expect([await readPasskeyIds(server, anna.id), await fetchApiStatus(server, key)]).toEqual([[phone], 401]);
    expect(done.text).toContain('Added later');
  });

  test('shows no credentials without the token from the link', async () => {
    const anna = await signUp(server.origin);
    await insertPasskey(server, anna.id, 'Telephone');
    const { browser, page } = await openReset(anna);
    for (const token of ['x', '', `${page.url.searchParams.get('token')}x`]) {
      const refused = await browser.open(`/password-reset/confirm?token=${token}`);
      expect([refused.response.status, refused.text.includes('Telephone')]).toEqual([400, false]);
    }
  });

  test('keeps and removes credentials of the same account only', async () => {
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    const [passkeyOfAnna, passkeyOfBen] = [
      await insertPasskey(server, anna.id, 'Telephone'),
      await insertPasskey(server, ben.id, 'Laptop'),
    ];
    const keyOfBen = await createApiKey(server, await accessTokenForApiKeys(ben), 'Backup');
    const { browser, page } = await openReset(anna);
    const done = await browser.submit(page, {
      password: newPassword,
      keep: [`passkey:${passkeyOfBen}`, `api_key:${keyOfBen.id}`, 'passkey:x', `passkey:${'9'.repeat(30)}`],
    });
    expect([done.text.includes('Laptop'), done.text.includes('Backup')]).toEqual([false, false]);
    expect([await readPasskeyIds(server, anna.id), await readPasskeyIds(server, ben.id)]).toEqual([[], [passkeyOfBen]]);
    expect(passkeyOfAnna).not.toBe(passkeyOfBen);
    expect(await fetchApiStatus(server, keyOfBen.key)).toBe(200);
  });

  test('preserves the selected credentials when the password is rejected', async () => {
    const anna = await signUp(server.origin);
    const phone = await insertPasskey(server, anna.id, 'Telephone');
    const { browser, page } = await openReset(anna);
    const keep = { keep: keepValue(page, 'Telephone') };
    const refused = await browser.submit(page, { password: 'short', ...keep });
    expect([refused.response.status, await readPasskeyIds(server, anna.id)]).toEqual([400, [phone]]);
    expect(refused.text).toMatch(new RegExp(`name="keep"\\s+value="passkey:${phone}"\\s+checked`));
  });

  test('sends a message in which no credential name becomes a link', async () => {
    const anna = await signUp(server.origin);
    await insertPasskey(server, anna.id, 'See https://evil.example/x');
    const { browser, page } = await openReset(anna);
    await browser.submit(page, { password: newPassword });
    const { text, html } = await readLastMailTo(server.origin, anna.email);
    expect([text.includes('evil.example'), html.includes('evil.example')]).toEqual([false, false]);
    expect([...text.matchAll(/https?:\S+/g)].map(([link]) => new URL(link).origin)).toEqual([server.origin]);
  });
});

/** Adds an authenticator app and moves its creation time 15 days into the past. */
async function addEstablishedApp({ browser, id }: TestUser): ReturnType<typeof addAuthenticatorApp> {
  const app = await addAuthenticatorApp(browser);
  await server.db.em.fork().execute(`update authenticator_apps set added_at = added_at - interval '15 days' where user_id = ?`, [id]);
  return app;
}

describe('a password reset of an account with an authenticator app', () => {
  test('removes an app without a code if it was added during the last 14 days, possibly by an intruder', async () => {
    const anna = await signUp(server.origin);
    await addAuthenticatorApp(anna.browser);
    const { browser, page } = await openReset(anna);
    const done = await browser.submit(page, { password: newPassword });
    expect(done.text).toMatch(/Removed[^]*Authenticator app/);
    expect((await signInWithNewPassword(anna)).url.pathname).toBe('/account');
    expect((await readLastMailTo(server.origin, anna.email)).text).toMatch(/Removed:[^]*Authenticator app/);
  });

  test('without a code is rejected unless the user keeps the app', async () => {
    const anna = await signUp(server.origin);
    await addEstablishedApp(anna);
    const { browser, page } = await openReset(anna);
    expect(page.text).toContain('Authenticator app');
    for (const code of ['', '000000']) {
      const refused = await browser.submit(page, { password: newPassword, code });
      expect(refused.response.status).toBe(400);
    }
    expect((await signInWithNewPassword(anna)).url.pathname).toBe('/sign-in');
    const kept = await browser.submit(page, { password: newPassword, keep: keepValue(page, 'Authenticator app') });
    expect(kept.response.status).toBe(200);
    expect(requestsSecondFactor(await signInWithNewPassword(anna))).toBe(true);
    expect((await readLastMailTo(server.origin, anna.email)).text).toMatch(/Kept:[^]*Authenticator app/);
  });

  test.each(['app', 'recovery code'])('removes the app when the user enters a valid code: %s', async (kind) => {
    const anna = await signUp(server.origin);
    const { secret, recoveryCodes } = await addEstablishedApp(anna);
    const { browser, page } = await openReset(anna);
    const code = kind === 'app' ? generateTotpCode(secret) : (recoveryCodes[0] ?? '');
    const done = await browser.submit(page, { password: newPassword, code });
    expect(done.text).toMatch(/Removed[^]*Authenticator app/);
    expect((await signInWithNewPassword(anna)).url.pathname).toBe('/account');
    const em = server.db.em.fork();
    expect(await em.execute('select 1 from recovery_codes where user_id = ?', [anna.id])).toEqual([]);
    const used = kind === 'app' ? [] : ['recovery_code.used'];
    const expected = [...used, 'authenticator_app.removed', 'password.reset', 'session.started'];
    expect((await readAuditTrail(server, anna.id)).slice(-expected.length)).toEqual(expected);
  });

  test('invalidates a pending sign-in with the old password that waits for the second factor', async () => {
    const anna = await signUp(server.origin);
    const { recoveryCodes } = await addEstablishedApp(anna);
    const intruder = new HttpBrowser(server.origin);
    const step = await intruder.submit(await intruder.open('/sign-in'), { email: anna.email, password: anna.password });
    expect(requestsSecondFactor(step)).toBe(true);
    const { browser, page } = await openReset(anna);
    await browser.submit(page, { password: newPassword, keep: keepValue(page, 'Authenticator app') });
    const codePage = { ...step, url: new URL('/sign-in/second-factor', server.origin) };
    const refused = await intruder.submit(codePage, { code: recoveryCodes[0] ?? '' });
    expect([refused.response.status, (await intruder.open('/account')).url.pathname]).toEqual([400, '/sign-in']);
  });

  test('does not keep an app that replaced the listed app', async () => {
    const anna = await signUp(server.origin);
    await addEstablishedApp(anna);
    const { browser, page } = await openReset(anna);
    const keep = keepValue(page, 'Authenticator app');
    await server.db.em
      .fork()
      .execute(`update authenticator_apps set added_at = added_at + interval '1 second' where user_id = ?`, [anna.id]);
    const refused = await browser.submit(page, { password: newPassword, keep });
    expect(refused.response.status).toBe(400);
    expect((await signInWithNewPassword(anna)).url.pathname).toBe('/sign-in');
  });

  test('counts wrong codes against the same limit as wrong codes at sign-in', async () => {
    const anna = await signUp(server.origin);
    const { secret } = await addEstablishedApp(anna);
    const { browser, page } = await openReset(anna);
    for (let at = 0; at < 10; at += 1) await browser.submit(page, { password: newPassword, code: '000000' });
    expect((await browser.submit(page, { password: newPassword, code: generateTotpCode(secret) })).response.status).toBe(429);
    expect((await signInWithNewPassword(anna)).url.pathname).toBe('/sign-in');
  });
});

// The embedded database runs one transaction at a time.
describe.skipIf(databaseKind === 'pglite')('during a password reset', () => {
  test('a concurrently created API key does not survive the reset', async () => {
    for (let round = 0; round < 8; round += 1) {
      const anna = await signUp(server.origin);
      const token = await accessTokenForApiKeys(anna);
      const { browser, page } = await openReset(anna);
      const [done] = await Promise.all([
        browser.submit(page, { password: newPassword }),
        ...Array.from({ length: 6 }, () => createApiKey(server, token, 'Intruder').catch(() => undefined)),
      ]);
      const em = server.db.em.fork();
      const keys = await em.execute('select id from api_keys where user_id = ? and revoked_at is null', [anna.id]);
      expect([done.response.status, keys]).toEqual([200, []]);
    }
    expect(server.warnings).toEqual([]);
  });

  test('a concurrently mailed link for another e-mail address does not survive the reset', async () => {
    for (let round = 0; round < 8; round += 1) {
      const anna = await signUp(server.origin);
      const intruder = await signIn(server.origin, anna);
      const change = await intruder.open('/account/email');
      const { browser, page } = await openReset(anna);
      const [done] = await Promise.all([
        browser.submit(page, { password: newPassword }),
        ...Array.from({ length: 4 }, (_, at) => intruder.submit(change, { email: `intruder.${anna.id}.${at}@example.com` })),
      ]);
      const links = await server.db.em.fork().execute('select 1 from mailed_links where user_id = ?', [anna.id]);
      expect([done.response.status, links]).toEqual([200, []]);
    }
    expect(server.warnings).toEqual([]);
  });

  test('a concurrently added authenticator app or session does not survive the reset', async () => {
    for (let round = 0; round < 8; round += 1) {
      const anna = await signUp(server.origin);
      const intruder = await signIn(server.origin, anna);
      const setUp = await intruder.open('/account/authenticator-app');
      const secret = (/<p class="key"><code>([^<]+)/.exec(setUp.text)?.[1] ?? '').replaceAll(' ', '');
      const { browser, page } = await openReset(anna);
      const [done] = await Promise.all([
        browser.submit(page, { password: newPassword }),
        intruder.submit(setUp, { code: generateTotpCode(secret) }),
      ]);
      const em = server.db.em.fork();
      const apps = await em.execute('select 1 from authenticator_apps where user_id = ?', [anna.id]);
      const sessions = await em.execute(`select 1 from oauth_records where model = 'Session' and account_id = ?`, [String(anna.id)]);
      expect([done.response.status, apps.length, sessions.length]).toEqual([200, 0, 0]);
    }
    expect(server.warnings).toEqual([]);
  });
});
