import { describe, expect, test } from 'vitest';
import { ApiKeyLastUseBuffer } from '../../../server/api-keys/api-key-last-use-buffer.ts';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  sendTokenRequest,
  obtainAuthorizationCode,
  obtainClientToken,
  createConfidentialClient,
  signIn,
  signUp,
  signUpWithRole,
  tokenResponseSchema,
  obtainTokens,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { createDpopKey, createDpopProof } from '../../support/oauth/dpop-proof.ts';
import { usesTwoProcesses } from '../../support/server/process-mode.ts';

const lastUse = new ApiKeyLastUseBuffer();
const shop = withShop({ sampleData: false, ...(!usesTwoProcesses && { lastUse }) });
const anna = shop.customer(['api_keys.manage', 'users.read', 'orders.read']);

const path = '/api/v1/api-keys';
const create = (body: JsonBody = {}, callerToken = anna.token) =>
  shop.callApi('POST', path, { token: callerToken, body: { name: 'Backup', scopes: ['users.read'], ...body } });
const getCurrentUser = (key: string) => shop.callApi('GET', '/api/v1/users/me', { token: key });
const inDays = (days: number): string => new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString();

describe('POST /api-keys: 201', () => {
  test('shows the key once, stores its hash, and limits the key to its scopes', async () => {
    const { status, body, headers } = await create();
    expect([status, headers.get('location')]).toEqual([201, `${path}/${body.id}`]);
    expect(body.key).toMatch(/^mk_[A-Za-z0-9_-]{43}$/);
    expect(body).toMatchObject({ prefix: body.key.slice(0, 11), status: 'active', scopes: ['users.read'], last_used_at: null });
    const response = await getCurrentUser(body.key);
    expect([response.status, response.body.id]).toEqual([200, anna.id]);
    expect((await shop.callApi('GET', '/api/v1/orders', { token: body.key })).body.code).toBe('insufficient_scope');
    const rows = await shop.db.em.fork().execute('select k::text as row from api_keys k');
    expect(JSON.stringify(rows)).not.toContain(body.key.slice(3));
    const list = await shop.callApi('GET', path, { token: anna.token });
    expect(list.text).not.toContain(body.key);
  });

  test('records the application that created the key', async () => {
    const { body } = await create();
    expect(body.created_by_client_id).toBe('mandate-cli');
    const list = await shop.callApi('GET', path, { token: anna.token });
    expect(list.body.data.find(({ id }: JsonBody) => id === body.id).created_by_client_id).toBe('mandate-cli');
  });

  test('expires after 90 days by default', async () => {
    const { body } = await create();
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(90 * 24 * 60 * 60 * 1000);
  });
});

test('POST /api-keys: 400 for an invalid scope, name or expiry', async () => {
  for (const wrong of [
    { scopes: [] },
    { scopes: ['api_keys.manage'] },
    { scopes: ['everything'] },
    { name: '' },
    { expires_at: inDays(-1) },
    { expires_at: inDays(367) },
    { extra: 1 },
  ]) {
    expect([(await create(wrong)).status, wrong]).toEqual([400, wrong]);
  }
});

test('POST /api-keys: 403 for scopes that the token lacks, and for applications', async () => {
  expect((await create({ scopes: ['users.read', 'orders.write'] })).body).toMatchObject({
    code: 'insufficient_scope',
    detail: expect.stringContaining('orders.write'),
  });
  const adminUser = await signUpWithRole(shop.db, shop.origin, 'admin');
  const managing = (await obtainTokens(shop.origin, adminUser, ['api_keys.manage', 'orders.manage'])).access_token;
  const { body } = await create({ scopes: ['orders.manage'] }, managing);
  expect((await shop.callApi('GET', '/api/v1/payments', { token: body.key })).status).toBe(403); // the key lacks payments.read
  await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [adminUser.id]);
  const demoted = await create({ scopes: ['orders.manage'] }, managing);
  expect(demoted.status).toBe(403);
  const application = await createConfidentialClient(shop.db, ['api_keys.manage']);
  const applicationToken = await obtainClientToken(shop.origin, application, ['api_keys.manage']);
  expect((await create({}, applicationToken)).body.code).toBe('forbidden');
});

test('POST /api-keys: 409 for the fifty-first key, even with concurrent requests', async () => {
  const ben = await signUp(shop.origin);
  const callerToken = (await obtainTokens(shop.origin, ben, ['api_keys.manage', 'users.read'])).access_token;
  for (let count = 0; count < 48; count += 1) await create({}, callerToken);
  const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await create({}, callerToken)).status));
  expect(statuses.filter((status) => status === 201)).toHaveLength(2);
  expect(statuses.filter((status) => status === 409)).toHaveLength(3);
});

describe('an API key is rejected', () => {
  test('after its revocation, and a second revocation changes nothing', async () => {
    const { body } = await create();
    const revoke = () => shop.callApi('DELETE', `${path}/${body.id}`, { token: anna.token });
    expect((await revoke()).status).toBe(204);
    expect((await getCurrentUser(body.key)).body.code).toBe('revoked_token');
    expect((await revoke()).status).toBe(204);
    const list = await shop.callApi('GET', path, { token: anna.token });
    expect(list.body.data.find(({ id }: JsonBody) => id === body.id).status).toBe('revoked');
    const events = await shop.db.em.fork().execute(`select action from audit_events where subject = ? order by id`, [`api_key:${body.id}`]);
    expect(events).toEqual([{ action: 'api_key.created' }, { action: 'api_key.revoked' }]);
  });

  test('after its expiry', async () => {
    const { body } = await create();
    await shop.db.em.fork().execute(`update api_keys set expires_at = now() where id = ?`, [body.id]);
    expect((await getCurrentUser(body.key)).body.code).toBe('expired_token');
  });

  test('after the suspension of its owner', async () => {
    const ben = await signUp(shop.origin);
    const { body } = await create({}, (await obtainTokens(shop.origin, ben, ['api_keys.manage', 'users.read'])).access_token);
    await shop.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [ben.id]);
    expect((await getCurrentUser(body.key)).body.code).toBe('revoked_token');
  });

  test('if it is invented or altered', async () => {
    const { body } = await create();
    const other = body.key.endsWith('A') ? `${body.key.slice(0, -1)}B` : `${body.key.slice(0, -1)}A`;
    for (const key of [other, 'mk_', `mk_${'x'.repeat(43)}`]) expect((await getCurrentUser(key)).body.code).toBe('invalid_token');
  });

  test('in a query parameter, in another header, with the DPoP scheme, and by the authorization server', async () => {
    const { body } = await create();
    const { key } = body;
    const url = `${shop.origin}/api/v1/users/me`;
    expect((await fetch(`${url}?access_token=${key}`)).status).toBe(401);
    expect((await fetch(`${url}?api_key=${key}`)).status).toBe(401);
    expect((await fetch(url, { headers: { 'x-api-key': key } })).status).toBe(401);
    expect((await fetch(url, { headers: { authorization: `DPoP ${key}` } })).status).toBe(401);
    expect((await fetch(`${shop.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(401);
  });
});

test('an API key cannot create API keys', async () => {
  const { body } = await create({ scopes: ['users.read'] });
  expect((await create({}, body.key)).body.code).toBe('insufficient_scope');
});

test('the last use is stored by a periodic flush, not by the request', async ({ skip }) => {
  skip(usesTwoProcesses, 'needs one process: flushes the buffer of the server');
  const { body } = await create();
  const lastUsed = async (): Promise<string | null> =>
    (await shop.callApi('GET', path, { token: anna.token })).body.data.find(({ id }: JsonBody) => id === body.id).last_used_at;
  await getCurrentUser(body.key);
  expect(await lastUsed()).toBeNull();
  expect(await lastUse.flush(shop.db.em.fork())).toBeGreaterThan(0);
  expect(Date.parse((await lastUsed()) ?? '')).toBeGreaterThan(Date.now() - 60_000);
  expect(await lastUse.flush(shop.db.em.fork())).toBe(0);
});

test("GET /api-keys: returns only the caller's keys, newest first, in pages", async () => {
  const ben = await signUp(shop.origin);
  const callerToken = (await obtainTokens(shop.origin, ben, ['api_keys.manage', 'users.read'])).access_token;
  const createdIds = [];
  for (let count = 0; count < 3; count += 1) createdIds.unshift((await create({}, callerToken)).body.id);
  const first = await shop.callApi('GET', `${path}?limit=2`, { token: callerToken });
  const second = await shop.callApi('GET', `${path}?limit=2&cursor=${first.body.next_cursor}`, { token: callerToken });
  expect([...first.body.data, ...second.body.data].map(({ id }: JsonBody) => id)).toEqual(createdIds);
  expect((await shop.callApi('GET', path)).status).toBe(401);
  expect((await shop.callApi('GET', `${path}?cursor=x`, { token: callerToken })).status).toBe(400);
});

test('DELETE /api-keys/{api_key_id}: 404 for a key of another user', async () => {
  const { body } = await create();
  const ben = await signUp(shop.origin);
  const callerToken = (await obtainTokens(shop.origin, ben, ['api_keys.manage'])).access_token;
  expect((await shop.callApi('DELETE', `${path}/${body.id}`, { token: callerToken })).status).toBe(404);
  expect((await getCurrentUser(body.key)).status).toBe(200);
});

describe('POST /api-keys: 401 when the sign-in is older than 15 minutes', () => {
  const scope = 'openid api_keys.manage users.read';

  test('for a bearer token, with the maximum age in the challenge', async () => {
    const ben = await signUp(shop.origin);
    await backdateSessions(shop.db, ben.id, 16);
    const { status, body, headers } = await create(
      {},
      (await obtainTokens(shop.origin, ben, ['api_keys.manage', 'users.read'])).access_token,
    );
    expect([status, body.code]).toEqual([401, 'insufficient_user_authentication']);
    expect(headers.get('www-authenticate')).toContain('max_age="900"');
  });

  test('for a sender-constrained token, until the user has signed in again', async () => {
    const ben = await signUp(shop.origin);
    const key = await createDpopKey();
    const tokenUrl = `${shop.origin}/oauth/token`;
    const boundToken = async (person: Pick<TestUser, 'browser'>): Promise<string> => {
      const { code, verifier, redirectUri, clientId } = await obtainAuthorizationCode(shop.origin, person, { scope });
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
      const response = await sendTokenRequest(shop.origin, form, {
        dpop: await createDpopProof(key, { method: 'POST', url: tokenUrl }),
      });
      return tokenResponseSchema.parse(await response.json()).access_token;
    };
    const createWith = async (bound: string): Promise<Response> => {
      const url = `${shop.origin}${path}`;
      const dpop = await createDpopProof(key, { method: 'POST', url, token: bound });
      const headers = { authorization: `DPoP ${bound}`, dpop, 'content-type': 'application/json' };
      return fetch(url, { method: 'POST', headers, body: JSON.stringify({ name: 'Backup', scopes: ['users.read'] }) });
    };
    await backdateSessions(shop.db, ben.id, 16);
    const refused = await createWith(await boundToken(ben));
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toMatch(/^DPoP .*error="insufficient_user_authentication".*max_age="900"/);
    expect(await shop.db.em.fork().execute('select id from api_keys where user_id = ?', [ben.id])).toEqual([]);
    const browser = await signIn(shop.origin, ben);
    expect((await createWith(await boundToken({ browser }))).status).toBe(201);
  });
});
