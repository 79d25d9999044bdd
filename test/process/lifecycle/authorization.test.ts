import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../../server/oauth/accounts/account-store.ts';
import { hashPassword } from '../../../server/oauth/passwords/password-hash.ts';
import { databaseKind } from '../../support/services/database.ts';
import {
  authorize,
  basic,
  clientCredentials,
  commandLine,
  confidentialClient,
  redeem,
  refresh,
  refusal,
  signIn,
  tokenResponse,
  tokensFor,
  type Person,
} from '../../support/oauth/oauth-flow.ts';
import { atOnce, raceForACode, raceForAConsent, raceForASuccessor, rounds } from '../../support/oauth/race.ts';
import { newProofKey, proof } from '../../support/oauth/dpop-proof.ts';
import { endRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { endServerProcesses, temporaryDataDirectory } from '../../support/server/server-process.ts';
import { startTwoProcesses, type TwoProcesses } from '../../support/server/two-processes.ts';
import { apiStatus } from '../../support/server/with-server.ts';

/** Somebody who is signed in. The processes send their mail themselves, so nobody here could sign up by way of it. */
async function member({ db, origin }: TwoProcesses): Promise<Pick<Person, 'id' | 'browser'>> {
  const [email, password] = [`anna.${randomUUID()}@example.com`, `correct horse ${randomUUID()}`];
  const { id } = await createAccount(db.em.fork(), { name: 'Anna Test', email, passwordHash: await hashPassword(password) }, new Date());
  return { id, browser: await signIn(origin, { email, password }) };
}

/** So often that both processes have answered. */
const both = async (ask: () => Promise<number>): Promise<number[]> => [await ask(), await ask(), await ask(), await ask()];

describe.skipIf(databaseKind === 'pglite')('two processes on one PostgreSQL', { timeout: 120_000 }, () => {
  let two: TwoProcesses;
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  beforeAll(async () => {
    data = await temporaryDataDirectory();
    two = await startTwoProcesses(data.path);
  }, 120_000);
  afterAll(async () => {
    await two.close();
    endServerProcesses();
    await data[Symbol.asyncDispose]();
  });

  test('asked twenty times at once with one refresh token: all get one successor (56)', async () => {
    const person = await member(two);
    for (let round = 0; round < rounds; round += 1) {
      const { answers, successors, afterwards } = await raceForASuccessor(two, person);
      expect(answers).toEqual([expect.stringMatching(/^200 /)]);
      expect(successors).toEqual({ received: 1, stored: 1 });
      expect(afterwards).toEqual([200, 400, 400]);
    }
  });

  test('asked twenty times at once with one code: one wins, and its tokens are dead (35, 36)', async () => {
    const person = await member(two);
    for (let round = 0; round < rounds; round += 1) {
      const { winners, refusals, alive } = await raceForACode(two, person);
      expect(winners).toHaveLength(1);
      expect(refusals).toEqual(Array.from({ length: atOnce - 1 }, () => '400 invalid_grant'));
      expect(alive).toBe(0);
    }
  });

  test('asked five times at once with one consent: one code (33)', async () => {
    const person = await member(two);
    for (let round = 0; round < rounds; round += 1) expect(await raceForAConsent(two, person)).toHaveLength(1);
  });

  test('asked with one proof at once: one of them takes it (82)', async () => {
    const key = await newProofKey();
    const { code, verifier, redirectUri, clientId } = await authorize(two.origin, await member(two), { scope: 'openid users.read' });
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      client_id: clientId,
    });
    const url = `${two.origin}/oauth/token`;
    const response = await fetch(url, { method: 'POST', body, headers: { dpop: await proof(key, { method: 'POST', url }) } });
    const { access_token: token } = tokenResponse.parse(await response.json());
    const me = `${two.origin}/api/v1/users/me`;
    const headers = { authorization: `DPoP ${token}`, dpop: await proof(key, { method: 'GET', url: me, token }) };
    const answers = await Promise.all(Array.from({ length: atOnce }, async () => (await fetch(me, { headers })).status));
    expect(answers.filter((status) => status === 200)).toHaveLength(1);
  });

  test('stop what one of them was told to stop: a refresh token (66), an access token (67)', async () => {
    for (const what of ['refresh_token', 'access_token'] as const) {
      const tokens = await tokensFor(two.origin, await member(two), ['users.read']);
      expect(await both(() => apiStatus(two, tokens.access_token))).toEqual([200, 200, 200, 200]);
      const body = new URLSearchParams({ client_id: commandLine.clientId, token: tokens[what] ?? '' });
      expect((await fetch(`${two.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
      expect(await both(() => apiStatus(two, tokens.access_token))).toEqual([401, 401, 401, 401]);
    }
  });

  test('stop everything of an application or a person who was stopped (64, 74)', async () => {
    const client = await confidentialClient(two.db, ['users.manage']);
    const token = await clientCredentials(two.origin, client, ['users.manage']);
    const status = async (path: string, bearer: string) =>
      (await fetch(two.origin + path, { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect(await both(() => status('/api/v1/users/1', token))).not.toContain(401);
    await two.db.em.fork().execute(`update applications set status = 'disabled' where client_id = ?`, [client.clientId]);
    expect(await both(() => status('/api/v1/users/1', token))).toEqual([401, 401, 401, 401]);
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const again = await fetch(`${two.origin}/oauth/token`, { method: 'POST', body, headers: basic(client.clientId, client.secret) });
    expect(again.status).toBe(401);

    const anna = await member(two);
    const tokens = await tokensFor(two.origin, anna, ['users.read']);
    await two.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
    expect(await both(() => apiStatus(two, tokens.access_token))).toEqual([401, 401, 401, 401]);
    expect(await refusal(await refresh(two.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  });

  test('end a grant in both when a code comes back to the other one (34, 36)', async () => {
    const granted = await authorize(two.origin, await member(two), { scope: 'openid users.read' });
    const tokens = tokenResponse.parse(await (await redeem(two.origin, granted)).json());
    expect(await refusal(await redeem(two.origin, granted))).toBe('400 invalid_grant');
    expect(await both(() => apiStatus(two, tokens.access_token))).toEqual([401, 401, 401, 401]);
  });

  // the last one: it takes one of the processes away
  test('lose nothing when one is killed between spending a refresh token and saving the next (61)', async () => {
    const tokens = await tokensFor(two.origin, await member(two), ['users.read']);
    const em = two.db.em.fork();
    await em.execute(
      `create function planted_delay() returns trigger language plpgsql as $$ begin perform pg_sleep(4); return new; end $$`,
    );
    await em.execute(
      `create trigger planted before insert on oauth_records for each row when (new.model = 'RefreshToken') execute function planted_delay()`,
    );
    two.only(1);
    const cut = refresh(two.origin, tokens.refresh_token ?? '').then(
      ({ status }) => status,
      () => 'cut off',
    );
    const spending = () =>
      em.execute<object[]>(`select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`);
    while ((await spending()).length === 0) await sleep(20);
    await two.processes[1].kill();
    expect(await cut).toBe('cut off');
    two.only(0);
    while ((await spending()).length > 0) await sleep(50);
    await em.execute('drop trigger planted on oauth_records');
    const retried = await refresh(two.origin, tokens.refresh_token ?? '');
    expect(retried.status).toBe(200);
    expect(await apiStatus(two, tokenResponse.parse(await retried.json()).access_token)).toBe(200);
    await endRefreshGrace(two.db);
    expect(await refusal(await refresh(two.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  });
});
