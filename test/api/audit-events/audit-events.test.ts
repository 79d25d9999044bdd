import { describe, expect, test } from 'vitest';
import { expireRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  obtainAuthorizationCode,
  obtainClientToken,
  createConfidentialClient,
  redeemCode,
  sendRefreshRequest,
  signIn,
  signUp,
  signUpWithRole,
  obtainTokens,
} from '../../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false });
const admin = shop.admin(['audit.read']);

const path = '/api/v1/audit-events';
const list = async (query = ''): Promise<JsonBody> => (await shop.callApi('GET', path + query, { token: admin.token })).body;

test('GET /audit-events: returns action, actor, source, application and outcome', async () => {
  const anna = await signUp(shop.origin);
  await expect(signIn(shop.origin, { ...anna, password: 'not hers at all' })).rejects.toThrow('sign-in ended at /sign-in');
  const { data } = await list(`?user_id=${anna.id}`);
  expect(data.map(({ action, outcome }: JsonBody) => `${action} ${outcome}`)).toEqual([
    'session.started refused',
    'consent.granted success',
    'session.started success',
    'account.created success',
  ]);
  const [refused, consent] = data;
  expect(refused).toMatchObject({ actor_id: null, user_id: anna.id, client_id: null, ip: expect.stringMatching(/^10\./) });
  expect(consent).toMatchObject({ actor_id: anna.id, client_id: 'mandate-cli', details: { scopes: ['openid'] } });
});

describe('token reuse', () => {
  const reuses = async (userId: number) => (await list(`?user_id=${userId}&action=token.reused`)).data;
  const expectedEvent = { outcome: 'refused', actor_id: null, client_id: 'mandate-cli' };

  test('of a refresh token is recorded once, with its user', async () => {
    const anna = await signUp(shop.origin);
    const { refresh_token: first = '' } = await obtainTokens(shop.origin, anna, ['users.read']);
    expect((await sendRefreshRequest(shop.origin, first)).status).toBe(200);
    expect((await sendRefreshRequest(shop.origin, first)).status, 'a retry within the grace period').toBe(200);
    expect(await reuses(anna.id)).toEqual([]);
    await expireRefreshGrace(shop.db);
    for (let time = 0; time < 3; time += 1) expect((await sendRefreshRequest(shop.origin, first)).status).toBe(400);
    const [event, ...more] = await reuses(anna.id);
    expect(event).toMatchObject({ ...expectedEvent, user_id: anna.id, details: { grant_type: 'refresh_token' } });
    expect(event.ip).toMatch(/127\.0\.0\.1|::1/);
    expect(more).toEqual([]);
  });

  test('of an authorization code is recorded, and an invalid code is not', async () => {
    const anna = await signUp(shop.origin);
    const granted = await obtainAuthorizationCode(shop.origin, anna, { scope: 'openid users.read' });
    expect((await redeemCode(shop.origin, { ...granted, code: 'x'.repeat(43) })).status).toBe(400);
    expect((await redeemCode(shop.origin, granted)).status).toBe(200);
    expect(await reuses(anna.id)).toEqual([]);
    expect((await redeemCode(shop.origin, granted)).status).toBe(400);
    expect(await reuses(anna.id)).toMatchObject([{ ...expectedEvent, user_id: anna.id, details: { grant_type: 'authorization_code' } }]);
  });

  test('does not include the revocation of a token', async () => {
    const anna = await signUp(shop.origin);
    const { refresh_token: refreshToken = '' } = await obtainTokens(shop.origin, anna, ['users.read']);
    const body = new URLSearchParams({ client_id: 'mandate-cli', token: refreshToken });
    expect((await fetch(`${shop.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
    expect(await reuses(anna.id)).toEqual([]);
  });
});

test('returns pages, newest first, with filters', async () => {
  await signUp(shop.origin);
  const first = await list('?limit=2');
  const second = await list(`?limit=2&cursor=${first.next_cursor}`);
  const ids = [...first.data, ...second.data].map(({ id }: JsonBody) => id);
  expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
  expect(new Set(ids).size).toBe(4);
  for (const { action } of (await list('?action=account.created,consent.granted')).data) {
    expect(['account.created', 'consent.granted']).toContain(action);
  }
  expect((await list('?occurred_at_gte=2200-01-01T00:00:00Z')).data).toEqual([]);
  expect((await shop.callApi('GET', `${path}?action=lost`, { token: admin.token })).status).toBe(400);
  expect(
    (await shop.callApi('GET', `${path}?occurred_at_gte=2026-02-01T00:00:00Z&occurred_at_lt=2026-01-01T00:00:00Z`, { token: admin.token }))
      .status,
  ).toBe(400);
});

test('filters by actor and application', async () => {
  const anna = await signUp(shop.origin);
  await obtainTokens(shop.origin, anna, ['users.read']);
  const staff = await shop.createAccount('staff', ['users.manage']);
  const suspension = { body: { status: 'suspended' } };
  expect((await staff.callApi('PATCH', `/api/v1/users/${anna.id}`, suspension)).status).toBe(200);
  const actionsOf = (events: readonly JsonBody[]): string[] => events.map(({ action }) => action);
  const byAnna: readonly JsonBody[] = (await list(`?actor_id=${anna.id}`)).data;
  expect(actionsOf(byAnna)).toContain('consent.granted');
  expect(new Set(byAnna.map(({ actor_id: actorId }) => actorId))).toEqual(new Set([anna.id]));
  expect(actionsOf((await list(`?actor_id=${staff.id}&user_id=${anna.id}`)).data)).toEqual(['account.suspended']);
  expect(actionsOf((await list(`?client_id=mandate-cli&user_id=${anna.id}`)).data)).toContain('consent.granted');
  expect((await list(`?client_id=unknown&user_id=${anna.id}`)).data).toEqual([]);
  const page = await list('?client_id=mandate-cli&limit=1');
  const next = await list(`?client_id=mandate-cli&limit=1&cursor=${page.next_cursor}`);
  expect([page, next].map(({ data: [{ client_id: clientId }] }) => clientId)).toEqual(['mandate-cli', 'mandate-cli']);
  expect(next.data[0].id).toBeLessThan(page.data[0].id);
  expect((await shop.callApi('GET', `${path}?actor_id=0`, { token: admin.token })).status).toBe(400);
});

test('401 without a token, and 403 for all callers except administrators and applications', async () => {
  expect((await shop.callApi('GET', path)).status).toBe(401);
  const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
  const staffToken = (await obtainTokens(shop.origin, staff, ['orders.read', 'audit.read'])).access_token;
  expect((await shop.callApi('GET', path, { token: staffToken })).body.code).toBe('insufficient_scope');
  const formerAdmin = await signUpWithRole(shop.db, shop.origin, 'admin');
  const granted = (await obtainTokens(shop.origin, formerAdmin, ['audit.read'])).access_token;
  await shop.db.em.fork().execute(`update users set role = 'staff' where id = ?`, [formerAdmin.id]);
  expect((await shop.callApi('GET', path, { token: granted })).body.code).toBe('forbidden');
  const anna = await signUp(shop.origin);
  const customerToken = (await obtainTokens(shop.origin, anna, ['orders.read', 'audit.read'])).access_token;
  expect((await shop.callApi('GET', path, { token: customerToken })).status).toBe(403);
  const applicationToken = await obtainClientToken(shop.origin, await createConfidentialClient(shop.db, ['audit.read']), ['audit.read']);
  expect((await shop.callApi('GET', path, { token: applicationToken })).status).toBe(200);
});

describe('the database', () => {
  test.each(['update audit_events set ip = null', 'delete from audit_events', 'truncate audit_events'])('rejects: %s', async (sql) => {
    await expect(shop.db.em.fork().execute(sql)).rejects.toThrow('audit_events is only added to');
  });
});
