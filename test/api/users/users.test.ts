import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['users.read']);

const get = (path: string, as = anna.token): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/users/${path}`, { token: as });
const create = (body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('POST', '/api/v1/users', { token: shop.token, body, headers });

describe('GET /users/me and /users/{user_id}', () => {
  test('200: returns the user of the token', async () => {
    const me = await get('me');
    expect(me.body).toMatchObject({ id: anna.id, name: anna.name, email: anna.email, status: 'active', role: 'customer' });
    expect((await get(String(anna.id))).body).toEqual(me.body);
  });

  test('404 for other users and unknown ids alike, unless the caller is staff with users.manage', async () => {
    const ben = await shop.createUser();
    expect([(await get(String(ben.id))).body.code, (await get('999999')).body.code]).toEqual(['not_found', 'not_found']);
    expect((await get(String(ben.id), shop.token)).body).toEqual(ben);
    const staffTokens = await shop.createAccount('staff', ['users.manage']);
    expect((await get(String(ben.id), staffTokens.token)).body).toEqual(ben);
    const tokensWithoutManage = await shop.createAccount('staff', ['users.read']);
    expect((await get(String(ben.id), tokensWithoutManage.token)).status).toBe(404);
  });

  test('403 for an application that acts for itself, and for a token without the scope', async () => {
    expect((await get('me', shop.token)).body.code).toBe('forbidden');
    const { access_token } = await obtainTokens(shop.origin, anna, ['orders.read']);
    expect((await get('me', access_token)).body.code).toBe('insufficient_scope');
    expect((await get(String(anna.id), access_token)).body.code).toBe('insufficient_scope');
  });

  test('401 immediately after a suspension, and 400 for an invalid id', async () => {
    const carl = await signUp(shop.origin);
    const { access_token } = await obtainTokens(shop.origin, carl, ['users.read']);
    expect((await get('me', access_token)).status).toBe(200);
    await shop.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [carl.id]);
    expect((await get('me', access_token)).status).toBe(401);
    expect((await get('ME')).body.errors[0].parameter).toBe('user_id');
  });
});

describe('POST /users', () => {
  test('201: trims the name, keeps the spelling, and returns the same bytes for a repeated key', async () => {
    const body = { name: '  Zoë O’Neil ', email: 'Zoe.ONeil@Example.com', locale: 'de-AT' };
    const [first, again] = [await create(body, { 'idempotency-key': 'zoe' }), await create(body, { 'idempotency-key': 'zoe' })];
    expect(first.body).toMatchObject({
      name: 'Zoë O’Neil',
      email: 'Zoe.ONeil@Example.com',
      status: 'active',
      role: 'customer',
      locale: 'de-AT',
      version: 1,
    });
    expect([first.status, first.headers.get('location')]).toEqual([201, `/api/v1/users/${first.body.id}`]);
    expect(again.text).toBe(first.text);
  });

  test('409: an e-mail address is unique regardless of case, until its account is closed', async () => {
    const { body } = await create({ name: 'A', email: 'dora@example.com' });
    const taken = await create({ name: 'B', email: 'DORA@example.com' });
    expect([taken.status, taken.body.code, taken.body.errors]).toMatchObject([
      409,
      'email_taken',
      [{ pointer: '#/email', code: 'not_unique' }],
    ]);
    await shop.db.em.fork().execute(`update users set status = 'closed' where id = ?`, [body.id]);
    expect((await create({ name: 'B', email: 'dora@example.com' })).status).toBe(201);
  });

  test.each([
    '',
    'a',
    'a@b',
    'a@b.c, d@e.f',
    'a b@c.de',
    '"a"@c.de',
    'a@[127.0.0.1]',
    'a@c.de\r\nBcc: x@y.zz',
    `${'x'.repeat(250)}@c.de`,
    'a@@c.de',
    null,
    7,
  ])('400: %j is not an e-mail address', async (email) => {
    const { status, body } = await create({ name: 'A', email });
    expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', '#/email']);
    expect(body.errors.map(({ detail }: JsonBody) => detail)).toEqual([...new Set(body.errors.map(({ detail }: JsonBody) => detail))]);
  });

  test('400: the message for a limit of 1 is in the singular', async () => {
    const { body } = await create({ name: '', email: 'one@example.com' });
    expect(body.errors[0].detail).toBe('Must have at least 1 character.');
  });

  test('400: a name needs visible characters and no control characters', async () => {
    for (const name of ['', '   ', 'x'.repeat(201), 'a\nb', '\u0000', '\ud800']) {
      expect((await create({ name, email: 'ok@example.com' })).body.errors[0].pointer).toBe('#/name');
    }
    expect((await create({ name: 'A', email: 'ok@example.com', role: 'admin', status: 'active' })).body.errors).toMatchObject([
      { pointer: '#/role', code: 'read_only_field' },
      { pointer: '#/status', code: 'read_only_field' },
    ]);
  });

  test('403 for customers', async () => {
    expect(
      (await shop.callApi('POST', '/api/v1/users', { token: anna.token, body: { name: 'A', email: 'x@example.com' } })).body.code,
    ).toBe('insufficient_scope');
  });
});
