import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { newProofKey, proof, type ProofKey } from '../../support/oauth/dpop-proof.ts';
import { endRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import {
  askForTokens,
  authorize,
  commandLine,
  refresh,
  refusal,
  signUp,
  tokenResponse,
  tokensFor,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
let key: ProofKey;
let tokens: TokenResponse;
let me: string;

async function issue(): Promise<TokenResponse> {
  const { code, verifier, redirectUri, clientId } = await authorize(server.origin, await signUp(server.origin), {
    scope: 'openid users.read',
  });
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
  const response = await askForTokens(server.origin, form, { dpop: await proof(key, atTokenEndpoint()) });
  return tokenResponse.parse(await response.json());
}
const atTokenEndpoint = () => ({ method: 'POST', url: `${server.origin}/oauth/token` });

beforeAll(async () => {
  key = await newProofKey();
  tokens = await issue();
  me = `${server.origin}/api/v1/users/me`;
});

const call = (dpop: string | undefined, { token = tokens.access_token, scheme = 'DPoP' } = {}): Promise<Response> =>
  fetch(me, { headers: { authorization: `${scheme} ${token}`, ...(dpop !== undefined && { dpop }) } });
const good = () => ({ method: 'GET', url: me, token: tokens.access_token });

test('a token that was asked for with a proof names its key, and works with a proof of that key (82)', async () => {
  expect(tokens.token_type).toBe('DPoP');
  expect(decodeJwt(tokens.access_token)['cnf']).toEqual({ jkt: expect.any(String) });
  expect((await call(await proof(key, good()))).status).toBe(200);
  expect((await call(await proof(key, { ...good(), url: `${me}?x=1` }))).status).toBe(200); // the query is not looked at
});

describe('it is refused with 401 (82)', () => {
  test('as Bearer, with and without a proof', async () => {
    expect(await apiStatus(server, tokens.access_token)).toBe(401);
    expect((await call(await proof(key, good()), { scheme: 'Bearer' })).status).toBe(401);
  });

  test('without a proof, or with something else', async () => {
    expect((await call(undefined)).status).toBe(401);
    for (const dpop of ['x', 'a.b.c', tokens.access_token, `${await proof(key, good())}x`]) expect((await call(dpop)).status).toBe(401);
  });

  test('with a proof that was used before, one after the other and at once', async () => {
    const once = await proof(key, good());
    expect((await call(once)).status).toBe(200);
    expect((await call(once)).status).toBe(401);
    const other = await proof(key, good());
    const answers = await Promise.all(Array.from({ length: 20 }, async () => (await call(other)).status));
    expect(answers.filter((status) => status === 200)).toHaveLength(1);
    expect(answers.filter((status) => status === 401)).toHaveLength(19);
  });

  test.each([
    ['for another method', { htm: 'POST' }],
    ['for another address', { htu: 'https://elsewhere.example/api/v1/users/me' }],
    ['for another path', { htu: '/api/v1/users/me' }],
    ['for another token', { ath: 'AAAA' }],
    ['without the token', { ath: undefined }],
    ['without a name of its own', { jti: undefined }],
    ['from ten minutes ago', { iat: Math.floor(Date.now() / 1000) - 600 }],
    ['from in ten minutes', { iat: Math.floor(Date.now() / 1000) + 600 }],
    ['without a time', { iat: undefined }],
  ])('with a proof %s', async (_what, change) => {
    expect((await call(await proof(key, good(), change))).status).toBe(401);
  });

  test('with a proof of another key, or of the right one in the header alone', async () => {
    const other = await newProofKey();
    expect((await call(await proof(other, good()))).status).toBe(401);
    expect((await call(await proof({ ...other, jwk: key.jwk }, good()))).status).toBe(401);
    expect((await call(await proof(key, good(), {}, { typ: 'JWT' }))).status).toBe(401);
  });

  test('and told how to do better', async () => {
    const challenge = (await call(undefined)).headers.get('www-authenticate');
    expect(challenge).toMatch(/DPoP realm="api", error="invalid_token".*algs="ES256/);
  });
});

test('a token without a key is no better for a proof', async () => {
  const plain = await tokensFor(server.origin, await signUp(server.origin), ['users.read']);
  expect((await call(await proof(key, { ...good(), token: plain.access_token }), { token: plain.access_token })).status).toBe(401);
  expect(await apiStatus(server, plain.access_token)).toBe(200);
});

test('the refresh token of a public application is bound to the same key', async () => {
  const first = await issue();
  const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '', client_id: commandLine.clientId };
  expect(await refusal(await refresh(server.origin, first.refresh_token ?? ''))).toBe('400 invalid_grant');
  const stranger = await proof(await newProofKey(), atTokenEndpoint());
  expect(await refusal(await askForTokens(server.origin, form, { dpop: stranger }))).toBe('400 invalid_grant');
  const dpop = await proof(key, atTokenEndpoint());
  expect((await askForTokens(server.origin, form, { dpop })).status).toBe(200);
});

test('the token endpoint takes a proof once, one after the other and at once', async () => {
  const dpop = await proof(key, atTokenEndpoint());
  const ask = async () => {
    const granted = await authorize(server.origin, await signUp(server.origin), { scope: 'openid users.read' });
    const { code, verifier, redirectUri, clientId } = granted;
    return { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
  };
  const forms = [await ask(), await ask(), await ask(), await ask()];
  const answers = await Promise.all(forms.map((form) => askForTokens(server.origin, form, { dpop })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(3);
  expect((await askForTokens(server.origin, await ask(), { dpop })).status).toBe(400);
  expect(server.failures).toEqual([]);
});

test('introspection tells of the key', async () => {
  const body = new URLSearchParams({ client_id: commandLine.clientId, token: tokens.access_token });
  const answer: unknown = await (await fetch(`${server.origin}/oauth/introspection`, { method: 'POST', body })).json();
  expect(answer).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt: expect.any(String) } });
});

describe('a refresh token that is bound to a key', () => {
  const renew = async (refreshToken: string): Promise<TokenResponse> => {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: commandLine.clientId };
    return tokenResponse.parse(await (await askForTokens(server.origin, form, { dpop: await proof(key, atTokenEndpoint()) })).json());
  };

  test('is not used up, so that who was cut off before the answer asks again', async () => {
    const { refresh_token: first = '' } = await issue();
    const renewed = [await renew(first), await renew(first)];
    expect(renewed.map(({ refresh_token }) => refresh_token)).toEqual([first, first]);
    for (const { access_token: token } of renewed)
      expect((await call(await proof(key, { method: 'GET', url: me, token }), { token })).status).toBe(200);
  });

  test('is replaced when it comes to its end, and then using it again ends everything', async () => {
    const { refresh_token: first = '' } = await issue();
    // as if it had been issued eleven of its fourteen days ago
    const days = (claim: string): string => `'${claim}', (payload::jsonb->>'${claim}')::bigint - 11 * 86400`;
    const earlier = `(payload::jsonb || jsonb_build_object(${days('iat')}, ${days('exp')}))::text`;
    await server.db.em.fork().execute(`update oauth_records set payload = ${earlier} where model = 'RefreshToken'`);
    const { refresh_token: second = '' } = await renew(first);
    expect(second).not.toBe(first);
    await endRefreshGrace(server.db);
    await expect(renew(first)).rejects.toThrow('access_token');
    await expect(renew(second)).rejects.toThrow('access_token');
  });
});
