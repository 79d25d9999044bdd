import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { eventsOf } from '../../support/events.ts';
import { startMandate, type Answer, type Mandate } from '../../support/server/start-mandate.ts';
import { refresh, signIn, signUp, signUpAs, tokensFor, type Person } from '../../support/oauth/oauth-flow.ts';
import { openShop, pickup, type Shop } from '../../support/server/shop.ts';

let mandate: Mandate;
let shop: Shop;
let staff: string;
let admin: string;

beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
  staff = (await tokensFor(mandate.origin, await signUpAs(mandate.db, mandate.origin, 'staff'), ['users.manage'])).access_token;
  admin = (await tokensFor(mandate.origin, await signUpAs(mandate.db, mandate.origin, 'admin'), ['users.manage', 'users.administer']))
    .access_token;
});
afterAll(() => mandate.close());

const patch = (id: number, body: unknown, token: string): Promise<Answer> => mandate.call('PATCH', `/api/v1/users/${id}`, { token, body });
const close = (id: number, token: string): Promise<Answer> => mandate.call('DELETE', `/api/v1/users/${id}`, { token });
const asThemselves = async (person: Person): Promise<string> =>
  (await tokensFor(mandate.origin, person, ['users.read', 'users.write', 'orders.write'])).access_token;

describe('PATCH /users/{user_id}', () => {
  test('200: people change their own name, and nothing else: an address has to be proven first', async () => {
    const anna = await signUp(mandate.origin);
    const token = await asThemselves(anna);
    const { status, body, headers } = await patch(anna.id, { name: 'Anna Newname' }, token);
    expect([status, body.name, body.version, headers.get('etag')]).toEqual([200, 'Anna Newname', 2, `"user-${anna.id}-2.1"`]);
    expect((await patch(anna.id, {}, token)).body).toEqual(body);
    expect((await patch(anna.id, { email: 'other@example.com' }, token)).body.code).toBe('forbidden');
    expect((await patch(anna.id, { role: 'admin' }, token)).body.code).toBe('forbidden');
    expect((await patch(anna.id, { status: 'suspended' }, token)).body.code).toBe('forbidden');
    expect((await patch((await shop.user()).id, { name: 'Mine' }, token)).body.code).toBe('not_found');
    expect(await eventsOf(mandate.db, 'user', anna.id)).toEqual(['user.created', 'user.updated']);
  });

  test('409: an address is given once', async () => {
    const [ben, carl] = [await shop.user(), await shop.user()];
    const { body } = await patch(ben.id, { email: carl.email.toUpperCase() }, staff);
    expect([body.code, body.errors[0].pointer]).toEqual(['email_taken', '#/email']);
  });

  test('suspending signs out everywhere and stops every application at once; the grants come back with the person', async () => {
    const dora = await signUp(mandate.origin);
    const tokens = await tokensFor(mandate.origin, dora, ['users.read']);
    const me = (): Promise<Answer> => mandate.call('GET', '/api/v1/users/me', { token: tokens.access_token });
    expect((await patch(dora.id, { status: 'suspended' }, staff)).body.status).toBe('suspended');
    expect((await me()).status).toBe(401);
    await expect(signIn(mandate.origin, dora)).rejects.toThrow('sign-in ended at');
    expect((await dora.browser.open('/account')).url.pathname).not.toBe('/account');
    expect((await patch(dora.id, { status: 'active' }, staff)).body.status).toBe('active');
    expect((await me()).status).toBe(200);
    expect((await refresh(mandate.origin, tokens.refresh_token ?? '')).status).toBe(200);
    expect(await eventsOf(mandate.db, 'user', dora.id)).toEqual(['user.created', 'user.suspended', 'user.reactivated']);
  });

  test('roles are for administrators, and so are members of staff', async () => {
    const eve = await shop.user();
    expect((await patch(eve.id, { role: 'staff' }, staff)).body.code).toBe('forbidden');
    expect((await patch(eve.id, { role: 'staff' }, admin)).body.role).toBe('staff');
    expect((await patch(eve.id, { email: 'taken-over@example.com' }, staff)).body.code).toBe('forbidden');
    expect((await patch(eve.id, { role: 'customer' }, admin)).body.role).toBe('customer');
  });
});

describe('DELETE /users/{user_id}', () => {
  test('204: forgets who it was, ends every access, frees the address, keeps the orders', async () => {
    const anna = await signUp(mandate.origin);
    const tokens = await tokensFor(mandate.origin, anna, ['users.read', 'users.write']);
    expect((await close(anna.id, tokens.access_token)).status).toBe(204);
    expect((await mandate.call('GET', '/api/v1/users/me', { token: tokens.access_token })).status).toBe(401);
    expect((await refresh(mandate.origin, tokens.refresh_token ?? '')).status).toBe(400);
    await expect(signIn(mandate.origin, anna)).rejects.toThrow('sign-in ended at');
    const seen = await mandate.call('GET', `/api/v1/users/${anna.id}`, { token: admin });
    expect(seen.body).toMatchObject({ name: 'Closed user', status: 'closed' });
    expect(seen.text).not.toContain(anna.email);
    expect((await signUp(mandate.origin, { email: anna.email })).id).not.toBe(anna.id);
    expect(await eventsOf(mandate.db, 'user', anna.id)).toEqual(['user.created', 'user.closed']);
    expect((await close(anna.id, admin)).body.code).toBe('invalid_transition');
  });

  test('409 while an order is open', async () => {
    const anna = await signUp(mandate.origin);
    const token = await asThemselves(anna);
    const product = await shop.product();
    await mandate.call('POST', '/api/v1/orders', { token, body: { items: [{ product_id: product.id, quantity: 1 }], delivery: pickup } });
    expect((await close(anna.id, token)).body.code).toBe('open_orders');
  });

  test('403 for staff, 404 for others, and an administrator may', async () => {
    const ben = await shop.user();
    expect((await close(ben.id, staff)).body.code).toBe('forbidden');
    expect((await close(ben.id, await asThemselves(await signUp(mandate.origin)))).body.code).toBe('not_found');
    expect((await close(ben.id, admin)).status).toBe(204);
  });
});

describe('the last administrator', () => {
  test('can neither leave, nor be suspended, nor become something else', async () => {
    const alone = await startMandate();
    try {
      const boss = await signUpAs(alone.db, alone.origin, 'admin');
      const { access_token: token } = await tokensFor(alone.origin, boss, ['users.manage', 'users.administer']);
      for (const body of [{ role: 'customer' }, { status: 'suspended' }]) {
        expect((await alone.call('PATCH', `/api/v1/users/${boss.id}`, { token, body })).body.code).toBe('last_administrator');
      }
      expect((await alone.call('DELETE', `/api/v1/users/${boss.id}`, { token })).body.code).toBe('last_administrator');
    } finally {
      await alone.close();
    }
  });

  test.skipIf(databaseKind === 'pglite')('of two who remove each other at once one stays', async () => {
    const two = await startMandate();
    try {
      for (let round = 0; round < 5; round += 1) {
        await two.db.em.fork().execute(`update users set role = 'customer'`);
        const bosses = [await signUpAs(two.db, two.origin, 'admin'), await signUpAs(two.db, two.origin, 'admin')];
        const tokens = await Promise.all(
          bosses.map(async (boss) => (await tokensFor(two.origin, boss, ['users.administer'])).access_token),
        );
        const answers = await Promise.all(
          bosses.map(({ id }, index) =>
            two.call('PATCH', `/api/v1/users/${id}`, { token: tokens[1 - index] ?? '', body: { role: 'staff' } }),
          ),
        );
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      }
    } finally {
      await two.close();
    }
  });
});

describe('GET /users', () => {
  test('200 for staff: by address, role, status and time; 403 for others', async () => {
    const ben = await shop.user();
    const list = (query: string, token = staff): Promise<Answer> => mandate.call('GET', `/api/v1/users?${query}`, { token });
    expect((await list(`email=${ben.email.toUpperCase()}`)).body.data).toEqual([ben]);
    expect((await list('role=admin,staff&status=active&include_total=true')).body.total_count).toBe(2);
    expect((await list(`created_at_gte=${ben.created_at}&limit=1`)).body.data).toHaveLength(1);
    const first = await list('limit=1');
    expect((await list(`limit=1&cursor=${first.body.next_cursor}`)).body.data[0].id).not.toBe(first.body.data[0].id);
    expect((await list('', await asThemselves(await signUp(mandate.origin)))).body.code).toBe('insufficient_scope');
    expect((await list('status=gone&rol=x')).body.errors).toHaveLength(2);
  });
});
