import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import {
  sendTokenRequest,
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  basicAuthorization,
  cliClient,
  redeemCode,
  sendRefreshRequest,
  readOAuthError,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  createWebApplication,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

test('an access token identifies the user who signed up and allowed the application', async () => {
  const anna = await signUp(server.origin);
  const tokens = await obtainTokens(server.origin, anna, ['users.read', 'orders.read']);
  expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 300, scope: 'openid users.read orders.read' });
  const me = await fetch(`${server.origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  expect(await me.json()).toMatchObject({ id: anna.id, email: anna.email, role: 'customer' });
  expect(server.warnings).toEqual([]);
});

test('the token response lists every granted scope, including openid and offline_access', async () => {
  const anna = await signUp(server.origin);
  const requestedScopes = 'openid profile email offline_access users.read';
  const granted = tokenResponseSchema.parse(
    await (await redeemCode(server.origin, await obtainAuthorizationCode(server.origin, anna, { scope: requestedScopes }))).json(),
  );
  expect(granted.scope?.split(' ').toSorted()).toEqual(requestedScopes.split(' ').toSorted());
  const refreshed = tokenResponseSchema.parse(await (await sendRefreshRequest(server.origin, granted.refresh_token ?? '')).json());
  expect(refreshed.scope).toBe(granted.scope);
});

test('a sign-in without API scopes returns a userinfo token and an ID token with name and e-mail address', async () => {
  const anna = await signUp(server.origin);
  const client = await createWebApplication(server.db, []);
  const granted = await obtainAuthorizationCode(server.origin, anna, {
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: 'openid profile email',
    nonce: 'n-1',
  });
  const response = await sendTokenRequest(
    server.origin,
    { grant_type: 'authorization_code', code: granted.code, code_verifier: granted.verifier, redirect_uri: client.redirectUri },
    basicAuthorization(client.clientId, client.secret),
  );
  const tokens = tokenResponseSchema.parse(await response.json());
  const claims: unknown = JSON.parse(Buffer.from(tokens.id_token?.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({
    iss: server.origin,
    aud: client.clientId,
    sub: String(anna.id),
    nonce: 'n-1',
    name: anna.name,
    email: anna.email,
  });
  const userinfo = await fetch(`${server.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  expect(await userinfo.json()).toMatchObject({ sub: String(anna.id), name: anna.name, email: anna.email });
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
});

describe('an authorization code', () => {
  test('is valid for one use (34), and a replay revokes its access and refresh tokens (36)', async () => {
    const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
    const first = tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json());
    expect(await fetchApiStatus(server, first.access_token)).toBe(200);
    expect(await readOAuthError(await redeemCode(server.origin, granted))).toBe('400 invalid_grant');
    expect(await fetchApiStatus(server, first.access_token)).toBe(401);
    expect(await readOAuthError(await sendRefreshRequest(server.origin, first.refresh_token ?? ''))).toBe('400 invalid_grant');
  });

  test('requires the verifier and stays valid after a wrong verifier (37)', async () => {
    const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin));
    expect(await readOAuthError(await redeemCode(server.origin, { ...granted, verifier: randomBytes(32).toString('base64url') }))).toBe(
      '400 invalid_grant',
    );
    expect(await readOAuthError(await redeemCode(server.origin, { ...granted, verifier: '' }))).toBe('400 invalid_grant');
    expect((await redeemCode(server.origin, granted)).status).toBe(200);
  });

  test('that was issued without a challenge is rejected with a verifier (38)', async () => {
    const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin));
    await server.db.em.fork().execute(
      `update oauth_records set payload = (payload::jsonb - 'codeChallenge' - 'codeChallengeMethod')::text
       where model = 'AuthorizationCode' and consumed_at is null`,
    );
    expect(await readOAuthError(await redeemCode(server.origin, granted))).toBe('400 invalid_grant');
  });

  test('requires the redirect URI of its authorization request, including the port (39)', async () => {
    const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin));
    expect(await readOAuthError(await redeemCode(server.origin, { ...granted, redirectUri: 'http://127.0.0.1:49153/callback' }))).toBe(
      '400 invalid_grant',
    );
    expect((await redeemCode(server.origin, granted)).status).toBe(200);
  });

  test('is rejected from another application, public or authenticated (40)', async () => {
    const anna = await signUp(server.origin);
    const client = await createWebApplication(server.db, ['orders.read']);
    const granted = await obtainAuthorizationCode(server.origin, anna);
    const stolen = {
      grant_type: 'authorization_code',
      code: granted.code,
      code_verifier: granted.verifier,
      redirect_uri: granted.redirectUri,
    };
    expect(await readOAuthError(await sendTokenRequest(server.origin, stolen, basicAuthorization(client.clientId, client.secret)))).toBe(
      '400 invalid_grant',
    );
    const otherGrant = await obtainAuthorizationCode(server.origin, anna, { client_id: client.clientId, redirect_uri: client.redirectUri });
    expect(await readOAuthError(await redeemCode(server.origin, { ...otherGrant, clientId: cliClient.clientId }))).toBe(
      '400 invalid_grant',
    );
    expect((await redeemCode(server.origin, granted)).status).toBe(200);
  });
});

describe('an unredeemed authorization code', () => {
  test('is rejected after a minute (41)', async () => {
    const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin));
    const [record] = await server.db.em
      .fork()
      .execute<{ left: string }[]>(
        `select extract(epoch from expires_at - now()) as left from oauth_records where model = 'AuthorizationCode' and consumed_at is null order by expires_at desc limit 1`,
      );
    expect(Number(record?.left)).toBeLessThanOrEqual(60);
    await server.db.em
      .fork()
      .execute(`update oauth_records set expires_at = now() - interval '1 second' where model = 'AuthorizationCode'`);
    expect(await readOAuthError(await redeemCode(server.origin, granted))).toBe('400 invalid_grant');
  });

  test('stays valid after a request for a foreign resource (42)', async () => {
    const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin));
    const form = {
      grant_type: 'authorization_code',
      code: granted.code,
      code_verifier: granted.verifier,
      redirect_uri: granted.redirectUri,
      client_id: granted.clientId,
    };
    expect(await readOAuthError(await sendTokenRequest(server.origin, { ...form, resource: 'https://other.example' }))).toBe(
      '400 invalid_target',
    );
    expect((await redeemCode(server.origin, granted)).status).toBe(200);
  });
});

test('the code of a suspended user is rejected (64)', async () => {
  const anna = await signUp(server.origin);
  const granted = await obtainAuthorizationCode(server.origin, anna);
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  expect(await readOAuthError(await redeemCode(server.origin, granted))).toBe('400 invalid_grant');
});

test('an authorization code that cannot be stored is not returned', async () => {
  const { em } = server.db;
  const anna = await signUp(server.origin);
  const page = await anna.browser.open(authorizationPath(buildAuthorizationRequest().query));
  await em.fork().execute(`create function refuse_code() returns trigger language plpgsql as 'begin raise exception ''no room''; end'`);
  await em
    .fork()
    .execute(
      `create constraint trigger refuse_code after insert on oauth_records deferrable initially deferred for each row when (new.model = 'AuthorizationCode') execute function refuse_code()`,
    );
  const { response, externalRedirect: leaves } = await anna.browser.submit(page, { decision: 'allow' });
  await em.fork().execute('drop trigger refuse_code on oauth_records');
  expect([response.status, leaves]).toEqual([500, undefined]);
  expect([response.headers.get('location'), response.headers.getSetCookie()]).toEqual([null, []]);
  expect((await obtainTokens(server.origin, anna, ['users.read'])).access_token).not.toBe('');
});
