import { expect, test } from 'vitest';
import { createLogger } from '../../../server/logging/logger.ts';
import {
  deleteExpiredOauthRecordsBatch,
  deleteOrphanedGrantRowsAndSessionsBatch,
} from '../../../server/oauth/storage/delete-expired-and-orphaned-oauth-rows.sql.ts';
import { createMailAndCleanupJobs } from '../../../server/process/mail-cleanup-and-usage-flush-jobs.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { obtainLimitedTokens } from '../../support/oauth/limited-tokens.ts';
import {
  obtainAuthorizationCode,
  redeemCode,
  sendRefreshRequest,
  readOAuthError,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const entityManager = () => server.db.em.fork();
const countRecords = async (): Promise<number> =>
  (await entityManager().execute<{ count: number }[]>('select count(*)::int as count from oauth_records'))[0]?.count ?? 0;

test('a clean-up deletes only expired records, in batches', async () => {
  const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
  const tokens = tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json());
  const before = await countRecords();
  await entityManager().execute(
    `insert into oauth_records (model, id, payload, expires_at)
     select 'AccessToken', 'old-' || n, '{}', now() - interval '1 minute' from generate_series(1, 2500) n`,
  );
  const deletedCounts = [];
  for (let batch = 0; batch < 4; batch += 1) deletedCounts.push(await deleteExpiredOauthRecordsBatch(entityManager(), new Date()));
  expect(deletedCounts).toEqual([1000, 1000, 500, 0]);
  expect(await countRecords()).toBe(before);
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(200);
});

test('a clean-up keeps a used refresh token until its expiry, so that reuse still revokes the grant (55)', async () => {
  const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
  const first = tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json());
  const second = tokenResponseSchema.parse(await (await sendRefreshRequest(server.origin, first.refresh_token ?? '')).json());
  // 13 days later, the access tokens have expired, but the refresh tokens have not, because their lifetime is 14 days
  while ((await deleteExpiredOauthRecordsBatch(entityManager(), new Date(Date.now() + 13 * 24 * 3_600_000))) > 0);
  expect(await readOAuthError(await sendRefreshRequest(server.origin, first.refresh_token ?? ''))).toBe('400 invalid_grant');
  expect(await readOAuthError(await sendRefreshRequest(server.origin, second.refresh_token ?? ''))).toBe('400 invalid_grant');
});

test('the maintenance jobs delete all expired rows in one run', async () => {
  const log = createLogger(false);
  const jobs = createMailAndCleanupJobs({
    db: server.db,
    log,
    transport: undefined,
    mailKey: Buffer.alloc(32),
  });
  await entityManager().execute(
    `insert into oauth_records (model, id, payload, expires_at)
     select 'AccessToken', 'older-' || n, '{}', now() - interval '1 minute' from generate_series(1, 2500) n`,
  );
  await entityManager().execute(
    `insert into mailed_links (token_hash, purpose, email, expires_at) values ('over', 'sign_up', 'a@example.com', now() - interval '1 day')`,
  );
  await entityManager().execute(`insert into challenges (challenge, expires_at) values ('over', now() - interval '1 day')`);
  await entityManager().execute(`insert into attempts (key, points, expire) values ('over', 1, 1)`);
  for (const { run } of jobs) await run(new AbortController().signal);
  const remainingRows = await entityManager()
    .execute(`select id as it from oauth_records where id like 'older-%' union all select token_hash from mailed_links where token_hash = 'over'
    union all select challenge from challenges where challenge = 'over' union all select key from attempts where key = 'over'`);
  expect(remainingRows).toEqual([]);
});

test('connections and browser sessions are deleted a day after their grant or session', async () => {
  const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
  await obtainTokens(server.origin, anna, ['users.read']);
  await obtainTokens(server.origin, ben, ['users.read']);
  const remainingRows = async ({ id }: TestUser): Promise<unknown> =>
    (
      await entityManager().execute(
        `select (select count(*)::int from connections where user_id = u.id) as connections,
                (select count(*)::int from browser_sessions where user_id = u.id) as browsers from users u where id = ?`,
        [id],
      )
    )[0];
  const before = await remainingRows(ben);
  await entityManager().execute(`delete from oauth_records where account_id = ? and model in ('Grant', 'Session')`, [String(anna.id)]);
  await deleteOrphanedGrantRowsAndSessionsBatch(entityManager(), new Date());
  expect(await remainingRows(anna)).toEqual(before); // recent rows are kept, because a row may be written before its grant or session
  await deleteOrphanedGrantRowsAndSessionsBatch(entityManager(), new Date(Date.now() + 25 * 3_600_000));
  expect(await remainingRows(anna)).toEqual({ connections: 0, browsers: 0 });
  expect(await remainingRows(ben)).toEqual(before);
});

test('limits are deleted with their grant, and orders from past periods no longer count', async () => {
  const anna = await signUp(server.origin);
  await obtainLimitedTokens(server.origin, anna, ['orders.write'], { actions: ['place'] });
  const grantsWithLimits = async (): Promise<unknown[]> =>
    entityManager().execute('select l.grant_id from order_limits l join connections c on c.grant_id = l.grant_id where c.user_id = ?', [
      anna.id,
    ]);
  await entityManager().execute(
    `insert into order_limits (grant_id, actions, created_at) values ('orphan', '{place}', now() - interval '2 days')`,
  );
  await entityManager().execute(`insert into budgeted_orders (grant_id, order_id, counted_at) values
    ('g', 1, now() - interval '41 days'), ('g', 2, now() - interval '39 days')`);
  await deleteOrphanedGrantRowsAndSessionsBatch(entityManager(), new Date());
  expect(await grantsWithLimits()).toHaveLength(1);
  expect(await entityManager().execute(`select 1 as found from order_limits where grant_id = 'orphan'`)).toEqual([]);
  const remaining = await entityManager().execute<{ order_id: number | string }[]>(
    `select order_id from budgeted_orders where grant_id = 'g'`,
  );
  expect(remaining.map((row) => Number(row.order_id))).toEqual([2]);
});

test('a replay of an expired code after a clean-up still revokes its tokens (36)', async () => {
  const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
  const tokens = tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json());
  await entityManager().execute(
    `update oauth_records set payload = jsonb_set(payload::jsonb, '{exp}', to_jsonb(extract(epoch from now())::bigint - 1000))::text
     where model = 'AuthorizationCode'`,
  );
  const inTenMinutes = new Date(Date.now() + 600_000);
  while ((await deleteExpiredOauthRecordsBatch(entityManager(), inTenMinutes)) > 0);
  // a replay without the verifier must not revoke the grant
  expect(await readOAuthError(await redeemCode(server.origin, { ...granted, verifier: 'x'.repeat(43) }))).toBe('400 invalid_grant');
  expect((await sendRefreshRequest(server.origin, tokens.refresh_token ?? '')).status).toBe(200);
  expect(await readOAuthError(await redeemCode(server.origin, granted))).toBe('400 invalid_grant');
  expect(await readOAuthError(await sendRefreshRequest(server.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
});

test('an unused code expires after a minute and is deleted', async () => {
  const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin));
  while ((await deleteExpiredOauthRecordsBatch(entityManager(), new Date(Date.now() + 61_000))) > 0);
  expect(await readOAuthError(await redeemCode(server.origin, granted))).toBe('400 invalid_grant');
});
