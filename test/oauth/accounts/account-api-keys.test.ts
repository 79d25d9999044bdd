import { describe, expect, test } from 'vitest';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { readAuditTrail, createApiKey } from '../../support/oauth/credentials.ts';
import { readLastMailTo } from '../../support/services/mailbox.ts';
import {
  obtainAuthorizationCode,
  redeemCode,
  signUp,
  signUpWithRole,
  tokenResponseSchema,
  obtainTokens,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';

const server = useServer();
const newPassword = 'staple battery horse correct';

const accessTokenForApiKeys = async (person: TestUser): Promise<string> =>
  (await obtainTokens(server.origin, person, ['api_keys.manage', 'users.read'])).access_token;

describe('the page of API keys', () => {
  test('is linked from the account page and lists each key with scopes, application, times and status', async () => {
    const anna = await signUp(server.origin);
    expect((await anna.browser.open('/account')).text).toContain('href="/account/api-keys"');
    expect((await anna.browser.open('/account/api-keys')).text).toContain('no API keys');
    const key = await createApiKey(server, await accessTokenForApiKeys(anna), 'Backup <b>');
    await fetchApiStatus(server, key.key);
    await server.db.em.fork().execute(`update api_keys set last_used_at = '2026-03-04T05:06:00Z' where id = ?`, [key.id]);
    const { text } = await anna.browser.open('/account/api-keys');
    for (const part of [
      'Backup &lt;b&gt;',
      key.prefix,
      'See your name, e-mail address and other account details, such as language and status',
      'Mandate command line',
      'Mar\u00a04,\u00a02026, 05:06\u00a0UTC',
      'Active',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/Created [^<]*2\d{3}/);
    expect(text).toMatch(/Expires [^<]*2\d{3}/);
    expect(text).not.toContain(key.key);
  });

  test('revokes only keys of the signed-in user, and records the revocation', async () => {
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    const token = await accessTokenForApiKeys(anna);
    const [kept, revoked] = [await createApiKey(server, token, 'Kept'), await createApiKey(server, token, 'Revoked')];
    await createApiKey(server, await accessTokenForApiKeys(ben), 'His');
    await submitFormContaining(ben.browser, await ben.browser.open('/account/api-keys'), 'name="key"', { key: String(revoked.id) });
    expect(await fetchApiStatus(server, revoked.key)).toBe(200);
    const page = await anna.browser.open('/account/api-keys');
    expect(page.text).toMatch(
      /<details class="confirm">\s*<summary>[^]*?>Revoke<[^]*?>Revoke Revoked<[^]*?>Cancel<[^]*?<\/summary>\s*<form method="post">/,
    );
    expect(page.text).toMatch(
      /A revoked key cannot be restored\.<\/p>\s*<button class="danger small"[^>]*>Revoke key<\/button>\s*<\/form>/,
    );
    const after = await submitFormContaining(anna.browser, page, `value="${revoked.id}"`);
    expect([await fetchApiStatus(server, kept.key), await fetchApiStatus(server, revoked.key)]).toEqual([200, 401]);
    const badges = after.text.match(/<small><span class="badge \w+">\w+/g);
    expect(badges).toEqual(['<small><span class="badge good">Active', '<small><span class="badge neutral">Revoked']);
    expect(after.text.match(/This key can:|Expires /g)).toEqual(['Expires ', 'This key can:']); // only for the active key
    expect((await readAuditTrail(server, anna.id)).at(-1)).toBe(`api_key.revoked api_key:${revoked.id}`);
    expect((await anna.browser.open('/account/api-keys?language=de')).text).toContain('<span class="badge neutral">Wurde widerrufen');
  });

  test('requires a session and a valid CSRF token', async () => {
    const anna = await signUp(server.origin);
    const key = await createApiKey(server, await accessTokenForApiKeys(anna), 'Backup');
    const body = new URLSearchParams({ csrf: 'x', key: String(key.id) });
    await anna.browser.request('/account/api-keys', { method: 'POST', body });
    expect(await fetchApiStatus(server, key.key)).toBe(200);
    const responseWithoutSession = await fetch(`${server.origin}/account/api-keys`, { redirect: 'manual' });
    expect([responseWithoutSession.status, responseWithoutSession.headers.get('location')]).toEqual([
      303,
      '/sign-in?next=/account/api-keys',
    ]);
  });
});

describe('removing an application on the account page', () => {
  async function signUpWithApiKey() {
    const anna = await signUp(server.origin);
    const first = await createApiKey(server, await accessTokenForApiKeys(anna), 'First');
    const page = await anna.browser.open('/account/apps');
    expect(page.text).toContain('the API key that the application created');
    expect(page.text).toMatch(
      /<details class="confirm">\s*<summary>[^]*?>Remove<[^]*?>Remove Mandate command line: Command line<[^]*?<\/summary>/,
    );
    expect(page.text).toMatch(/loses access to your account immediately, until[^]*<button class="danger small"[^>]*>Remove</);
    const [, app = ''] = /name="app" value="(\d+)"/.exec(page.text) ?? [];
    return { anna, first, page, app };
  }

  test('revokes the API keys that the application created', async () => {
    const { anna, first, page, app } = await signUpWithApiKey();
    await submitFormContaining(anna.browser, page, `name="app" value="${app}"`);
    expect(await fetchApiStatus(server, first.key)).toBe(401);
    expect(await readAuditTrail(server, anna.id)).toContain(`api_key.revoked api_key:${first.id}`);
  });

  test('separates the removal from all devices from the last device', async () => {
    const { anna } = await signUpWithApiKey();
    await accessTokenForApiKeys(anna);
    const { text } = await anna.browser.open('/account/apps');
    expect(text).toMatch(
      /<details class="confirm all-devices">\s*<summary>[^<]*<span class="when-closed"><span aria-hidden="true">Remove from all devices</,
    );
  });

  test('keeps only the listed API keys that the user chose to keep', async () => {
    const { anna, first, page, app } = await signUpWithApiKey();
    const laterKey = await createApiKey(server, await accessTokenForApiKeys(anna), 'Later');
    const [, keep = ''] = /name="keep_keys"\s+value="([\d,]+)"/.exec(page.text) ?? [];
    expect(keep).toBe(String(first.id));
    await submitFormContaining(anna.browser, page, `name="app" value="${app}"`, { keep_keys: keep });
    expect([await fetchApiStatus(server, first.key), await fetchApiStatus(server, laterKey.key)]).toEqual([200, 401]);
  });
});

describe('changing the password', () => {
  test('revokes all API keys when the user chooses to', async () => {
    const anna = await signUp(server.origin);
    const key = await createApiKey(server, await accessTokenForApiKeys(anna), 'Backup');
    const page = await anna.browser.open('/account/password');
    expect(page.text).toContain('Backup');
    const done = await anna.browser.submit(page, { password: newPassword, revoke_keys: 'yes' });
    expect(await fetchApiStatus(server, key.key)).toBe(401);
    expect(done.text).toContain('API key was revoked');
    expect((await readLastMailTo(server.origin, anna.email)).text).toContain('Backup');
    expect(await readAuditTrail(server, anna.id)).toContain(`api_key.revoked api_key:${key.id}`);
  });

  test('keeps API keys by default and states that they still work', async () => {
    const anna = await signUp(server.origin);
    const key = await createApiKey(server, await accessTokenForApiKeys(anna), 'Backup');
    const done = await anna.browser.submit(await anna.browser.open('/account/password'), { password: newPassword });
    expect(await fetchApiStatus(server, key.key)).toBe(200);
    expect(done.text).toContain('API key still works');
  });

  test('does not mention API keys if the user has none', async () => {
    const anna = await signUp(server.origin);
    const page = await anna.browser.open('/account/password');
    expect(page.text).not.toContain('API key');
    const done = await anna.browser.submit(page, { password: newPassword });
    expect(done.text).not.toContain('API key');
  });
});

test('deleting an application revokes the API keys it created, and disabling it suspends them', async () => {
  const administrator = await signUpWithRole(server.db, server.origin, 'admin');
  const administratorToken = (await obtainTokens(server.origin, administrator, ['applications.manage'])).access_token;
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${server.origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${administratorToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const redirectUri = 'http://127.0.0.1/callback';
  const creation = await call('POST', '/applications', {
    name: 'Key maker',
    type: 'public',
    redirect_uris: [redirectUri],
    scopes: ['api_keys.manage', 'users.read'],
    grant_types: ['authorization_code'],
  });
  const { id, client_id: clientId } = JSON.parse(await creation.text());
  const anna = await signUp(server.origin);
  const other = await createApiKey(server, await accessTokenForApiKeys(anna), 'Other');
  const token = await accessTokenFromApplication(anna, clientId, redirectUri);
  const key = await createApiKey(server, token, 'Through');
  await call('PATCH', `/applications/${id}`, { status: 'disabled' });
  expect(await fetchApiStatus(server, key.key)).toBe(401);
  await call('PATCH', `/applications/${id}`, { status: 'active' });
  expect(await fetchApiStatus(server, key.key)).toBe(200);
  expect((await call('DELETE', `/applications/${id}`)).status).toBe(204);
  expect([await fetchApiStatus(server, key.key), await fetchApiStatus(server, other.key)]).toEqual([401, 200]);
  expect((await anna.browser.open('/account/api-keys')).text).toContain(clientId);
  const rows = await server.db.em
    .fork()
    .execute(`select actor_id, user_id from audit_events where subject = ? and action = 'api_key.revoked'`, [`api_key:${key.id}`]);
  expect(rows.map(({ actor_id: actor, user_id: user }) => [Number(actor), Number(user)])).toEqual([[administrator.id, anna.id]]);
});

async function accessTokenFromApplication(person: TestUser, clientId: string, redirectUri: string): Promise<string> {
  const granted = await obtainAuthorizationCode(server.origin, person, {
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid api_keys.manage users.read',
  });
  return tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json()).access_token;
}
