import { createHmac } from 'node:crypto';
import {
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  SignJWT,
  type JWTPayload,
} from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createCacheWithLoadedOrNewSigningKeys } from '../../../server/oauth/signing-keys/rotating-signing-key-cache.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { testServerSecret } from '../../support/server/test-server-secret.ts';

const server = useServer();

type Key = Parameters<SignJWT['sign']>[0];
let accessToken: string;
let claims: JWTPayload;
let header: { alg: string; kid: string };
let serverKey: Key;

beforeAll(async () => {
  accessToken = (await obtainTokens(server.origin, await signUp(server.origin), ['users.read'])).access_token;
  claims = decodeJwt(accessToken);
  header = z.object({ alg: z.string(), kid: z.string() }).parse(decodeProtectedHeader(accessToken));
  const signingKeys = await createCacheWithLoadedOrNewSigningKeys(server.db.em, Buffer.from(deriveKeys(testServerSecret).signingKeys));
  const jwk = (await signingKeys.current()).keys.find(({ kid }) => kid === header.kid);
  serverKey = await importJWK({ ...jwk });
});

const sign = (payload: JWTPayload, key: Key = serverKey, headerParameters: Record<string, unknown> = {}): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ ...header, typ: 'at+jwt', ...headerParameters }).sign(key);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('an access token is an RFC 9068 JWT with all its claims (84)', () => {
  expect(decodeProtectedHeader(accessToken)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: header.kid });
  expect(claims).toMatchObject({
    iss: server.origin,
    aud: `${server.origin}/api`,
    sub: expect.stringMatching(/^\d+$/),
    client_id: 'mandate-cli',
    scope: 'openid users.read',
    jti: expect.any(String),
  });
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(300);
});

test('a token with unchanged claims and a new signature by the server key is accepted', async () => {
  expect(await fetchApiStatus(server, await sign(claims))).toBe(200);
});

describe('the API rejects an access token with 401', () => {
  test('with alg none, in any spelling (76)', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      expect(await fetchApiStatus(server, `${encode({ alg, typ: 'at+jwt' })}.${encode(claims)}.`)).toBe(401);
    }
  });

  test('with HS256 and the public key as its secret (76)', async () => {
    const pem = await exportSPKI(z.custom<CryptoKey>().parse(await importJWK(await publicJwk())));
    for (const secret of [pem, JSON.stringify(await publicJwk())]) {
      const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: header.kid })}.${encode(claims)}`;
      expect(await fetchApiStatus(server, `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`)).toBe(401);
    }
  });

  test('with a foreign key in the header (76)', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwk = await exportJWK(publicKey);
    expect(await fetchApiStatus(server, await sign(claims, privateKey, { jwk }))).toBe(401);
    expect(await fetchApiStatus(server, await sign(claims, privateKey, { jku: 'https://evil.example/jwks' }))).toBe(401);
    expect(await fetchApiStatus(server, await sign(claims, privateKey))).toBe(401);
  });

  test('with an unknown kid (76)', async () => {
    expect(await fetchApiStatus(server, await sign(claims, serverKey, { kid: 'nobody-knows' }))).toBe(401);
  });

  test('with changed claims or missing parts (76)', async () => {
    const [head = '', , signature = ''] = accessToken.split('.');
    expect(await fetchApiStatus(server, `${head}.${encode({ ...claims, scope: 'users.manage' })}.${signature}`)).toBe(401);
    for (const token of [`${head}.`, `${head}..`, '..', 'x', `${accessToken}.x`]) expect(await fetchApiStatus(server, token)).toBe(401);
  });

  test.each([
    ['for another audience', { aud: 'https://other.example/api' }],
    ['without an audience', { aud: undefined }],
    ['from another issuer', { iss: 'https://other.example' }],
    ['without exp', { exp: undefined }],
    ['after exp', { exp: Math.floor(Date.now() / 1000) - 1 }],
    ['before nbf', { nbf: Math.floor(Date.now() / 1000) + 600 }],
    ['without a jti', { jti: undefined }],
    ['with a jti that was never issued', { jti: 'never-issued' }],
  ])('%s, despite a valid signature (77, 79)', async (_case, change) => {
    expect(await fetchApiStatus(server, await sign(JSON.parse(JSON.stringify({ ...claims, ...change }))))).toBe(401);
  });

  test.each(['JWT', 'id+jwt', undefined])('with typ %s, despite a valid signature (78)', async (typ) => {
    expect(await fetchApiStatus(server, await sign(claims, serverKey, JSON.parse(JSON.stringify({ typ: typ ?? null }))))).toBe(401);
  });
});

test('the challenge of a rejected request contains the error code (80)', async () => {
  const getCurrentUser = (headers: Record<string, string>) => fetch(`${server.origin}/api/v1/users/me`, { headers });
  const responseWithoutToken = await getCurrentUser({});
  expect([responseWithoutToken.status, responseWithoutToken.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringMatching(/^Bearer(?!.*error=)/),
  ]);
  const invalidTokenResponse = await getCurrentUser({ authorization: 'Bearer x' });
  expect([invalidTokenResponse.status, invalidTokenResponse.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
  const tokensWithoutScope = await obtainTokens(server.origin, await signUp(server.origin), ['orders.read']);
  const forbidden = await getCurrentUser({ authorization: `Bearer ${tokensWithoutScope.access_token}` });
  expect(forbidden.status).toBe(403);
  expect(forbidden.headers.get('www-authenticate')).toMatch(/error="insufficient_scope".*scope="/);
});

test('the API does not accept an access token in the query string or in a form (81)', async () => {
  expect((await fetch(`${server.origin}/api/v1/users/me?access_token=${accessToken}`)).status).toBe(401);
  const postWithFormToken = await fetch(`${server.origin}/api/v1/orders`, {
    method: 'POST',
    body: new URLSearchParams({ access_token: accessToken }),
  });
  expect(postWithFormToken.status).toBe(401);
  expect((await fetch(`${server.origin}/oauth/userinfo?access_token=${accessToken}`)).status).toBe(400);
});

test('a token with read scopes can neither write nor read data of another user (83)', async () => {
  const anna = await signUp(server.origin);
  const readToken = (await obtainTokens(server.origin, anna, ['users.read', 'orders.read'])).access_token;
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${server.origin}/api/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${readToken}`, 'content-type': 'application/json' },
    });
  const orderCreation = await call('/orders', { method: 'POST', body: '{}' });
  expect([orderCreation.status, orderCreation.headers.get('www-authenticate')]).toEqual([
    403,
    expect.stringContaining('insufficient_scope'),
  ]);
  const ben = await signUp(server.origin);
  expect([(await call(`/users/${anna.id}`)).status, (await call(`/users/${ben.id}`)).status]).toEqual([200, 404]);
});

async function publicJwk() {
  const jwks: unknown = await (await fetch(`${server.origin}/oauth/jwks`)).json();
  const { keys } = z.object({ keys: z.array(z.object({ kty: z.string(), kid: z.string() }).passthrough()) }).parse(jwks);
  const key = keys.find(({ kid }) => kid === header.kid);
  if (!key) throw new Error('the key is not published');
  return key;
}
