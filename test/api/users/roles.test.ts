import { contract, listRoutes, type Scope, scopeNames, scopeDefinitions } from '@mandate/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import {
  obtainClientToken,
  createConfidentialClient,
  signUp,
  signUpWithRole,
  obtainTokens,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { runPendingTasks } from '../../support/shop/run-tasks.ts';

const shop = withShop();
let admin: TestUser;
let administrator: string;

beforeAll(async () => {
  admin = await signUpWithRole(shop.db, shop.origin, 'admin');
  administrator = await tokenOf(admin, ['users.manage', 'users.administer']);
});

const tokenOf = async (person: TestUser, names: readonly Scope[]): Promise<string> =>
  (await obtainTokens(shop.origin, person, names)).access_token;
const patch = (id: number, body: unknown, token: string): Promise<ApiResponse> =>
  shop.callApi('PATCH', `/api/v1/users/${id}`, { token, body });
const close = (id: number, token: string): Promise<ApiResponse> => shop.callApi('DELETE', `/api/v1/users/${id}`, { token });
const read = async (id: number): Promise<JsonBody> => (await shop.callApi('GET', `/api/v1/users/${id}`, { token: shop.token })).body;
const applicationToken = async (names: readonly Scope[]): Promise<string> =>
  obtainClientToken(shop.origin, await createConfidentialClient(shop.db, names), names);

/** Changes to a staff account that only an administrator may make. */
const changesToStaff: readonly JsonBody[] = [
  { role: 'customer' },
  { email: 'taken.over@example.com' },
  { status: 'suspended' },
  { name: 'X' },
];

describe('an application with users.manage', () => {
  let token: string;
  beforeAll(async () => {
    token = await applicationToken(['users.manage']);
  });

  test('changes name, e-mail address and status of a customer', async () => {
    const ben = await shop.createUser();
    const changed = await patch(ben.id, { name: 'Ben', email: `b.${ben.email}`, status: 'suspended' }, token);
    expect([changed.status, changed.body]).toMatchObject([200, { name: 'Ben', email: `b.${ben.email}`, status: 'suspended' }]);
  });

  test('cannot promote a customer that it created', async () => {
    const { body: createdCustomer } = await shop.callApi('POST', '/api/v1/users', {
      token,
      body: { name: 'Eve', email: `eve.${crypto.randomUUID()}@example.com` },
    });
    for (const role of ['admin', 'staff']) expect((await patch(createdCustomer.id, { role }, token)).body.code).toBe('forbidden');
    expect((await read(createdCustomer.id)).role).toBe('customer');
  });

  test.each(['admin', 'staff'] as const)('cannot change or close an account with the role %s', async (role) => {
    const person = await signUpWithRole(shop.db, shop.origin, role);
    const before = await read(person.id);
    for (const change of changesToStaff) expect((await patch(person.id, change, token)).body.code).toBe('forbidden');
    expect((await close(person.id, token)).body.code).toBe('forbidden');
    expect(await read(person.id)).toEqual(before);
  });

  test('cannot change an administrator by an import with their e-mail address', async () => {
    const importing = await applicationToken(['users.manage', 'orders.manage', 'products.write', 'tasks.write', 'tasks.read']);
    const before = await read(admin.id);
    const { sku } = await shop.createProduct();
    const file = `reference,customer_email,customer_name,sku,quantity\nR-1,${admin.email},Mallory,${sku},1\n`;
    const started = await shop.callApi('POST', '/api/v1/order-imports?source=roles&unknown_customers=create', {
      token: importing,
      body: file,
      headers: { 'content-type': 'text/csv' },
    });
    expect(started.status).toBe(202);
    await runPendingTasks(shop);
    expect(await read(admin.id)).toEqual(before);
  });
});

describe('a role change', () => {
  test('requires users.administer and a recent sign-in by an administrator, and is audited', async () => {
    const eve = await shop.createUser();
    expect((await patch(eve.id, { role: 'staff' }, administrator)).body.role).toBe('staff');
    const audit = await tokenOf(admin, ['audit.read']);
    const { body } = await shop.callApi('GET', `/api/v1/audit-events?user_id=${eve.id}&action=account.role_changed`, { token: audit });
    expect(body.data).toEqual([expect.objectContaining({ actor_id: admin.id, details: { from: 'customer', to: 'staff' } })]);
  });

  test('returns 401 after an old sign-in (RFC 9470)', async () => {
    const adminUser = await signUpWithRole(shop.db, shop.origin, 'admin');
    await backdateSessions(shop.db, adminUser.id, 16);
    const old = await tokenOf(adminUser, ['users.manage', 'users.administer']);
    const [eve, staff] = [await shop.createUser(), await signUpWithRole(shop.db, shop.origin, 'staff')];
    for (const response of [
      await patch(eve.id, { role: 'admin' }, old),
      await patch(staff.id, { email: 'new@example.com' }, old),
      await close(staff.id, old),
    ]) {
      expect([response.status, response.body.code]).toEqual([401, 'insufficient_user_authentication']);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer .*error="insufficient_user_authentication".*max_age="900"/);
      expect(response.body.detail).toContain('mandate login --force');
    }
    expect((await read(eve.id)).role).toBe('customer');
    expect((await patch(eve.id, { name: 'Eve' }, old)).status).toBe(200);
  });

  test('is forbidden for staff and for applications, regardless of their scopes', async () => {
    const eve = await shop.createUser();
    const staff = await tokenOf(await signUpWithRole(shop.db, shop.origin, 'staff'), scopeNames);
    for (const token of [staff, await applicationToken(scopeNames), await applicationToken(['users.administer'])]) {
      expect((await patch(eve.id, { role: 'admin' }, token)).status).toBe(403);
    }
    expect((await read(eve.id)).role).toBe('customer');
  });

  test('is forbidden for API keys, which cannot have the scope', async () => {
    const maker = await tokenOf(admin, ['users.manage', 'users.administer', 'api_keys.manage']);
    const createKey = (names: readonly Scope[]): Promise<ApiResponse> =>
      shop.callApi('POST', '/api/v1/api-keys', { token: maker, body: { name: 'Key', scopes: names } });
    expect((await createKey(['users.administer'])).body.code).toBe('invalid_request');
    const { key } = (await createKey(['users.manage'])).body;
    await shop.db.em.fork().execute(`update api_keys set scopes = '{users.manage,users.administer}' where prefix = ?`, [key.slice(0, 11)]);
    const eve = await shop.createUser();
    expect([401, 403]).toContain((await patch(eve.id, { role: 'admin' }, key)).status);
    expect((await read(eve.id)).role).toBe('customer');
  });

  const otherScopes = scopeNames.filter((name) => name !== 'users.administer');
  test.each([...otherScopes.map((name) => [name]), otherScopes])('is forbidden with %s', async (...names) => {
    const eve = await shop.createUser();
    const token = await tokenOf(admin, names);
    expect([403, 404]).toContain((await patch(eve.id, { role: 'staff' }, token)).status);
    expect((await read(eve.id)).role).toBe('customer');
  });
});

describe('a staff account', () => {
  test('can be changed and closed by an administrator with users.administer', async () => {
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const email = `moved.${crypto.randomUUID()}@example.com`;
    expect((await patch(staff.id, { name: 'New', email, status: 'suspended' }, administrator)).body).toMatchObject({
      email,
      status: 'suspended',
    });
    expect((await patch(staff.id, { status: 'active' }, administrator)).status).toBe(200);
    expect((await close(staff.id, administrator)).status).toBe(204);
  });

  test('cannot be changed with users.manage alone, even by an administrator', async () => {
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const token = await tokenOf(admin, ['users.manage']);
    for (const change of changesToStaff) expect((await patch(staff.id, change, token)).body.code).toBe('insufficient_scope');
    expect((await close(staff.id, token)).body.code).toBe('insufficient_scope');
  });

  test('allows its owner to change only the name', async () => {
    const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
    const token = await tokenOf(staff, ['users.write', 'users.manage']);
    expect((await patch(staff.id, { name: 'New' }, token)).status).toBe(200);
    for (const change of [{ role: 'admin' }, { email: 'new@example.com' }, { status: 'suspended' }]) {
      expect((await patch(staff.id, change, token)).body.code).toBe('forbidden');
    }
  });
});

test('users.administer alone does not permit changing customer data', async () => {
  const eve = await shop.createUser();
  const token = await tokenOf(admin, ['users.administer']);
  for (const change of [{ name: 'X' }, { email: 'x@example.com' }, { status: 'suspended' }]) {
    expect((await patch(eve.id, change, token)).body.code).toBe('insufficient_scope');
  }
  expect((await close(eve.id, token)).body.code).toBe('insufficient_scope');
  expect((await patch(eve.id, { role: 'staff' }, token)).body.role).toBe('staff');
});

test('only administrators can grant users.administer, and pre-approval of the scope is rejected', async () => {
  const staff = await obtainTokens(shop.origin, await signUpWithRole(shop.db, shop.origin, 'staff'), ['users.manage', 'users.administer']);
  expect(staff.scope).not.toContain('users.administer');
  expect((await obtainTokens(shop.origin, await signUp(shop.origin), ['users.read', 'users.administer'])).scope).not.toContain(
    'administer',
  );
  const application = {
    name: 'A',
    type: 'confidential',
    grant_types: ['authorization_code'],
    redirect_uris: ['https://app.example/callback'],
    scopes: ['users.administer'],
    preapproved_scopes: ['users.administer'],
  };
  const { body } = await shop.callApi('POST', '/api/v1/applications', { token: shop.token, body: application });
  expect([body.code, body.errors[0].pointer]).toEqual(['invalid_request', '#/preapproved_scopes']);
});

test('no operation changes a password or a second factor', () => {
  const fields = listRoutes(contract).flatMap((route) =>
    'body' in route ? Object.keys(Object(Reflect.get(Object(route.body), 'shape'))) : [],
  );
  const paths = listRoutes(contract).map(({ path }) => path);
  expect(fields).toEqual(expect.arrayContaining(['email', 'role']));
  const namesOfCredentials = new Set([...fields, ...paths].filter((name) => /password|passkey|authenticator|recovery|factor/i.test(name)));
  // `two_factor_values` is an identity provider setting
  expect(namesOfCredentials).toEqual(new Set(['two_factor_values']));
});

test('the consent page states what the scopes allow', () => {
  expect(scopeDefinitions['users.manage'].consent).not.toContain('role');
  expect(scopeDefinitions['users.administer']).toMatchObject({
    consent: expect.stringMatching(/role of any user.*staff and administrator accounts/),
    admin: true,
  });
});
