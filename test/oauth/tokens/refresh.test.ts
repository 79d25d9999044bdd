import { describe, expect, test } from 'vitest';
import { expireRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import {
  sendTokenRequest,
  obtainAuthorizationCode,
  basicAuthorization,
  sendRefreshRequest,
  readOAuthError,
  signIn,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  createWebApplication,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
/** On this server, any second use of a refresh token counts as reuse, because there is no grace period. */
const serverWithoutGrace = useServer({ refreshGraceSeconds: 0 });

const refreshTokenFrom = (tokens: TokenResponse): string => tokens.refresh_token ?? '';
const readTokens = async (response: Response): Promise<TokenResponse> => tokenResponseSchema.parse(await response.json());

test('each refresh returns a new refresh token, even to a confidential application (54)', async () => {
  const anna = await signUp(server.origin);
  const first = await obtainTokens(server.origin, anna, ['users.read']);
  const second = await readTokens(await sendRefreshRequest(server.origin, refreshTokenFrom(first)));
  expect(second.refresh_token).toBeTruthy();
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(await fetchApiStatus(server, second.access_token)).toBe(200);

  const client = await createWebApplication(server.db, ['users.read']);
  const granted = await obtainAuthorizationCode(server.origin, anna, {
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: 'users.read',
  });
  const credentials = basicAuthorization(client.clientId, client.secret);
  const form = { grant_type: 'authorization_code', code: granted.code, code_verifier: granted.verifier, redirect_uri: client.redirectUri };
  const clientTokens = await readTokens(await sendTokenRequest(server.origin, form, credentials));
  const renewed = await readTokens(
    await sendTokenRequest(server.origin, { grant_type: 'refresh_token', refresh_token: refreshTokenFrom(clientTokens) }, credentials),
  );
  expect(renewed.refresh_token).not.toBe(clientTokens.refresh_token);
});

describe('a refresh token used again without a grace period', () => {
  test('is rejected and immediately revokes the grant (55)', async () => {
    const first = await obtainTokens(serverWithoutGrace.origin, await signUp(serverWithoutGrace.origin), ['users.read']);
    const second = await readTokens(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(first)));
    expect(await readOAuthError(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
    expect(await readOAuthError(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(second)))).toBe('400 invalid_grant');
    expect(await fetchApiStatus(serverWithoutGrace, first.access_token)).toBe(401);
    expect(await fetchApiStatus(serverWithoutGrace, second.access_token)).toBe(401);
  });

  test('is detected after two rotations, even within one second (57)', async () => {
    const first = await obtainTokens(serverWithoutGrace.origin, await signUp(serverWithoutGrace.origin), ['users.read']);
    const second = await readTokens(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(first)));
    const third = await readTokens(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(second)));
    expect(await fetchApiStatus(serverWithoutGrace, third.access_token)).toBe(200);
    expect(await readOAuthError(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
    expect(await readOAuthError(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(third)))).toBe('400 invalid_grant');
    expect(await fetchApiStatus(serverWithoutGrace, third.access_token)).toBe(401);
  });
});

test('a refresh token is rejected from another application and stays valid (58)', async () => {
  const first = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
  const client = await createWebApplication(server.db, ['users.read']);
  const form = { grant_type: 'refresh_token', refresh_token: refreshTokenFrom(first) };
  expect(await readOAuthError(await sendTokenRequest(server.origin, form, basicAuthorization(client.clientId, client.secret)))).toBe(
    '400 invalid_grant',
  );
  expect((await sendRefreshRequest(server.origin, refreshTokenFrom(first))).status).toBe(200);
});

test('a refresh may request fewer scopes but not more, and the next refresh may request all again (59)', async () => {
  const first = await obtainTokens(server.origin, await signUp(server.origin), ['users.read', 'orders.read']);
  expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first), { scope: 'users.read orders.write' }))).toBe(
    '400 invalid_scope',
  );
  const narrow = await readTokens(await sendRefreshRequest(server.origin, refreshTokenFrom(first), { scope: 'orders.read' }));
  expect(narrow.scope).toBe('orders.read');
  expect(await fetchApiStatus(server, narrow.access_token)).toBe(403);
  const wide = await readTokens(await sendRefreshRequest(server.origin, refreshTokenFrom(narrow)));
  expect(wide.scope).toBe(first.scope);
  expect(await fetchApiStatus(server, wide.access_token)).toBe(200);
});

test('a refresh for a foreign resource leaves the refresh token valid (60)', async () => {
  const first = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
  expect(
    await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first), { resource: 'https://other.example' })),
  ).toBe('400 invalid_target');
  expect((await sendRefreshRequest(server.origin, refreshTokenFrom(first))).status).toBe(200);
});

test('a refresh token is rejected after its grant has expired, even after a rotation (62)', async () => {
  const first = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
  const second = await readTokens(await sendRefreshRequest(server.origin, refreshTokenFrom(first)));
  const [grant] = await server.db.em
    .fork()
    .execute<{ days: string }[]>(
      `select extract(epoch from max(expires_at) - now()) / 86400 as days from oauth_records where model = 'Grant'`,
    );
  expect(Math.round(Number(grant?.days))).toBe(90);
  await server.db.em.fork().execute(`update oauth_records set expires_at = now() where model = 'Grant'`);
  expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(second)))).toBe('400 invalid_grant');
  expect(await fetchApiStatus(server, second.access_token)).toBe(401);
});

test('two devices of a user have separate grants, and revoking one keeps the other valid (63)', async () => {
  const anna = await signUp(serverWithoutGrace.origin);
  const one = await obtainTokens(serverWithoutGrace.origin, anna, ['users.read']);
  const other = await obtainTokens(serverWithoutGrace.origin, anna, ['users.read']); // authorized in the same browser
  const third = await obtainTokens(serverWithoutGrace.origin, { browser: await signIn(serverWithoutGrace.origin, anna) }, ['users.read']);
  await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(one));
  expect(await readOAuthError(await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(one)))).toBe('400 invalid_grant');
  expect(await fetchApiStatus(serverWithoutGrace, one.access_token)).toBe(401);
  expect(await fetchApiStatus(serverWithoutGrace, other.access_token)).toBe(200);
  expect((await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(other))).status).toBe(200);
  expect((await sendRefreshRequest(serverWithoutGrace.origin, refreshTokenFrom(third))).status).toBe(200);
});

test("a suspended user gets no tokens, and the user's tokens are rejected immediately (64)", async () => {
  const anna = await signUp(server.origin);
  const tokens = await obtainTokens(server.origin, anna, ['users.read']);
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
  expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(tokens)))).toBe('400 invalid_grant');
});

test('the API accepts neither refresh tokens nor ID tokens (65)', async () => {
  const tokens = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
  expect(await fetchApiStatus(server, refreshTokenFrom(tokens))).toBe(401);
  expect(await fetchApiStatus(server, tokens.id_token ?? '')).toBe(401);
});

test('a refresh that fails with a server error leaves the refresh token valid (61)', async () => {
  const first = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
  const em = server.db.em.fork();
  await em.execute(`alter table oauth_records add constraint planted check (model <> 'AccessToken' or consumed_at is not null) not valid`);
  const failed = await sendRefreshRequest(server.origin, refreshTokenFrom(first));
  await em.execute('alter table oauth_records drop constraint planted');
  expect(failed.status).toBe(500);
  expect(await failed.text()).not.toMatch(/planted|constraint|oauth_records|node_modules/);
  expect((await sendRefreshRequest(server.origin, refreshTokenFrom(first))).status).toBe(200);
  await expireRefreshGrace(server.db);
  expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
});
