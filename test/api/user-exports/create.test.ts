import { scopeNames } from '@mandate/contract';
import { expect, test } from 'vitest';
import { parse } from 'csv-parse/sync';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import { obtainTokens } from '../../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { completeTask, parseRemarks } from '../../support/shop/run-tasks.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { importUsers } from '../user-imports/start-user-import.ts';

const shop = withShop();
const administrator = shop.admin(scopeNames);
const customer = shop.customer(['orders.read']);
const bcrypt = '$2b$10$LXfZIeUU1AS8Gk7.ueyFROphTldbu.PX/Lj0BrO8s2t9gumTi49X6';
const salted = 'sha1$saltsaltsalt$8198d4efff160a8266089ada2e30aef386b24976';

async function exportUsers(body: object): Promise<{ task: JsonBody; file: string }> {
  return completeTask(shop, administrator.token, await administrator.callApi('POST', '/api/v1/user-exports', { body }));
}

test('exports users as CSV without password hashes, and audits the export', async () => {
  const csv = `external_id,email,name,metadata,consented_at,password_hash\ne1,eve@example.com,=Eve,"{""k"":""v""}",2024-01-02,${bcrypt}\n`;
  await importUsers(shop, administrator, csv);
  const { task, file } = await exportUsers({});
  const rows: JsonBody[] = parse(file, { columns: true });
  expect(rows.find(({ email }) => email === 'eve@example.com')).toEqual({
    id: expect.any(String),
    source: 'old-shop',
    external_id: 'e1',
    name: "'=Eve",
    email: 'eve@example.com',
    email_verified: 'false',
    status: 'active',
    role: 'customer',
    locale: '',
    metadata: '{"k":"v"}',
    consented_at: '2024-01-02T00:00:00.000Z',
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect(task).toMatchObject({ type: 'user_export', result: { rows: rows.length, imported: null } });
  expect(file).not.toContain('$2b$');
  const { body: audit } = await administrator.callApi('GET', '/api/v1/audit-events?action=accounts.exported');
  expect(audit.data[0]).toMatchObject({ subject: `task:${task.id}`, details: { rows: 'users', password_hashes: false } });
});

test('exports password hashes that another server imports', async () => {
  const csv = `email,name,password_hash\nfay@example.com,Fay,${bcrypt}\ngus@example.com,Gus,${salted}\n`;
  await importUsers(shop, administrator, csv);
  const { file } = await exportUsers({ format: 'ndjson', password_hashes: true });
  const rows = parseRemarks(file);
  const hashOf = (email: string): string => rows.find((row) => row.email === email)?.password_hash;
  expect(hashOf('fay@example.com')).toBe(bcrypt);
  expect(hashOf('gus@example.com')).toMatch(/^\{"scheme":\{"scheme":"sha",.*"argon2id":"\$argon2id\$/);
  expect(hashOf(administrator.email)).toMatch(/^\$argon2id\$/);
  const moved = rows.filter(({ email }) => /^(?:fay|gus)@/.test(email)).map((row) => JSON.stringify({ ...row, email: `new-${row.email}` }));
  const { counts } = await importUsers(shop, administrator, moved.join('\n'), { source: 'other-server' }, 'application/x-ndjson');
  expect(counts).toMatchObject({ created: 2 });
});

test('exports consents', async () => {
  const { file } = await exportUsers({ format: 'ndjson', rows: 'consents' });
  expect(parseRemarks(file)).toContainEqual({
    user_id: customer.id,
    email: customer.email,
    client_id: 'mandate-cli',
    application: expect.any(String),
    scopes: expect.stringContaining('orders.read'),
    granted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
});

test('password hashes require a recent sign-in', async () => {
  const other = await shop.createAccount('admin', scopeNames);
  await backdateSessions(shop.db, other.id, 20);
  const { access_token: token } = await obtainTokens(shop.origin, other, scopeNames);
  const send = (body: object) => shop.callApi('POST', '/api/v1/user-exports', { token, body });
  const refused = await send({ password_hashes: true });
  expect([refused.status, refused.body.code]).toEqual([401, 'insufficient_user_authentication']);
  expect(refused.headers.get('www-authenticate')).toContain('max_age="900"');
  expect((await send({})).status).toBe(202);
});

test('consents have no password hashes', async () => {
  const { status, body } = await administrator.callApi('POST', '/api/v1/user-exports', {
    body: { rows: 'consents', password_hashes: true },
  });
  expect([status, body.errors[0].detail]).toEqual([400, 'Requires `rows` to be `users`.']);
});
