import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { scopeNames } from '@mandate/contract';
import { pollDeviceToken, startDeviceAuthorization, approveDevice, expirePollIntervalSql } from '../../support/oauth/device-flow.ts';
import { createDpopKey, createDpopProof } from '../../support/oauth/dpop-proof.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import {
  sendTokenRequest,
  obtainAuthorizationCode,
  basicAuthorization,
  obtainClientToken,
  cliClient,
  createConfidentialClient,
  redeemCode,
  sendRefreshRequest,
  signUp,
  signUpWithRole,
  tokenResponseSchema,
  createWebApplication,
  type TestUser,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const scope = 'openid profile email users.read orders.read';

const fetchUserinfo = (token: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${token}`, ...headers } });

const readTokens = async (response: Promise<Response>): Promise<TokenResponse> => tokenResponseSchema.parse(await (await response).json());

const requestTokens = async (person: TestUser, requested = scope): Promise<TokenResponse> =>
  readTokens(redeemCode(server.origin, await obtainAuthorizationCode(server.origin, person, { scope: requested })));

/** Returns the claims about the user that the userinfo response and an ID token must contain. */
const expectedClaims = ({ id, name, email }: TestUser) => ({
  sub: String(id),
  name,
  email,
  email_verified: true,
  updated_at: expect.any(Number),
});

/** Returns the response status and the error code in the `WWW-Authenticate` challenge. */
async function statusAndError(response: Response): Promise<[number, string | undefined]> {
  return [response.status, /error="(\w+)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1]];
}

let anna: TestUser;
let administrator: TestUser;
beforeAll(async () => {
  anna = await signUp(server.origin);
  administrator = await signUpWithRole(server.db, server.origin, 'admin');
});

describe('the API and the userinfo endpoint accept the same token', () => {
  /** Returns the API response's status, and the userinfo response's status and body. */
  const resultsAtBoth = async (token: string): Promise<unknown> => {
    const response = await fetchUserinfo(token);
    return [await fetchApiStatus(server, token), response.status, await response.json()];
  };
  const expectedResults = (person: TestUser): unknown => [200, 200, expectedClaims(person)];

  test('from an authorization code, with the same claims in the ID token', async () => {
    const { access_token: token, id_token: idToken = '' } = await requestTokens(anna);
    expect(await resultsAtBoth(token)).toEqual(expectedResults(anna));
    expect(decodeJwt(idToken)).toMatchObject(expectedClaims(anna));
    expect(decodeJwt(token)).toMatchObject({ aud: `${server.origin}/api`, scope });
  });

  test('from a refresh token', async () => {
    const { refresh_token: refreshToken = '' } = await requestTokens(anna);
    const renewed = await readTokens(sendRefreshRequest(server.origin, refreshToken));
    expect(await resultsAtBoth(renewed.access_token)).toEqual(expectedResults(anna));
    expect(decodeJwt(renewed.id_token ?? '')).toMatchObject(expectedClaims(anna));
  });

  test('from a device code', async () => {
    const device = await startDeviceAuthorization(server.origin, scope);
    await approveDevice(anna, device.user_code);
    await server.db.em.fork().execute(expirePollIntervalSql);
    expect(await resultsAtBoth((await readTokens(pollDeviceToken(server.origin, device.device_code))).access_token)).toEqual(
      expectedResults(anna),
    );
  });

  test('of a confidential application, by GET and POST', async () => {
    const client = await createWebApplication(server.db, ['users.read', 'orders.read']);
    const granted = await obtainAuthorizationCode(server.origin, anna, {
      client_id: client.clientId,
      redirect_uri: client.redirectUri,
      scope,
    });
    const form = {
      grant_type: 'authorization_code',
      code: granted.code,
      code_verifier: granted.verifier,
      redirect_uri: client.redirectUri,
    };
    const { access_token: token } = await readTokens(
      sendTokenRequest(server.origin, form, basicAuthorization(client.clientId, client.secret)),
    );
    expect(await resultsAtBoth(token)).toEqual(expectedResults(anna));
    const postedForm = { method: 'POST', body: new URLSearchParams({ access_token: token }) };
    expect(await (await fetch(`${server.origin}/oauth/userinfo`, postedForm)).json()).toEqual(expectedClaims(anna));
  });

  test('bound to a key, with a new proof for each request', async () => {
    const key = await createDpopKey();
    const { code, verifier } = await obtainAuthorizationCode(server.origin, anna, { scope });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: cliClient.redirectUri };
    const dpop = await createDpopProof(key, { method: 'POST', url: `${server.origin}/oauth/token` });
    const { access_token: token } = await readTokens(sendTokenRequest(server.origin, { ...form, client_id: cliClient.clientId }, { dpop }));
    const proofFor = (url: string, proofKey = key) => createDpopProof(proofKey, { method: 'GET', url, token });
    const authorization = `DPoP ${token}`;
    const userUrl = `${server.origin}/api/v1/users/me`;
    const userinfoUrl = `${server.origin}/oauth/userinfo`;
    expect((await fetch(userUrl, { headers: { authorization, dpop: await proofFor(userUrl) } })).status).toBe(200);
    const usedProof = await proofFor(userinfoUrl);
    expect(await (await fetchUserinfo(token, { authorization, dpop: usedProof })).json()).toEqual(expectedClaims(anna));
    const refused = [
      fetchUserinfo(token),
      fetchUserinfo(token, { authorization }),
      fetchUserinfo(token, { authorization, dpop: usedProof }),
      fetchUserinfo(token, { authorization, dpop: await proofFor(userUrl) }),
      fetchUserinfo(token, { authorization, dpop: await proofFor(userinfoUrl, await createDpopKey()) }),
    ];
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([401, 400, 401, 401, 401]);
  });

  test.each(scopeNames)('with the scope %s', async (name) => {
    const { access_token: token } = await requestTokens(administrator, `openid profile email users.read ${name}`);
    expect(await resultsAtBoth(token)).toEqual(expectedResults(administrator));
  });
});

test('the userinfo response has only the claims of the granted scopes', async () => {
  const claims = async (requested: string): Promise<unknown> =>
    (await fetchUserinfo((await requestTokens(anna, requested)).access_token)).json();
  expect(await claims('openid orders.read')).toEqual({ sub: String(anna.id) });
  expect(await claims('openid email orders.read')).toEqual({ sub: String(anna.id), email: anna.email, email_verified: true });
  const { refresh_token: refreshToken = '' } = await requestTokens(anna);
  const narrower = await readTokens(sendRefreshRequest(server.origin, refreshToken, { scope: 'openid orders.read' }));
  expect(await (await fetchUserinfo(narrower.access_token)).json()).toEqual({ sub: String(anna.id) });
});

describe('userinfo rejects a token without openid with 403 insufficient_scope', () => {
  const forbidden = [403, 'insufficient_scope'];

  test('when openid was not requested', async () => {
    expect(await statusAndError(await fetchUserinfo((await requestTokens(anna, 'users.read')).access_token))).toEqual(forbidden);
  });

  test('when the refresh request omitted openid', async () => {
    const { refresh_token: refreshToken = '' } = await requestTokens(anna);
    const { access_token: token } = await readTokens(sendRefreshRequest(server.origin, refreshToken, { scope: 'email users.read' }));
    expect(await statusAndError(await fetchUserinfo(token))).toEqual(forbidden);
    expect(await fetchApiStatus(server, token)).toBe(200);
  });

  test('when the token is from client credentials', async () => {
    const client = await createConfidentialClient(server.db, ['orders.read']);
    const response = await fetchUserinfo(await obtainClientToken(server.origin, client, ['orders.read']));
    expect(await statusAndError(response)).toEqual(forbidden);
    expect(response.headers.get('www-authenticate')).toContain('scope="openid"');
  });
});

describe('userinfo rejects a token with 401 invalid_token', () => {
  const unauthorized = [401, 'invalid_token'];

  test('when the audience is /mcp', async () => {
    const resource = { resource: `${server.origin}/mcp` };
    const granted = await obtainAuthorizationCode(server.origin, anna, { scope, ...resource });
    const { access_token: token } = await readTokens(redeemCode(server.origin, granted));
    expect(decodeJwt(token).aud).toBe(resource.resource);
    expect(await statusAndError(await fetchUserinfo(token))).toEqual(unauthorized);
  });

  test('when its claims were changed', async () => {
    const { access_token: token } = await requestTokens(anna, 'users.read');
    const [head, , signature] = token.split('.');
    const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token), scope })).toString('base64url');
    expect(await statusAndError(await fetchUserinfo(`${head}.${claims}.${signature}`))).toEqual(unauthorized);
  });

  test.each<[string, (tokens: TokenResponse, person: TestUser) => Promise<unknown>]>([
    ['the token was revoked', ({ access_token: token }) => revoke(token)],
    ['the refresh token was revoked', ({ refresh_token: token = '' }) => revoke(token)],
    ['the grant was revoked', () => execute(`delete from oauth_records where model = 'Grant'`)],
    ['the user is suspended', (_, { id }) => execute(`update users set status = 'suspended' where id = ${id}`)],
    [
      'the token has expired',
      () => execute(`update oauth_records set expires_at = now() - interval '1 second' where model = 'AccessToken'`),
    ],
  ])('when %s', async (_, revokeAccess) => {
    const person = await signUp(server.origin);
    const tokens = await requestTokens(person);
    expect((await fetchUserinfo(tokens.access_token)).status).toBe(200);
    await revokeAccess(tokens, person);
    expect(await statusAndError(await fetchUserinfo(tokens.access_token))).toEqual(unauthorized);
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
  });

  const execute = (sql: string): Promise<unknown> => server.db.em.fork().execute(sql);
  const revoke = (token: string): Promise<unknown> =>
    fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body: new URLSearchParams({ token, client_id: cliClient.clientId }) });
});
