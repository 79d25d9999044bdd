import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { deleteExpiredOauthRecordsBatch } from '../../../server/oauth/storage/delete-expired-and-orphaned-oauth-rows.sql.ts';
import { createDpopKey, createDpopProof, type DpopKey } from '../../support/oauth/dpop-proof.ts';
import { expireRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import {
  sendTokenRequest,
  obtainAuthorizationCode,
  cliClient,
  sendRefreshRequest,
  readOAuthError,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
let key: DpopKey;
let tokens: TokenResponse;
let me: string;

async function issueBoundTokens(dpopKey = key): Promise<TokenResponse> {
  const { code, verifier, redirectUri, clientId } = await obtainAuthorizationCode(server.origin, await signUp(server.origin), {
    scope: 'openid users.read',
  });
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
  const response = await sendTokenRequest(server.origin, form, { dpop: await createDpopProof(dpopKey, atTokenEndpoint()) });
  return tokenResponseSchema.parse(await response.json());
}
const atTokenEndpoint = () => ({ method: 'POST', url: `${server.origin}/oauth/token` });

beforeAll(async () => {
  key = await createDpopKey();
  tokens = await issueBoundTokens();
  me = `${server.origin}/api/v1/users/me`;
});

const callApi = (dpop: string | undefined, { token = tokens.access_token, scheme = 'DPoP' } = {}): Promise<Response> =>
  fetch(me, { headers: { authorization: `${scheme} ${token}`, ...(dpop !== undefined && { dpop }) } });

/** Sends copies of a request on one connection without waiting for responses (HTTP pipelining), so that the server verifies them concurrently. */
async function sendInOnePacket(copies: number, dpop: string): Promise<number[]> {
  const { host, hostname, port, pathname } = new URL(me);
  const head = (last: boolean): string =>
    `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: DPoP ${tokens.access_token}\r\nDPoP: ${dpop}\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
  const socket = connect(Number(port), hostname);
  socket.write(Array.from({ length: copies }, (_, index) => head(index === copies - 1)).join(''));
  return [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

const validProofClaims = () => ({ method: 'GET', url: me, token: tokens.access_token });

test('a token that was requested with a proof is bound to its key and accepted with a proof of that key (82)', async () => {
  expect(tokens.token_type).toBe('DPoP');
  expect(decodeJwt(tokens.access_token)['cnf']).toEqual({ jkt: expect.any(String) });
  expect((await callApi(await createDpopProof(key, validProofClaims()))).status).toBe(200);
  // `htu` is compared without the query
  expect((await callApi(await createDpopProof(key, { ...validProofClaims(), url: `${me}?x=1` }))).status).toBe(200);
});

describe('a client whose clock is wrong', () => {
  const wrongTime = { iat: Math.floor(Date.now() / 1000) - 86_400 };

  test('gets a nonce from the API, and is accepted with it', async () => {
    const rejected = await callApi(await createDpopProof(key, validProofClaims(), wrongTime));
    expect(rejected.status).toBe(401);
    expect(rejected.headers.get('www-authenticate')).toMatch(/^DPoP realm="api", error="use_dpop_nonce", .*algs="ES256/);
    expect(rejected.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce');
    expect(await rejected.json()).toMatchObject({ code: 'invalid_token', detail: expect.stringContaining('`DPoP-Nonce`') });
    const nonce = rejected.headers.get('dpop-nonce') ?? '';
    expect(nonce).toMatch(/^[\w-]{43}$/);
    const proof = await createDpopProof(key, validProofClaims(), { ...wrongTime, nonce });
    expect((await callApi(proof)).status).toBe(200);
    // as long as the nonce is accepted, the proof is accepted only once, like a proof without a nonce
    while ((await deleteExpiredOauthRecordsBatch(server.db.em.fork(), new Date())) > 0);
    const replayed = await callApi(proof);
    expect([replayed.status, replayed.headers.get('dpop-nonce')]).toEqual([401, null]);
    const tokenProof = await createDpopProof(key, validProofClaims(), { ...wrongTime, nonce: `${nonce.slice(1)}A` });
    expect((await callApi(tokenProof)).headers.get('dpop-nonce')).toBe(nonce);
  });

  test('gets no nonce for a proof that is invalid for another reason', async () => {
    const otherKey = await createDpopKey();
    for (const proof of [
      await createDpopProof(otherKey, validProofClaims(), wrongTime),
      await createDpopProof(key, validProofClaims(), { ...wrongTime, htm: 'POST' }),
    ])
      expect((await callApi(proof)).headers.get('dpop-nonce')).toBeNull();
  });

  test('gets a nonce from the token endpoint, and its code remains valid', async () => {
    const { code, verifier, redirectUri, clientId } = await obtainAuthorizationCode(server.origin, await signUp(server.origin), {
      scope: 'openid users.read',
    });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
    const rejected = await sendTokenRequest(server.origin, form, { dpop: await createDpopProof(key, atTokenEndpoint(), wrongTime) });
    const nonce = rejected.headers.get('dpop-nonce') ?? '';
    expect(nonce).not.toBe('');
    expect(await readOAuthError(rejected)).toBe('400 use_dpop_nonce');
    const dpop = await createDpopProof(key, atTokenEndpoint(), { ...wrongTime, nonce });
    expect((await sendTokenRequest(server.origin, form, { dpop })).status).toBe(200);
  });
});

describe('a bound token is rejected with 401 (82)', () => {
  test('as a Bearer token, with and without a proof', async () => {
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
    expect((await callApi(await createDpopProof(key, validProofClaims()), { scheme: 'Bearer' })).status).toBe(401);
  });

  test('without a proof or with a malformed proof', async () => {
    expect((await callApi(undefined)).status).toBe(401);
    for (const dpop of ['x', 'a.b.c', tokens.access_token, `${await createDpopProof(key, validProofClaims())}x`])
      expect((await callApi(dpop)).status).toBe(401);
  });

  test('with a proof that was used before, sequentially or concurrently', async () => {
    const once = await createDpopProof(key, validProofClaims());
    expect((await callApi(once)).status).toBe(200);
    expect((await callApi(once)).status).toBe(401);
    const other = await createDpopProof(key, validProofClaims());
    const responses = await Promise.all(Array.from({ length: 20 }, async () => (await callApi(other)).status));
    expect(responses.filter((status) => status === 200)).toHaveLength(1);
    expect(responses.filter((status) => status === 401)).toHaveLength(19);
  });

  test('with a proof that many requests in the same network packet contain', async () => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const statuses = await sendInOnePacket(20, await createDpopProof(key, validProofClaims()));
      expect([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 401).length]).toEqual([1, 19]);
    }
  });

  test.each([
    ['for another method', { htm: 'POST' }],
    ['for another host', { htu: 'https://elsewhere.example/api/v1/users/me' }],
    ['with a relative URL', { htu: '/api/v1/users/me' }],
    ['for another token', { ath: 'AAAA' }],
    ['without a token hash', { ath: undefined }],
    ['without jti', { jti: undefined }],
    ['from ten minutes ago', { iat: Math.floor(Date.now() / 1000) - 600 }],
    ['from ten minutes in the future', { iat: Math.floor(Date.now() / 1000) + 600 }],
    ['without iat', { iat: undefined }],
  ])('with a proof %s', async (_case, change) => {
    expect((await callApi(await createDpopProof(key, validProofClaims(), change))).status).toBe(401);
  });

  test('with a proof of another key, even if its header contains the bound key', async () => {
    const other = await createDpopKey();
    expect((await callApi(await createDpopProof(other, validProofClaims()))).status).toBe(401);
    expect((await callApi(await createDpopProof({ ...other, jwk: key.jwk }, validProofClaims()))).status).toBe(401);
    expect((await callApi(await createDpopProof(key, validProofClaims(), {}, { typ: 'JWT' }))).status).toBe(401);
  });

  test('with a proof of a key that was accepted a moment ago with another token', async () => {
    const stolen = tokens.access_token;
    const ownKey = await createDpopKey();
    const { access_token: own } = await issueBoundTokens(ownKey);
    const prove = (token: string) => createDpopProof(ownKey, { method: 'GET', url: me, token });
    expect((await callApi(await prove(own), { token: own })).status).toBe(200);
    expect((await callApi(await prove(stolen), { token: stolen })).status).toBe(401);
    expect((await callApi(await prove(own), { token: own })).status).toBe(200);
  });

  test('and a challenge that names the supported algorithms', async () => {
    const challenge = (await callApi(undefined)).headers.get('www-authenticate');
    expect(challenge).toMatch(/DPoP realm="api", error="invalid_token".*algs="ES256/);
  });
});

test('an unbound token is rejected with a proof and accepted as a Bearer token', async () => {
  const unboundTokens = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
  expect(
    (
      await callApi(await createDpopProof(key, { ...validProofClaims(), token: unboundTokens.access_token }), {
        token: unboundTokens.access_token,
      })
    ).status,
  ).toBe(401);
  expect(await fetchApiStatus(server, unboundTokens.access_token)).toBe(200);
});

test('the refresh token of a public application is bound to the same key', async () => {
  const first = await issueBoundTokens();
  const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '', client_id: cliClient.clientId };
  expect(await readOAuthError(await sendRefreshRequest(server.origin, first.refresh_token ?? ''))).toBe('400 invalid_grant');
  const proofOfOtherKey = await createDpopProof(await createDpopKey(), atTokenEndpoint());
  expect(await readOAuthError(await sendTokenRequest(server.origin, form, { dpop: proofOfOtherKey }))).toBe('400 invalid_grant');
  const dpop = await createDpopProof(key, atTokenEndpoint());
  expect((await sendTokenRequest(server.origin, form, { dpop })).status).toBe(200);
});

test('the token endpoint accepts a proof once, sequentially or concurrently', async () => {
  const dpop = await createDpopProof(key, atTokenEndpoint());
  const authorizationCodeForm = async () => {
    const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
    const { code, verifier, redirectUri, clientId } = granted;
    return { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
  };
  const forms = [
    await authorizationCodeForm(),
    await authorizationCodeForm(),
    await authorizationCodeForm(),
    await authorizationCodeForm(),
  ];
  const responses = await Promise.all(forms.map((form) => sendTokenRequest(server.origin, form, { dpop })));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 400)).toHaveLength(3);
  expect((await sendTokenRequest(server.origin, await authorizationCodeForm(), { dpop })).status).toBe(400);
  expect(server.warnings).toEqual([]);
});

test('introspection returns the key thumbprint', async () => {
  const body = new URLSearchParams({ client_id: cliClient.clientId, token: tokens.access_token });
  const introspection: unknown = await (await fetch(`${server.origin}/oauth/introspection`, { method: 'POST', body })).json();
  expect(introspection).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt: expect.any(String) } });
});

describe('a refresh token that is bound to a key', () => {
  const refreshBoundTokens = async (refreshToken: string): Promise<TokenResponse> => {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: cliClient.clientId };
    return tokenResponseSchema.parse(
      await (await sendTokenRequest(server.origin, form, { dpop: await createDpopProof(key, atTokenEndpoint()) })).json(),
    );
  };

  test('can be reused, so that a client can retry after a lost response', async () => {
    const { refresh_token: first = '' } = await issueBoundTokens();
    const renewed = [await refreshBoundTokens(first), await refreshBoundTokens(first)];
    expect(renewed.map(({ refresh_token }) => refresh_token)).toEqual([first, first]);
    for (const { access_token: token } of renewed)
      expect((await callApi(await createDpopProof(key, { method: 'GET', url: me, token }), { token })).status).toBe(200);
  });

  test('is rotated close to its expiry, after which reuse revokes the grant', async () => {
    const { refresh_token: first = '' } = await issueBoundTokens();
    // simulates a token that was issued 11 days ago and expires after 14 days
    const days = (claim: string): string => `'${claim}', (payload::jsonb->>'${claim}')::bigint - 11 * 86400`;
    const agedPayload = `(payload::jsonb || jsonb_build_object(${days('iat')}, ${days('exp')}))::text`;
    await server.db.em.fork().execute(`update oauth_records set payload = ${agedPayload} where model = 'RefreshToken'`);
    const { refresh_token: second = '' } = await refreshBoundTokens(first);
    expect(second).not.toBe(first);
    await expireRefreshGrace(server.db);
    await expect(refreshBoundTokens(first)).rejects.toThrow('access_token');
    await expect(refreshBoundTokens(second)).rejects.toThrow('access_token');
  });
});
