import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import {
  obtainAuthorizationCode,
  basicAuthorization,
  obtainClientToken,
  cliClient,
  createConfidentialClient,
  redeemCode,
  sendRefreshRequest,
  readOAuthError,
  tokenResponseSchema,
  obtainTokens,
} from '../../support/oauth/oauth-flow.ts';
import {
  concurrentRequests,
  raceCodeRedemption,
  raceConsentForm,
  raceSuccessorTokens,
  raceRounds,
} from '../../support/oauth/concurrent-token-requests.ts';
import { createDpopKey, createDpopProof } from '../../support/oauth/dpop-proof.ts';
import { expireRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { killServerProcesses, createDataDirectory } from '../../support/server/server-process.ts';
import { startServerPair, type ServerPair } from '../../support/server/server-pair.ts';
import { createSignedInUser } from '../../support/oauth/signed-in-user.ts';
import { fetchApiStatus } from '../../support/server/use-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Sends the same request four times, so that each of the two processes handles it. */
const requestFourTimes = async (ask: () => Promise<number>): Promise<number[]> => [await ask(), await ask(), await ask(), await ask()];

describe.skipIf(databaseKind === 'pglite')('two processes on one PostgreSQL', { timeout: 120_000 }, () => {
  let two: ServerPair;
  let data: Awaited<ReturnType<typeof createDataDirectory>>;
  beforeAll(async () => {
    data = await createDataDirectory();
    two = await startServerPair(data.path);
  }, 120_000);
  afterAll(async () => {
    await two.close();
    await killServerProcesses();
    await data[Symbol.asyncDispose]();
  });

  test('twenty concurrent refreshes with one token return one successor (56)', async () => {
    const person = await createSignedInUser(two);
    for (let round = 0; round < raceRounds; round += 1) {
      const { responses: answers, successors, laterStatuses: afterwards } = await raceSuccessorTokens(two, person);
      expect(answers).toEqual([expect.stringMatching(/^200 /)]);
      expect(successors).toEqual({ received: 1, stored: 1 });
      expect(afterwards).toEqual([200, 400, 400]);
    }
  });

  test('of twenty concurrent redemptions of one code, one succeeds, and its tokens are revoked (35, 36)', async () => {
    const person = await createSignedInUser(two);
    for (let round = 0; round < raceRounds; round += 1) {
      const { tokenResponses: winners, errors: refusals, validTokenCount: alive } = await raceCodeRedemption(two, person);
      expect(winners).toHaveLength(1);
      expect(refusals).toEqual(Array.from({ length: concurrentRequests - 1 }, () => '400 invalid_grant'));
      expect(alive).toBe(0);
    }
  });

  test('five concurrent submissions of one consent return one code (33)', async () => {
    const person = await createSignedInUser(two);
    for (let round = 0; round < raceRounds; round += 1) expect(await raceConsentForm(two, person)).toHaveLength(1);
  });

  test('of concurrent requests with one DPoP proof, one succeeds (82)', async () => {
    const key = await createDpopKey();
    const { code, verifier, redirectUri, clientId } = await obtainAuthorizationCode(two.origin, await createSignedInUser(two), {
      scope: 'openid users.read',
    });
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      client_id: clientId,
    });
    const url = `${two.origin}/oauth/token`;
    const response = await fetch(url, { method: 'POST', body, headers: { dpop: await createDpopProof(key, { method: 'POST', url }) } });
    const { access_token: token } = tokenResponseSchema.parse(await response.json());
    const me = `${two.origin}/api/v1/users/me`;
    const headers = { authorization: `DPoP ${token}`, dpop: await createDpopProof(key, { method: 'GET', url: me, token }) };
    const statuses = await Promise.all(Array.from({ length: concurrentRequests }, async () => (await fetch(me, { headers })).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  test('both processes reject a token after one process has revoked it: a refresh token (66), an access token (67)', async () => {
    for (const step of ['refresh_token', 'access_token'] as const) {
      const tokens = await obtainTokens(two.origin, await createSignedInUser(two), ['users.read']);
      expect(await requestFourTimes(() => fetchApiStatus(two, tokens.access_token))).toEqual([200, 200, 200, 200]);
      const body = new URLSearchParams({ client_id: cliClient.clientId, token: tokens[step] ?? '' });
      expect((await fetch(`${two.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
      expect(await requestFourTimes(() => fetchApiStatus(two, tokens.access_token))).toEqual([401, 401, 401, 401]);
    }
  });

  test('both processes reject the tokens of a disabled application and of a suspended user (64, 74)', async () => {
    const client = await createConfidentialClient(two.db, ['users.manage']);
    const token = await obtainClientToken(two.origin, client, ['users.manage']);
    const status = async (path: string, bearer: string) =>
      (await fetch(two.origin + path, { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect(await requestFourTimes(() => status('/api/v1/users/1', token))).not.toContain(401);
    await two.db.em.fork().execute(`update applications set status = 'disabled' where client_id = ?`, [client.clientId]);
    expect(await requestFourTimes(() => status('/api/v1/users/1', token))).toEqual([401, 401, 401, 401]);
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const again = await fetch(`${two.origin}/oauth/token`, {
      method: 'POST',
      body,
      headers: basicAuthorization(client.clientId, client.secret),
    });
    expect(again.status).toBe(401);

    const anna = await createSignedInUser(two);
    const tokens = await obtainTokens(two.origin, anna, ['users.read']);
    await two.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
    expect(await requestFourTimes(() => fetchApiStatus(two, tokens.access_token))).toEqual([401, 401, 401, 401]);
    expect(await readOAuthError(await sendRefreshRequest(two.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  });

  test('both processes reject the tokens of a grant after the other process has received its code a second time (34, 36)', async () => {
    const granted = await obtainAuthorizationCode(two.origin, await createSignedInUser(two), { scope: 'openid users.read' });
    const tokens = tokenResponseSchema.parse(await (await redeemCode(two.origin, granted)).json());
    expect(await readOAuthError(await redeemCode(two.origin, granted))).toBe('400 invalid_grant');
    expect(await requestFourTimes(() => fetchApiStatus(two, tokens.access_token))).toEqual([401, 401, 401, 401]);
  });

  // this test is last in the file, because it stops one of the processes
  test('a refresh token stays valid when its process is killed between consuming it and saving its successor (61)', async () => {
    const tokens = await obtainTokens(two.origin, await createSignedInUser(two), ['users.read']);
    const em = two.db.em.fork();
    await em.execute(
      `create function planted_delay() returns trigger language plpgsql as $$ begin perform pg_sleep(4); return new; end $$`,
    );
    await em.execute(
      `create trigger planted before insert on oauth_records for each row when (new.model = 'RefreshToken') execute function planted_delay()`,
    );
    two.routeToProcess(1);
    const pendingRefresh = sendRefreshRequest(two.origin, tokens.refresh_token ?? '').then(
      ({ status }) => status,
      () => 'connection closed',
    );
    const spending = () =>
      em.execute<object[]>(`select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`);
    await waitUntil(async () => (await spending()).length > 0);
    await two.processes[1].kill();
    expect(await pendingRefresh).toBe('connection closed');
    two.routeToProcess(0);
    await waitUntil(async () => (await spending()).length === 0);
    await em.execute('drop trigger planted on oauth_records');
    const retried = await sendRefreshRequest(two.origin, tokens.refresh_token ?? '');
    expect(retried.status).toBe(200);
    expect(await fetchApiStatus(two, tokenResponseSchema.parse(await retried.json()).access_token)).toBe(200);
    await expireRefreshGrace(two.db);
    expect(await readOAuthError(await sendRefreshRequest(two.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  });
});
