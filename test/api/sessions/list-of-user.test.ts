import { expect, test } from 'vitest';
import { signIn, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false });
const staff = shop.staff(['users.manage']);
const admin = shop.admin(['users.administer']);

const sessionsOf = (userId: number, query = '', caller = staff): Promise<ApiResponse> =>
  caller.callApi('GET', `/api/v1/users/${userId}/sessions${query}`);

test('GET /users/{user_id}/sessions: staff see the sessions of a customer, newest first, without IP addresses', async () => {
  const anna = await signUp(shop.origin);
  await shop.db.em.fork().execute(`update browser_sessions set device = 'Firefox on Linux' where user_id = ?`, [anna.id]);
  await signIn(shop.origin, anna);
  const { status, body } = await sessionsOf(anna.id);
  expect(status).toBe(200);
  const times = { id: expect.any(String), started_at: expect.any(String), last_used_at: expect.any(String) };
  expect(body.data).toEqual([
    { ...times, device: null },
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

test('only administrators with `users.administer` see the sessions and connected applications of staff', async () => {
  const apps = (caller: typeof staff) => caller.callApi('GET', `/api/v1/users/${staff.id}/connected-apps`);
  expect([(await sessionsOf(staff.id)).body.code, (await apps(staff)).body.code]).toEqual(['insufficient_scope', 'insufficient_scope']);
  expect([(await sessionsOf(staff.id, '', admin)).status, (await apps(admin)).status]).toEqual([200, 200]);
  const anna = await signUp(shop.origin);
  expect((await sessionsOf(anna.id, '', admin)).status).toBe(200);
});

test('returns 404 for an unknown user', async () => {
  const { status, body } = await sessionsOf(999_999);
  expect([status, body.code]).toEqual([404, 'not_found']);
});
