import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { startMandateServer, type ApiResponse } from '../../support/server/start-mandate.ts';
import { sendRefreshRequest, signIn, signUp, signUpWithRole, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const staffUser = shop.staff(['users.manage']);
const administrator = shop.admin(['users.manage', 'users.administer']);

const patch = (id: number, body: unknown, token: string): Promise<ApiResponse> =>
  shop.callApi('PATCH', `/api/v1/users/${id}`, { token, body });
const close = (id: number, token: string): Promise<ApiResponse> => shop.callApi('DELETE', `/api/v1/users/${id}`, { token });
const createUserToken = async (person: TestUser): Promise<string> =>
  (await obtainTokens(shop.origin, person, ['users.read', 'users.write', 'orders.write'])).access_token;

describe('PATCH /users/{user_id}', () => {
  test('200: users can change their name, but not their e-mail address, role or status', async () => {
    const anna = await signUp(shop.origin);
    const token = await createUserToken(anna);
    const { status, body, headers } = await patch(anna.id, { name: 'Anna Newname' }, token);
    expect([status, body.name, body.version, headers.get('etag')]).toEqual([200, 'Anna Newname', 2, `"user-${anna.id}-2.1"`]);
    expect((await patch(anna.id, {}, token)).body).toEqual(body);
    expect((await patch(anna.id, { email: 'other@example.com' }, token)).body.code).toBe('forbidden');
    expect((await patch(anna.id, { role: 'admin' }, token)).body.code).toBe('forbidden');
    expect((await patch(anna.id, { status: 'suspended' }, token)).body.code).toBe('forbidden');
    expect((await patch((await shop.createUser()).id, { name: 'Mine' }, token)).body.code).toBe('not_found');
    expect(await readEventTypes(shop.db, 'user', anna.id)).toEqual(['user.created', 'user.updated']);
  });

  test('409: an e-mail address is unique', async () => {
    const [ben, carl] = [await shop.createUser(), await shop.createUser()];
    const { body } = await patch(ben.id, { email: carl.email.toUpperCase() }, staffUser.token);
    expect([body.code, body.errors[0].pointer]).toEqual(['email_taken', '#/email']);
  });

  test('suspension ends all sessions and access immediately, and reactivation restores the grants', async () => {
    const dora = await signUp(shop.origin);
    const tokens = await obtainTokens(shop.origin, dora, ['users.read']);
    const getCurrentUser = (): Promise<ApiResponse> => shop.callApi('GET', '/api/v1/users/me', { token: tokens.access_token });
    expect((await patch(dora.id, { status: 'suspended' }, staffUser.token)).body.status).toBe('suspended');
    expect((await getCurrentUser()).status).toBe(401);
    await expect(signIn(shop.origin, dora)).rejects.toThrow('sign-in ended at');
    expect((await dora.browser.open('/account')).url.pathname).not.toBe('/account');
    expect((await patch(dora.id, { status: 'active' }, staffUser.token)).body.status).toBe('active');
    expect((await getCurrentUser()).status).toBe(200);
    expect((await sendRefreshRequest(shop.origin, tokens.refresh_token ?? '')).status).toBe(200);
    expect(await readEventTypes(shop.db, 'user', dora.id)).toEqual(['user.created', 'user.suspended', 'user.reactivated']);
  });

  test("a name change by staff keeps the user's sessions and access", async () => {
    const finn = await signUp(shop.origin);
    const tokens = await obtainTokens(shop.origin, finn, ['users.read']);
    expect((await patch(finn.id, { name: 'Finn Newname', status: 'active' }, staffUser.token)).body.name).toBe('Finn Newname');
    expect((await shop.callApi('GET', '/api/v1/users/me', { token: tokens.access_token })).status).toBe(200);
    expect((await sendRefreshRequest(shop.origin, tokens.refresh_token ?? '')).status).toBe(200);
    expect((await finn.browser.open('/account')).url.pathname).toBe('/account');
  });

  test('only administrators can change roles and staff accounts', async () => {
    const eve = await shop.createUser();
    expect((await patch(eve.id, { role: 'staff' }, staffUser.token)).body.code).toBe('forbidden');
    expect((await patch(eve.id, { role: 'staff' }, administrator.token)).body.role).toBe('staff');
    expect((await patch(eve.id, { email: 'taken-over@example.com' }, staffUser.token)).body.code).toBe('forbidden');
    expect((await patch(eve.id, { role: 'customer' }, administrator.token)).body.role).toBe('customer');
  });
});

describe('DELETE /users/{user_id}', () => {
  test('204: anonymizes the user, revokes all access, and releases the e-mail address', async () => {
    const anna = await signUp(shop.origin);
    const tokens = await obtainTokens(shop.origin, anna, ['users.read', 'users.write']);
    expect((await close(anna.id, tokens.access_token)).status).toBe(204);
    expect((await shop.callApi('GET', '/api/v1/users/me', { token: tokens.access_token })).status).toBe(401);
    expect((await sendRefreshRequest(shop.origin, tokens.refresh_token ?? '')).status).toBe(400);
    await expect(signIn(shop.origin, anna)).rejects.toThrow('sign-in ended at');
    const seen = await shop.callApi('GET', `/api/v1/users/${anna.id}`, { token: administrator.token });
    expect(seen.body).toMatchObject({ name: 'Closed user', status: 'closed' });
    expect(seen.text).not.toContain(anna.email);
    expect((await signUp(shop.origin, { email: anna.email })).id).not.toBe(anna.id);
    expect(await readEventTypes(shop.db, 'user', anna.id)).toEqual(['user.created', 'user.closed']);
    expect((await close(anna.id, administrator.token)).body.code).toBe('invalid_transition');
  });

  test('409 while the user has an open order', async () => {
    const anna = await signUp(shop.origin);
    const token = await createUserToken(anna);
    const product = await shop.createProduct();
    await shop.callApi('POST', '/api/v1/orders', {
      token,
      body: buildOrderInput([product, 1]),
    });
    expect((await close(anna.id, token)).body.code).toBe('open_orders');
  });

  test('403 for staff, 404 for other customers, and 204 for an administrator', async () => {
    const ben = await shop.createUser();
    expect((await close(ben.id, staffUser.token)).body.code).toBe('forbidden');
    expect((await close(ben.id, await createUserToken(await signUp(shop.origin)))).body.code).toBe('not_found');
    expect((await close(ben.id, administrator.token)).status).toBe(204);
  });
});

describe('the last administrator', () => {
  test('cannot be closed, suspended or demoted', async () => {
    const singleAdminServer = await startMandateServer();
    try {
      const adminUser = await signUpWithRole(singleAdminServer.db, singleAdminServer.origin, 'admin');
      const { access_token: token } = await obtainTokens(singleAdminServer.origin, adminUser, ['users.manage', 'users.administer']);
      for (const body of [{ role: 'customer' }, { status: 'suspended' }]) {
        expect((await singleAdminServer.callApi('PATCH', `/api/v1/users/${adminUser.id}`, { token, body })).body.code).toBe(
          'last_administrator',
        );
      }
      expect((await singleAdminServer.callApi('DELETE', `/api/v1/users/${adminUser.id}`, { token })).body.code).toBe('last_administrator');
    } finally {
      await singleAdminServer.close();
    }
  });

  test.skipIf(databaseKind === 'pglite')('remains when two administrators demote each other concurrently', async () => {
    const twoAdminServer = await startMandateServer();
    try {
      for (let round = 0; round < 5; round += 1) {
        await twoAdminServer.db.em.fork().execute(`update users set role = 'customer'`);
        const admins = [
          await signUpWithRole(twoAdminServer.db, twoAdminServer.origin, 'admin'),
          await signUpWithRole(twoAdminServer.db, twoAdminServer.origin, 'admin'),
        ];
        const tokens = await Promise.all(
          admins.map(async (adminUser) => (await obtainTokens(twoAdminServer.origin, adminUser, ['users.administer'])).access_token),
        );
        const responses = await Promise.all(
          admins.map(({ id }, index) =>
            twoAdminServer.callApi('PATCH', `/api/v1/users/${id}`, { token: tokens[1 - index] ?? '', body: { role: 'staff' } }),
          ),
        );
        expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      }
    } finally {
      await twoAdminServer.close();
    }
  });
});

describe('GET /users', () => {
  test('200 for staff, with filters by e-mail address, role, status and time; 403 for customers', async () => {
    const ben = await shop.createUser();
    const list = (query: string, token = staffUser.token): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/users?${query}`, { token });
    expect((await list(`email=${ben.email.toUpperCase()}`)).body.data).toEqual([ben]);
    expect((await list('role=admin,staff&status=active&include_total=true')).body.total_count).toBe(2);
    expect((await list(`created_at_gte=${ben.created_at}&limit=1`)).body.data).toHaveLength(1);
    const first = await list('limit=1');
    expect((await list(`limit=1&cursor=${first.body.next_cursor}`)).body.data[0].id).not.toBe(first.body.data[0].id);
    expect((await list('', await createUserToken(await signUp(shop.origin)))).body.code).toBe('insufficient_scope');
    expect((await list('status=gone&rol=x')).body.errors).toHaveLength(2);
  });
});
