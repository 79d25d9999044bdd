/** Tests operation-specific declared responses that no other test triggers. */
import { scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUp, signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const administrator = shop.admin(scopeNames);

const call = (
  method: string,
  path: string,
  body?: unknown,
  token = administrator.token,
  headers: Record<string, string> = {},
): Promise<ApiResponse> => shop.callApi(method, `/api/v1${path}`, { token, body, headers });
const imports = ['/order-imports?source=elsewhere', '/product-imports', '/user-imports?source=elsewhere'];
const csv = { 'content-type': 'text/csv' };

test('POST /user-exports: 409 while two tasks are unfinished', async () => {
  for (const _ of [1, 2]) await call('POST', '/order-exports', {});
  const { status, body } = await call('POST', '/user-exports', {});
  expect([status, body.code]).toEqual([409, 'too_many_tasks']);
  await shop.db.em.fork().execute(`update tasks set status = 'canceled', finished_at = now() where status = 'queued'`);
});

describe.each(imports)('POST %s', (path) => {
  test('403 for a user who is no longer staff or administrator', async () => {
    const formerAdmin = await signUpWithRole(shop.db, shop.origin, 'admin');
    const { access_token: token } = await obtainTokens(shop.origin, formerAdmin, scopeNames);
    await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [formerAdmin.id]);
    expect((await call('POST', path, 'sku\n', token, csv)).body.code).toBe('forbidden');
  });

  test('409 while two tasks are unfinished', async () => {
    for (const _ of [1, 2]) await call('POST', '/order-exports', {});
    expect((await call('POST', path, 'sku\n', administrator.token, csv)).body.code).toBe('too_many_tasks');
    await shop.db.em.fork().execute(`update tasks set status = 'canceled', finished_at = now() where status = 'queued'`);
  });

  test('413 for a line over the row limit, before the whole file has arrived', async () => {
    const { status, body } = await call('POST', path, `sku\nA\n${'x'.repeat(100_001)}\n`, administrator.token, csv);
    expect([status, body.code, body.detail]).toEqual([413, 'payload_too_large', expect.stringMatching(/^Line 3 /)]);
  });
});

test('a provider event that is too large returns 413', async () => {
  const { status, body } = await shop.callApi('POST', '/api/v1/provider-events/test', {
    body: JSON.stringify({ a: 'x'.repeat(1_000_001) }),
  });
  expect([status, body.code]).toEqual([413, 'payload_too_large']);
});

test('canceling a deleted task returns 410', async () => {
  const { body } = await call('POST', '/order-exports', {});
  await shop.db.em
    .fork()
    .execute(
      `update tasks set status = 'canceled', finished_at = now() - interval '40 days', created_at = now() - interval '41 days' where id = ?`,
      [body.id],
    );
  expect((await call('POST', `/tasks/${body.id}/cancellation`)).body.code).toBe('gone');
});

test('changing an active product to a draft returns 409', async () => {
  const { id } = await shop.createProduct();
  const input: JsonBody = { name: 'A', category: 'a', price: 1, status: 'draft' };
  expect((await call('PUT', `/products/${id}`, input, administrator.token, { 'if-match': '*' })).body.code).toBe('invalid_transition');
});

test('reactivating a closed user returns 409', async () => {
  const { id } = await signUp(shop.origin);
  expect((await call('DELETE', `/users/${id}`)).status).toBe(204);
  expect((await call('PATCH', `/users/${id}`, { status: 'active' })).body.code).toBe('invalid_transition');
});

test('a test event for a disabled webhook endpoint returns 409', async () => {
  const endpoint: JsonBody = { url: 'https://receiver.example.com/hooks', events: ['order.paid'] };
  const { body } = await call('POST', '/webhook-endpoints', endpoint);
  expect((await call('PATCH', `/webhook-endpoints/${body.id}`, { status: 'disabled' })).status).toBe(200);
  expect((await call('POST', `/webhook-endpoints/${body.id}/test-events`)).body.code).toBe('webhook_endpoint_disabled');
});
