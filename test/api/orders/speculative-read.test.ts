/** Tests that, from the second request with a token onward, one query both verifies the token and reads the order. */
import { beforeEach, expect, test } from 'vitest';
import { cliClient, obtainTokens, signUp, signUpWithRole, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { countQueries } from '../../support/services/count-queries.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

requireOneProcess('the tests count the queries of the test process');

const shop = withShop({ previewVersions: true });
let customer: TestUser;
let token: string;
let orderId: number;

beforeEach(async () => {
  customer = await signUp(shop.origin);
  ({ access_token: token } = await obtainTokens(shop.origin, customer, ['orders.read', 'orders.write']));
  const body = buildOrderInput([await shop.createProduct(), 1]);
  orderId = (await shop.callApi('POST', '/api/v1/orders', { token, body })).body.id;
});

const read = (as: string, id = orderId) => shop.callApi('GET', `/api/v1/orders/${id}`, { token: as });

test.each(['v1', 'v2'])('one query verifies the token and reads the order in %s', async (version) => {
  const path = `/api/${version}/orders/${orderId}`;
  const first = await shop.callApi('GET', path, { token });
  const queries = countQueries(shop.db);
  const second = await shop.callApi('GET', path, { token });
  expect(queries()).toBe(1);
  expect(second.body).toEqual(first.body);
});

test('returns the changed order', async () => {
  await read(token);
  await shop.callApi('PATCH', `/api/v1/orders/${orderId}`, { token, body: { reference: 'changed' } });
  expect((await read(token)).body.reference).toBe('changed');
});

test.each([987_654, 'abc'])('the second read of the order %s is rejected in the same way as the first', async (id) => {
  const path = `/api/v1/orders/${id}`;
  const first = await shop.callApi('GET', path, { token: (await obtainTokens(shop.origin, customer, ['orders.read'])).access_token });
  await read(token);
  const second = await shop.callApi('GET', path, { token });
  expect([second.status, second.body.code, second.body.detail]).toEqual([first.status, first.body.code, first.body.detail]);
});

test('a token is rejected once it is revoked', async () => {
  expect((await read(token)).status).toBe(200);
  const body = new URLSearchParams({ client_id: cliClient.clientId, token });
  expect((await fetch(`${shop.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
  const { status, body: problem } = await read(token);
  expect([status, problem.code]).toEqual([401, 'revoked_token']);
});

test('a user who is no longer staff does not find the order of a customer', async () => {
  const staff = await signUpWithRole(shop.db, shop.origin, 'staff');
  const { access_token: staffToken } = await obtainTokens(shop.origin, staff, ['orders.read', 'orders.manage']);
  expect((await read(staffToken)).status).toBe(200);
  await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [staff.id]);
  expect((await read(staffToken)).status).toBe(404);
});

test('an application that lost the scope is rejected', async () => {
  expect((await read(token)).status).toBe(200);
  await shop.db.em
    .fork()
    .execute(`update applications set scopes = array_remove(scopes, 'orders.read') where client_id = ?`, [cliClient.clientId]);
  const { status, body } = await read(token);
  await shop.db.em
    .fork()
    .execute(`update applications set scopes = array_append(scopes, 'orders.read') where client_id = ?`, [cliClient.clientId]);
  expect([status, body.code]).toEqual([403, 'insufficient_scope']);
});
