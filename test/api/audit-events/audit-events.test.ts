import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import {
  authorize,
  clientCredentials,
  confidentialClient,
  redeem,
  refresh,
  signIn,
  signUp,
  signUpAs,
  tokensFor,
} from '../../support/oauth/oauth-flow.ts';

let mandate: Mandate;
let token: string;
beforeAll(async () => {
  mandate = await startMandate();
  const adminUser = await signUpAs(mandate.db, mandate.origin, 'admin');
  token = (await tokensFor(mandate.origin, adminUser, ['audit.read'])).access_token;
});
afterAll(() => mandate.close());

const path = '/api/v1/audit-events';
const list = async (query = ''): Promise<Body> => (await mandate.call('GET', path + query, { token })).body;

test('GET /audit-events: returns action, actor, source, application and outcome', async () => {
  const anna = await signUp(mandate.origin);
  await expect(signIn(mandate.origin, { ...anna, password: 'not hers at all' })).rejects.toThrow('sign-in ended at /sign-in');
  const { data } = await list(`?user_id=${anna.id}`);
  expect(data.map(({ action, outcome }: Body) => `${action} ${outcome}`)).toEqual([
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
    const anna = await signUp(mandate.origin);
    const { refresh_token: first = '' } = await tokensFor(mandate.origin, anna, ['users.read']);
    expect((await refresh(mandate.origin, first)).status).toBe(200);
    expect((await refresh(mandate.origin, first)).status, 'a retry within the grace period').toBe(200);
    expect(await reuses(anna.id)).toEqual([]);
    await endRefreshGrace(mandate.db);
    for (let time = 0; time < 3; time += 1) expect((await refresh(mandate.origin, first)).status).toBe(400);
    const [event, ...more] = await reuses(anna.id);
    expect(event).toMatchObject({ ...expectedEvent, user_id: anna.id, details: { grant_type: 'refresh_token' } });
    expect(event.ip).toMatch(/127\.0\.0\.1|::1/);
    expect(more).toEqual([]);
  });

  test('of an authorization code is recorded, and an invalid code is not', async () => {
    const anna = await signUp(mandate.origin);
    const granted = await authorize(mandate.origin, anna, { scope: 'openid users.read' });
    expect((await redeem(mandate.origin, { ...granted, code: 'x'.repeat(43) })).status).toBe(400);
    expect((await redeem(mandate.origin, granted)).status).toBe(200);
    expect(await reuses(anna.id)).toEqual([]);
    expect((await redeem(mandate.origin, granted)).status).toBe(400);
    expect(await reuses(anna.id)).toMatchObject([{ ...expectedEvent, user_id: anna.id, details: { grant_type: 'authorization_code' } }]);
  });

  test('does not include the revocation of a token', async () => {
    const anna = await signUp(mandate.origin);
    const { refresh_token: refreshToken = '' } = await tokensFor(mandate.origin, anna, ['users.read']);
    const body = new URLSearchParams({ client_id: 'mandate-cli', token: refreshToken });
    expect((await fetch(`${mandate.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
    expect(await reuses(anna.id)).toEqual([]);
  });
});

test('returns pages, newest first, with filters', async () => {
  await signUp(mandate.origin);
  const first = await list('?limit=2');
  const second = await list(`?limit=2&cursor=${first.next_cursor}`);
  const ids = [...first.data, ...second.data].map(({ id }: Body) => id);
  expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
  expect(new Set(ids).size).toBe(4);
  for (const { action } of (await list('?action=account.created,consent.granted')).data) {
    expect(['account.created', 'consent.granted']).toContain(action);
  }
  expect((await list('?occurred_at_gte=2200-01-01T00:00:00Z')).data).toEqual([]);
  expect((await mandate.call('GET', `${path}?action=lost`, { token })).status).toBe(400);
  expect(
    (await mandate.call('GET', `${path}?occurred_at_gte=2026-02-01T00:00:00Z&occurred_at_lt=2026-01-01T00:00:00Z`, { token })).status,
  ).toBe(400);
});

test('401 without a token, and 403 for all callers except administrators and applications', async () => {
  expect((await mandate.call('GET', path)).status).toBe(401);
  const staff = await signUpAs(mandate.db, mandate.origin, 'staff');
  const staffToken = (await tokensFor(mandate.origin, staff, ['orders.read', 'audit.read'])).access_token;
  expect((await mandate.call('GET', path, { token: staffToken })).body.code).toBe('insufficient_scope');
  const formerAdmin = await signUpAs(mandate.db, mandate.origin, 'admin');
  const granted = (await tokensFor(mandate.origin, formerAdmin, ['audit.read'])).access_token;
  await mandate.db.em.fork().execute(`update users set role = 'staff' where id = ?`, [formerAdmin.id]);
  expect((await mandate.call('GET', path, { token: granted })).body.code).toBe('forbidden');
  const anna = await signUp(mandate.origin);
  const customerToken = (await tokensFor(mandate.origin, anna, ['orders.read', 'audit.read'])).access_token;
  expect((await mandate.call('GET', path, { token: customerToken })).status).toBe(403);
  const applicationToken = await clientCredentials(mandate.origin, await confidentialClient(mandate.db, ['audit.read']), ['audit.read']);
  expect((await mandate.call('GET', path, { token: applicationToken })).status).toBe(200);
});

describe('the database', () => {
  test.each(['update audit_events set ip = null', 'delete from audit_events', 'truncate audit_events'])('rejects: %s', async (sql) => {
    await expect(mandate.db.em.fork().execute(sql)).rejects.toThrow('audit_events is only added to');
  });
});
