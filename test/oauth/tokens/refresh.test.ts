import { describe, expect, test } from 'vitest';
import { endRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import {
  askForTokens,
  authorize,
  basic,
  refresh,
  refusal,
  signIn,
  signUp,
  tokenResponse,
  tokensFor,
  webApplication,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
/** Where a refresh token that has been used is reuse at once. */
const strict = useServer({ refreshGraceSeconds: 0 });

const refreshTokenOf = (tokens: TokenResponse): string => tokens.refresh_token ?? '';
const read = async (response: Response): Promise<TokenResponse> => tokenResponse.parse(await response.json());

test('each refresh gives a new refresh token, also to an application with a secret (54)', async () => {
  const anna = await signUp(server.origin);
  const first = await tokensFor(server.origin, anna, ['users.read']);
  const second = await read(await refresh(server.origin, refreshTokenOf(first)));
  expect(second.refresh_token).toBeTruthy();
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(await apiStatus(server, second.access_token)).toBe(200);

  const client = await webApplication(server.db, ['users.read']);
  const granted = await authorize(server.origin, anna, {
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: 'users.read',
  });
  const credentials = basic(client.clientId, client.secret);
  const form = { grant_type: 'authorization_code', code: granted.code, code_verifier: granted.verifier, redirect_uri: client.redirectUri };
  const theirs = await read(await askForTokens(server.origin, form, credentials));
  const renewed = await read(
    await askForTokens(server.origin, { grant_type: 'refresh_token', refresh_token: refreshTokenOf(theirs) }, credentials),
  );
  expect(renewed.refresh_token).not.toBe(theirs.refresh_token);
});

describe('a refresh token used again without a grace period', () => {
  test('is refused, and everything of its grant is dead at once (55)', async () => {
    const first = await tokensFor(strict.origin, await signUp(strict.origin), ['users.read']);
    const second = await read(await refresh(strict.origin, refreshTokenOf(first)));
    expect(await refusal(await refresh(strict.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
    expect(await refusal(await refresh(strict.origin, refreshTokenOf(second)))).toBe('400 invalid_grant');
    expect(await apiStatus(strict, first.access_token)).toBe(401);
    expect(await apiStatus(strict, second.access_token)).toBe(401);
  });

  test('is noticed two generations later too, and two rotations within a second are told apart (57)', async () => {
    const first = await tokensFor(strict.origin, await signUp(strict.origin), ['users.read']);
    const second = await read(await refresh(strict.origin, refreshTokenOf(first)));
    const third = await read(await refresh(strict.origin, refreshTokenOf(second)));
    expect(await apiStatus(strict, third.access_token)).toBe(200);
    expect(await refusal(await refresh(strict.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
    expect(await refusal(await refresh(strict.origin, refreshTokenOf(third)))).toBe('400 invalid_grant');
    expect(await apiStatus(strict, third.access_token)).toBe(401);
  });
});

test('a refresh token of another application is refused and stays good for its own (58)', async () => {
  const first = await tokensFor(server.origin, await signUp(server.origin), ['users.read']);
  const client = await webApplication(server.db, ['users.read']);
  const form = { grant_type: 'refresh_token', refresh_token: refreshTokenOf(first) };
  expect(await refusal(await askForTokens(server.origin, form, basic(client.clientId, client.secret)))).toBe('400 invalid_grant');
  expect((await refresh(server.origin, refreshTokenOf(first))).status).toBe(200);
});

test('fewer scopes can be had, more cannot, and the next refresh may return to all (59)', async () => {
  const first = await tokensFor(server.origin, await signUp(server.origin), ['users.read', 'orders.read']);
  expect(await refusal(await refresh(server.origin, refreshTokenOf(first), { scope: 'users.read orders.write' }))).toBe(
    '400 invalid_scope',
  );
  const narrow = await read(await refresh(server.origin, refreshTokenOf(first), { scope: 'orders.read' }));
  expect(narrow.scope).toBe('orders.read');
  expect(await apiStatus(server, narrow.access_token)).toBe(403);
  const wide = await read(await refresh(server.origin, refreshTokenOf(narrow)));
  expect(wide.scope).toBe(first.scope);
  expect(await apiStatus(server, wide.access_token)).toBe(200);
});

test('a refresh for a foreign resource leaves the token as it was (60)', async () => {
  const first = await tokensFor(server.origin, await signUp(server.origin), ['users.read']);
  expect(await refusal(await refresh(server.origin, refreshTokenOf(first), { resource: 'https://other.example' }))).toBe(
    '400 invalid_target',
  );
  expect((await refresh(server.origin, refreshTokenOf(first))).status).toBe(200);
});

test('a refresh ends when what the person agreed to ends, however often it was renewed (62)', async () => {
  const first = await tokensFor(server.origin, await signUp(server.origin), ['users.read']);
  const second = await read(await refresh(server.origin, refreshTokenOf(first)));
  const [grant] = await server.db.em
    .fork()
    .execute<{ days: string }[]>(
      `select extract(epoch from max(expires_at) - now()) / 86400 as days from oauth_records where model = 'Grant'`,
    );
  expect(Math.round(Number(grant?.days))).toBe(90);
  await server.db.em.fork().execute(`update oauth_records set expires_at = now() where model = 'Grant'`);
  expect(await refusal(await refresh(server.origin, refreshTokenOf(second)))).toBe('400 invalid_grant');
  expect(await apiStatus(server, second.access_token)).toBe(401);
});

test('two devices of one person are apart: ending one leaves the other (63)', async () => {
  const anna = await signUp(strict.origin);
  const one = await tokensFor(strict.origin, anna, ['users.read']);
  const other = await tokensFor(strict.origin, anna, ['users.read']); // from the same browser, too
  const third = await tokensFor(strict.origin, { browser: await signIn(strict.origin, anna) }, ['users.read']);
  await refresh(strict.origin, refreshTokenOf(one));
  expect(await refusal(await refresh(strict.origin, refreshTokenOf(one)))).toBe('400 invalid_grant');
  expect(await apiStatus(strict, one.access_token)).toBe(401);
  expect(await apiStatus(strict, other.access_token)).toBe(200);
  expect((await refresh(strict.origin, refreshTokenOf(other))).status).toBe(200);
  expect((await refresh(strict.origin, refreshTokenOf(third))).status).toBe(200);
});

test('a person who was stopped gets no tokens, and the ones there are end at once (64)', async () => {
  const anna = await signUp(server.origin);
  const tokens = await tokensFor(server.origin, anna, ['users.read']);
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  expect(await apiStatus(server, tokens.access_token)).toBe(401);
  expect(await refusal(await refresh(server.origin, refreshTokenOf(tokens)))).toBe('400 invalid_grant');
});

test('neither a refresh token nor an ID token opens the API (65)', async () => {
  const tokens = await tokensFor(server.origin, await signUp(server.origin), ['users.read']);
  expect(await apiStatus(server, refreshTokenOf(tokens))).toBe(401);
  expect(await apiStatus(server, tokens.id_token ?? '')).toBe(401);
});

test('a refresh that fails inside keeps the old token good (61)', async () => {
  const first = await tokensFor(server.origin, await signUp(server.origin), ['users.read']);
  const em = server.db.em.fork();
  await em.execute(`alter table oauth_records add constraint planted check (model <> 'AccessToken' or consumed_at is not null) not valid`);
  const failed = await refresh(server.origin, refreshTokenOf(first));
  await em.execute('alter table oauth_records drop constraint planted');
  expect(failed.status).toBe(500);
  expect(await failed.text()).not.toMatch(/planted|constraint|oauth_records|node_modules/);
  expect((await refresh(server.origin, refreshTokenOf(first))).status).toBe(200);
  await endRefreshGrace(server.db);
  expect(await refusal(await refresh(server.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
});
