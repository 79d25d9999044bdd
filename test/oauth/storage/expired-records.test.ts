import { expect, test } from 'vitest';
import { createLog } from '../../../server/logging/logger.ts';
import { deleteExpiredRecords } from '../../../server/oauth/storage/delete-expired-records.ts';
import { createMaintenanceJobs } from '../../../server/process/maintenance-jobs.ts';
import { deleteOrphanedRows } from '../../../server/oauth/grants/delete-orphaned-rows.ts';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import { authorize, redeem, refresh, refusal, signUp, tokenResponse, tokensFor, type Person } from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const em = () => server.db.em.fork();
const count = async (): Promise<number> =>
  (await em().execute<{ count: number }[]>('select count(*)::int as count from oauth_records'))[0]?.count ?? 0;

test('forgets what has expired and nothing else, a batch at a time', async () => {
  const granted = await authorize(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
  const tokens = tokenResponse.parse(await (await redeem(server.origin, granted)).json());
  const before = await count();
  await em().execute(
    `insert into oauth_records (model, id, payload, expires_at)
     select 'AccessToken', 'old-' || n, '{}', now() - interval '1 minute' from generate_series(1, 2500) n`,
  );
  const swept = [];
  for (let batch = 0; batch < 4; batch += 1) swept.push(await deleteExpiredRecords(em(), new Date()));
  expect(swept).toEqual([1000, 1000, 500, 0]);
  expect(await count()).toBe(before);
  expect(await apiStatus(server, tokens.access_token)).toBe(200);
});

test('a used refresh token is remembered through the clean-up for as long as it would have been good, and ends everything (55)', async () => {
  const granted = await authorize(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
  const first = tokenResponse.parse(await (await redeem(server.origin, granted)).json());
  const second = tokenResponse.parse(await (await refresh(server.origin, first.refresh_token ?? '')).json());
  // thirteen of its fourteen days later, in which the access tokens ended
  while ((await deleteExpiredRecords(em(), new Date(Date.now() + 13 * 24 * 3_600_000))) > 0);
  expect(await refusal(await refresh(server.origin, first.refresh_token ?? ''))).toBe('400 invalid_grant');
  expect(await refusal(await refresh(server.origin, second.refresh_token ?? ''))).toBe('400 invalid_grant');
});

test('the work in the background forgets all that has expired at once, however much it is', async () => {
  const log = createLog(false);
  const jobs = createMaintenanceJobs({
    db: server.db,
    log,
    transport: undefined,
    mailKey: Buffer.alloc(32),
  });
  await em().execute(
    `insert into oauth_records (model, id, payload, expires_at)
     select 'AccessToken', 'older-' || n, '{}', now() - interval '1 minute' from generate_series(1, 2500) n`,
  );
  await em().execute(
    `insert into mailed_links (token_hash, purpose, email, expires_at) values ('over', 'sign_up', 'a@example.com', now() - interval '1 day')`,
  );
  await em().execute(`insert into challenges (challenge, expires_at) values ('over', now() - interval '1 day')`);
  await em().execute(`insert into attempts (key, points, expire) values ('over', 1, 1)`);
  for (const { run } of jobs) await run(new AbortController().signal);
  const left = await em()
    .execute(`select id as it from oauth_records where id like 'older-%' union all select token_hash from mailed_links where token_hash = 'over'
    union all select challenge from challenges where challenge = 'over' union all select key from attempts where key = 'over'`);
  expect(left).toEqual([]);
});

test('on what device something was allowed, and in which browser one was signed in, is forgotten a day after it is over', async () => {
  const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
  await tokensFor(server.origin, anna, ['users.read']);
  await tokensFor(server.origin, ben, ['users.read']);
  const left = async ({ id }: Person): Promise<unknown> =>
    (
      await em().execute(
        `select (select count(*)::int from connections where user_id = u.id) as connections,
                (select count(*)::int from browser_sessions where user_id = u.id) as browsers from users u where id = ?`,
        [id],
      )
    )[0];
  const before = await left(ben);
  await em().execute(`delete from oauth_records where account_id = ? and model in ('Grant', 'Session')`, [String(anna.id)]);
  await deleteOrphanedRows(em(), new Date());
  expect(await left(anna)).toEqual(before); // it may be on its way
  await deleteOrphanedRows(em(), new Date(Date.now() + 25 * 3_600_000));
  expect(await left(anna)).toEqual({ connections: 0, browsers: 0 });
  expect(await left(ben)).toEqual(before);
});

test('a code that comes back after its minute, and after the clean-up, ends what came of it (36)', async () => {
  const granted = await authorize(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
  const tokens = tokenResponse.parse(await (await redeem(server.origin, granted)).json());
  await em().execute(
    `update oauth_records set payload = jsonb_set(payload::jsonb, '{exp}', to_jsonb(extract(epoch from now())::bigint - 1000))::text
     where model = 'AuthorizationCode'`,
  );
  const inTenMinutes = new Date(Date.now() + 600_000);
  while ((await deleteExpiredRecords(em(), inTenMinutes)) > 0);
  // without the verifier nobody can end the access of somebody else
  expect(await refusal(await redeem(server.origin, { ...granted, verifier: 'x'.repeat(43) }))).toBe('400 invalid_grant');
  expect((await refresh(server.origin, tokens.refresh_token ?? '')).status).toBe(200);
  expect(await refusal(await redeem(server.origin, granted))).toBe('400 invalid_grant');
  expect(await refusal(await refresh(server.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  expect(await apiStatus(server, tokens.access_token)).toBe(401);
});

test('a code that was never used ends after its minute and is forgotten', async () => {
  const granted = await authorize(server.origin, await signUp(server.origin));
  while ((await deleteExpiredRecords(em(), new Date(Date.now() + 61_000))) > 0);
  expect(await refusal(await redeem(server.origin, granted))).toBe('400 invalid_grant');
});
