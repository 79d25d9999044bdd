import { scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { completeImport, abandonTaskAtStep, runPendingTasks } from '../../support/shop/run-tasks.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { importUsers, startUserImport } from './start-user-import.ts';

const shop = withShop();
const administrator = shop.admin(scopeNames);
const counted = { created: 0, updated: 0, unchanged: 0, refused: 0, differing: 0 };

const runImport = (body: string, query: object = {}, contentType?: string) => importUsers(shop, administrator, body, query, contentType);
const query = async (sql: string, parameters: unknown[] = []): Promise<JsonBody[]> => shop.db.em.fork().execute(sql, parameters);
async function findUser(email: string): Promise<JsonBody> {
  const { body } = await administrator.callApi('GET', `/api/v1/users?email=${encodeURIComponent(email)}`);
  return body.data[0];
}

describe('an import', () => {
  test('creates users with all fields, and audits the import', async () => {
    const csv = [
      'external_id,email,name,email_verified,status,locale,metadata,consented_at',
      'u1,Ann@example.com,Ann Lee,yes,suspended,de,"{""tier"":""gold"",""points"":12,""none"":null}",2024-05-06 07:08:09',
      ',ben@example.com,Ben,,,,,',
    ].join('\n');
    const { counts, remarks, task } = await runImport(csv, { utc_offset: '+02:00' });
    expect([counts, remarks, task.type, task.progress]).toEqual([
      { ...counted, created: 2 },
      [],
      'user_import',
      { processed: 2, total: 2 },
    ]);
    expect(await findUser('ann@example.com')).toMatchObject({
      name: 'Ann Lee',
      email: 'Ann@example.com',
      email_verified: true,
      status: 'suspended',
      role: 'customer',
      locale: 'de',
    });
    expect(await findUser('ben@example.com')).toMatchObject({ email_verified: false, status: 'active', locale: null });
    const [imported] = await query(`select source, external_id, metadata, consented_at from imported_users where external_id = 'u1'`);
    expect(imported).toMatchObject({ source: 'old-shop', metadata: { tier: 'gold', points: '12' } });
    expect(new Date(imported?.consented_at).toISOString()).toBe('2024-05-06T05:08:09.000Z');
    const { body: audit } = await administrator.callApi('GET', '/api/v1/audit-events?action=accounts.imported');
    expect(audit.data[0]).toMatchObject({
      actor_id: administrator.id,
      subject: `task:${task.id}`,
      details: { source: 'old-shop', dry_run: false },
    });
  });

  test('reads columns with other names, and names in two columns', async () => {
    const csv = 'Mail,First,Last,Confirmed\ncleo@example.com,Cleo,Ray,1\n';
    const mapping = { email_column: 'Mail', given_name_column: 'First', family_name_column: 'Last', email_verified_column: 'Confirmed' };
    expect((await runImport(csv, mapping)).counts).toEqual({ ...counted, created: 1 });
    expect(await findUser('cleo@example.com')).toMatchObject({ name: 'Cleo Ray', email_verified: true });
  });

  test('reads nested metadata from NDJSON', async () => {
    const ndjson = JSON.stringify({ email: 'dora@example.com', name: 'Dora', metadata: { tags: 'vip' }, email_verified: true });
    const { counts } = await runImport(ndjson, {}, 'application/x-ndjson');
    expect(counts).toEqual({ ...counted, created: 1 });
    const rows = await query(`select metadata from imported_users join users on id = user_id where email = 'dora@example.com'`);
    expect(rows).toEqual([{ metadata: { tags: 'vip' } }]);
  });

  test('records events only if requested', async () => {
    await runImport('email,name\nquiet@example.com,Quiet\n');
    await runImport('email,name\nloud@example.com,Loud\n', { events: 'true' });
    const events = await query(
      `select data ->> 'email' as email from events where type = 'user.created' and data ->> 'email' in ('quiet@example.com', 'loud@example.com')`,
    );
    expect(events).toEqual([{ email: 'loud@example.com' }]);
  });
});

describe('invalid rows', () => {
  test('are rejected with their line, and change nothing', async () => {
    const rows: [string, string, string][] = [
      ['bad,Name,', 'email', 'invalid_value'],
      ['noname@example.com,,', 'name', 'required'],
      ['md5@example.com,M,5f4dcc3b5aa765d61d8327deb882cf99', 'password_hash', 'invalid_value'],
      ['plain@example.com,P,secret', 'password_hash', 'invalid_value'],
      ['slow@example.com,S,$2b$31$LXfZIeUU1AS8Gk7.ueyFROphTldbu.PX/Lj0BrO8s2t9gumTi49X6', 'password_hash', 'invalid_value'],
    ];
    const csv = ['email,name,password_hash', ...rows.map(([row]) => row)].join('\n');
    const { counts, remarks } = await runImport(csv);
    expect(counts).toEqual({ ...counted, refused: rows.length });
    expect(remarks.map(({ line, field, code }) => [line, field, code])).toEqual(rows.map(([, field, code], at) => [at + 2, field, code]));
    expect(remarks[2]?.detail).toContain('The format of the password hash is unknown.');
    expect(remarks[4]?.detail).toBe('The password hash is too expensive to verify. The cost is 31, more than the maximum of 14.');
    expect(await query(`select 1 from users where email like 'slow@%' or email like 'md5@%'`)).toEqual([]);
  });

  test('include hashes that would block the server or cannot be verified', async () => {
    const hashes = [
      ['$argon2id$v=19$m=4194304,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg', 'The memory in KiB'],
      ['$argon2id$v=19$m=65536,t=900,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg', 'times the number of passes'],
      ['$scrypt$ln=24,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg', 'The memory in bytes'],
      ['$scrypt$ln=14,r=8,p=999$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg', 'N × r × p'],
      ['$pbkdf2-sha256$999999999$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg', 'The number of iterations'],
      ['$P$Rabcdefgho3Ed7WtHZ79uU2iVBhJG./', 'The base-2 logarithm'],
      ['scrypt$1000$salt$8$1$MDEyMzQ1Njc4OWFiY2RlZg==', 'N must be a power of 2'],
      ['$pbkdf2-sha256$0$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg', 'at least 1'],
      ['$argon2id$v=19$m=64,t=1,p=16$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg', 'at least 8 KiB for each lane'],
      ['$argon2id$v=19$m=19456,t=2,p=1$MDEy$MDEyMzQ1Njc4OWFiY2RlZg', 'at least 8 bytes'],
      ['{"scheme":{"scheme":"phpass","log2Iterations":13,"salt":"abcdefgh"},"argon2id":"$2b$10$no"}', 'not a valid argon2id hash'],
      [`sha1$${'s'.repeat(500)}$8198d4efff160a8266089ada2e30aef386b24976`, 'The format of the password hash is unknown'],
      ['{"scheme":1}', 'The format of the password hash is unknown'],
    ] as const;
    const lines = hashes.map(([hash], at) => JSON.stringify({ email: `hash${at}@example.com`, name: 'H', password_hash: hash }));
    const { remarks } = await runImport(lines.join('\n'), {}, 'application/x-ndjson');
    const expected = { field: 'password_hash', code: 'invalid_value' };
    expect(remarks).toEqual(hashes.map(([, detail], at) => ({ line: at + 1, ...expected, detail: expect.stringContaining(detail) })));
  });

  test('duplicates in the file name the first line, even in a dry run and in another batch', async () => {
    const filler = Array.from({ length: 250 }, (_, n) => `f${n},filler${n}@example.com,Filler`);
    const csv = ['external_id,email,name', 'd1,dup@example.com,A', ...filler, 'd2,DUP@example.com,B', 'd1,other@example.com,C'].join('\n');
    const dry = await runImport(csv, { dry_run: 'true' });
    const real = await runImport(csv);
    const expected = [
      { line: 253, field: 'email', code: 'duplicate', detail: 'The file has the same e-mail address on line 2.' },
      { line: 254, field: 'external_id', code: 'duplicate', detail: 'The file has the same external ID on line 2.' },
    ];
    expect([dry.remarks, dry.counts]).toEqual([expected, { ...counted, created: 251, refused: 2 }]);
    expect([real.remarks, real.counts]).toEqual([expected, { ...counted, created: 251, refused: 2 }]);
  });

  test('an unreadable row is rejected', async () => {
    const { remarks } = await runImport('email,name\nshort@example.com\ncomplete@example.com,C\n');
    expect(remarks).toEqual([{ line: 2, code: 'unreadable', detail: 'The header has 2 columns, this row has 1.' }]);
  });

  test('a file without e-mail addresses fails', async () => {
    const { body } = await startUserImport(shop, administrator, 'name\nAnn\n');
    await runPendingTasks(shop);
    const { body: task } = await administrator.callApi('GET', `/api/v1/tasks/${body.id}`);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'missing_column' } });
  });
});

describe('existing users', () => {
  test('remain unchanged if the file is imported again, and differing rows are rejected', async () => {
    const csv = 'external_id,email,name\nr1,rita@example.com,Rita\n,rob@example.com,Rob\n';
    expect((await runImport(csv)).counts).toEqual({ ...counted, created: 2 });
    expect((await runImport(csv)).counts).toEqual({ ...counted, unchanged: 2 });
    const { counts, remarks } = await runImport(csv.replace('Rita', 'Rita B.').replace('Rob', 'Robert'));
    expect(counts).toEqual({ ...counted, refused: 2, differing: 2 });
    expect(remarks).toEqual([
      { line: 2, code: 'already_imported', detail: expect.stringMatching(/^User \d+ was imported before with different data\./) },
      { line: 3, code: 'already_imported', detail: expect.any(String) },
    ]);
    expect(await findUser('rita@example.com')).toMatchObject({ name: 'Rita' });
  });

  test('are not changed by a row with their e-mail address', async () => {
    const email = administrator.email.toUpperCase();
    const hash = '$2b$10$LXfZIeUU1AS8Gk7.ueyFROphTldbu.PX/Lj0BrO8s2t9gumTi49X6';
    const { remarks } = await runImport(`email,name,password_hash\n${email},Thief,${hash}\n`);
    const detail = `The e-mail address belongs to user ${administrator.id}.`;
    expect(remarks).toEqual([{ line: 2, field: 'email', code: 'not_unique', detail }]);
    expect(await query(`select 1 from passwords where hash like 'imported:%' and user_id = ?`, [administrator.id])).toEqual([]);
  });

  test('are not created again after they were closed, and their imported data is deleted', async () => {
    const csv = 'external_id,email,name,metadata\nx1,gone@example.com,Gone,"{""a"":""b""}"\n';
    await runImport(csv);
    const user = await findUser('gone@example.com');
    const { status } = await administrator.callApi('DELETE', `/api/v1/users/${user?.id}`, { headers: { 'if-match': '*' } });
    expect(status).toBe(204);
    expect(await query(`select metadata, fingerprint from imported_users where user_id = ?`, [user?.id])).toEqual([
      { metadata: {}, fingerprint: null },
    ]);
    const detail = `The account of user ${user?.id} was closed, and is not created again.`;
    expect((await runImport(csv)).remarks).toEqual([{ line: 2, field: 'external_id', code: 'account_closed', detail }]);
  });
});

test('a dry run reports the same result without creating users', async () => {
  const csv = 'email,name,password_hash\ndry@example.com,Dry,sha1$saltsaltsalt$8198d4efff160a8266089ada2e30aef386b24976\n';
  expect((await runImport(csv, { dry_run: 'true' })).counts).toEqual({ ...counted, created: 1 });
  expect(await findUser('dry@example.com')).toBeUndefined();
});

test('an interrupted import resumes and still finds duplicates of earlier rows', async () => {
  const rows = Array.from({ length: 260 }, (_, n) => `k${n},kill${n}@example.com,Kill`);
  const started = await startUserImport(shop, administrator, ['external_id,email,name', ...rows, 'k0,again@example.com,Again'].join('\n'));
  await abandonTaskAtStep(shop, 3);
  await query(`update tasks set lease_until = now() - interval '1 minute' where id = ?`, [started.body.id]);
  const { counts, remarks } = await completeImport(shop, administrator.token, started);
  expect(counts).toEqual({ ...counted, created: 260, refused: 1 });
  expect(remarks).toEqual([{ line: 262, field: 'external_id', code: 'duplicate', detail: 'The file has the same external ID on line 2.' }]);
});

describe('order imports', () => {
  const orders = (customer: string, email: string): string =>
    [
      'reference,created_at,currency,customer,customer_email,sku,name,quantity,unit_price',
      `U-${customer}${email},2020-01-01T00:00:00Z,EUR,${customer},${email},SKU-1,Mug,1,100`,
    ].join('\n');
  const importOrders = async (csv: string): Promise<JsonBody> => {
    const started = await shop.callApi('POST', '/api/v1/order-imports?source=old-shop&unknown_products=create', {
      token: administrator.token,
      body: csv,
      headers: { 'content-type': 'text/csv' },
    });
    const { remarks } = await completeImport(shop, administrator.token, started);
    expect(remarks).toEqual([]);
    const [order] = await query('select user_id from orders order by id desc limit 1');
    return order;
  };

  test('find an imported user by external ID and by e-mail address', async () => {
    await runImport('external_id,email,name\no1,olga@example.com,Olga\no2,otto@example.com,Otto\n');
    expect(await importOrders(orders('o1', ''))).toEqual({ user_id: (await findUser('olga@example.com'))?.id });
    expect(await importOrders(orders('', 'OTTO@example.com'))).toEqual({ user_id: (await findUser('otto@example.com'))?.id });
  });

  test('that create a customer store the external ID, which a later user import finds', async () => {
    const body = orders('early', '');
    const started = await shop.callApi('POST', '/api/v1/order-imports?source=old-shop&unknown_products=create&unknown_customers=create', {
      token: administrator.token,
      body,
      headers: { 'content-type': 'text/csv' },
    });
    await completeImport(shop, administrator.token, started);
    const { remarks } = await runImport('external_id,email,name\nearly,early@example.com,Early\n');
    const detail = expect.stringMatching(/^An order import has already created user \d+ for this external ID\.$/);
    expect(remarks).toEqual([{ line: 2, field: 'external_id', code: 'not_unique', detail }]);
  });
});

test('a task of an administrator who becomes staff fails', async () => {
  const former = await shop.createAccount('admin', scopeNames);
  const started = await former.callApi('POST', '/api/v1/user-imports?source=old-shop', {
    body: 'email,name\nlate@example.com,Late\n',
    headers: { 'content-type': 'text/csv' },
  });
  expect(started.status).toBe(202);
  await query(`update users set role = 'staff' where id = ?`, [former.id]);
  await runPendingTasks(shop);
  expect(await query('select status, error from tasks where id = ?', [started.body.id])).toMatchObject([
    { status: 'failed', error: { code: 'forbidden' } },
  ]);
  expect(await findUser('late@example.com')).toBeUndefined();
});
