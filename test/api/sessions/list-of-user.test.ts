import { describe, expect, test } from 'vitest';
import { signIn, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false });
const staff = shop.staff(['users.manage']);
const admin = shop.admin(['users.administer']);

const sessionsOf = (userId: number, query = ''): Promise<ApiResponse> => staff.callApi('GET', `/api/v1/users/${userId}/sessions${query}`);

test('GET /users/{user_id}/sessions: staff see the sessions of a customer, newest first, without IP addresses', async () => {
  const anna = await signUp(shop.origin);
  await shop.db.em.fork().execute(`update browser_sessions set device = 'Firefox on Linux' where user_id = ?`, [anna.id]);
  await signIn(shop.origin, anna);
  const { status, body } = await sessionsOf(anna.id);
  expect(status).toBe(200);
  const times = { id: expect.any(String), started_at: expect.any(String), last_used_at: expect.any(String) };
  expect(body.data).toEqual([
    { ...times, device: 'Command line' },
    { ...times, device: 'Firefox on Linux' },
  ]);
  const [newest, oldest] = body.data;
  expect(Date.parse(newest.started_at)).toBeGreaterThanOrEqual(Date.parse(oldest.started_at));
  const first = await sessionsOf(anna.id, '?limit=1');
  expect(first.body).toMatchObject({ data: [newest], has_more: true });
  const second = await sessionsOf(anna.id, `?limit=1&cursor=${first.body.next_cursor}`);
  expect(second.body).toMatchObject({ data: [oldest], has_more: false, next_cursor: null });
});

test('a session that has ended is not listed', async () => {
  const anna = await signUp(shop.origin);
  const suspension = await staff.callApi('PATCH', `/api/v1/users/${anna.id}`, { body: { status: 'suspended' } });
  expect(suspension.status).toBe(200);
  expect((await sessionsOf(anna.id)).body.data).toEqual([]);
});

test('GET /users/{user_id}/api-keys: staff see the keys of a customer without the secrets', async () => {
  const anna = await shop.createAccount('customer', ['api_keys.manage', 'users.read']);
  const { body: key } = await anna.callApi('POST', '/api/v1/api-keys', { body: { name: 'Backup', scopes: ['users.read'] } });
  const { status, body, text } = await staff.callApi('GET', `/api/v1/users/${anna.id}/api-keys`);
  expect([status, body.data]).toEqual([200, [expect.objectContaining({ id: key.id, name: 'Backup', status: 'active' })]]);
  expect(text).not.toContain(key.key);
  expect(body).toEqual((await anna.callApi('GET', '/api/v1/api-keys')).body);
});

describe.each(['sessions', 'connected-apps', 'api-keys'])('GET /users/{user_id}/%s', (list) => {
  const read = (caller: typeof staff, userId: number): Promise<ApiResponse> => caller.callApi('GET', `/api/v1/users/${userId}/${list}`);

  test('only administrators with `users.administer` see those of staff', async () => {
    expect((await read(staff, staff.id)).body.code).toBe('insufficient_scope');
    expect((await read(admin, staff.id)).status).toBe(200);
    expect((await read(admin, (await signUp(shop.origin)).id)).status).toBe(200);
  });

  test('returns 404 for an unknown user', async () => {
    const { status, body } = await read(staff, 999_999);
    expect([status, body.code]).toEqual([404, 'not_found']);
  });
});
