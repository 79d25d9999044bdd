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
import { loadSigningKeys } from '../../../server/oauth/signing-keys/signing-key-cache.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys.ts';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import { signUp, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { secretOfTests } from '../../support/oauth/secret-hash.ts';

const server = useServer();

type Key = Parameters<SignJWT['sign']>[0];
let good: string;
let claims: JWTPayload;
let header: { alg: string; kid: string };
let serversOwnKey: Key;

beforeAll(async () => {
  good = (await tokensFor(server.origin, await signUp(server.origin), ['users.read'])).access_token;
  claims = decodeJwt(good);
  header = z.object({ alg: z.string(), kid: z.string() }).parse(decodeProtectedHeader(good));
  const signingKeys = await loadSigningKeys(server.db.em, Buffer.from(deriveKeys(secretOfTests).signingKeys));
  const jwk = (await signingKeys.current()).keys.find(({ kid }) => kid === header.kid);
  serversOwnKey = await importJWK({ ...jwk });
});

const sign = (payload: JWTPayload, key: Key = serversOwnKey, given: Record<string, unknown> = {}): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ ...header, typ: 'at+jwt', ...given }).sign(key);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('is an RFC 9068 JWT with all its claims (84)', () => {
  expect(decodeProtectedHeader(good)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: header.kid });
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

test('signed again with the same key and claims is accepted, so what follows fails for what it changes', async () => {
  expect(await apiStatus(server, await sign(claims))).toBe(200);
});

describe('is refused with 401', () => {
  test('with alg none, in any spelling (76)', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      expect(await apiStatus(server, `${encode({ alg, typ: 'at+jwt' })}.${encode(claims)}.`)).toBe(401);
    }
  });

  test('with HS256 and the public key as its secret (76)', async () => {
    const pem = await exportSPKI(z.custom<CryptoKey>().parse(await importJWK(await publicJwk())));
    for (const secret of [pem, JSON.stringify(await publicJwk())]) {
      const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: header.kid })}.${encode(claims)}`;
      expect(await apiStatus(server, `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`)).toBe(401);
    }
  });

  test('with a key of its own in the header (76)', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwk = await exportJWK(publicKey);
    expect(await apiStatus(server, await sign(claims, privateKey, { jwk }))).toBe(401);
    expect(await apiStatus(server, await sign(claims, privateKey, { jku: 'https://evil.example/jwks' }))).toBe(401);
    expect(await apiStatus(server, await sign(claims, privateKey))).toBe(401);
  });

  test('with an unknown kid (76)', async () => {
    expect(await apiStatus(server, await sign(claims, serversOwnKey, { kid: 'nobody-knows' }))).toBe(401);
  });

  test('tampered with (76)', async () => {
    const [head = '', , signature = ''] = good.split('.');
    expect(await apiStatus(server, `${head}.${encode({ ...claims, scope: 'users.manage' })}.${signature}`)).toBe(401);
    for (const token of [`${head}.`, `${head}..`, '..', 'x', `${good}.x`]) expect(await apiStatus(server, token)).toBe(401);
  });

  test.each([
    ['for another audience', { aud: 'https://other.example/api' }],
    ['for no audience', { aud: undefined }],
    ['from another issuer', { iss: 'https://other.example' }],
    ['without an end', { exp: undefined }],
    ['after its end', { exp: Math.floor(Date.now() / 1000) - 1 }],
    ['before its time', { nbf: Math.floor(Date.now() / 1000) + 600 }],
    ['without a jti', { jti: undefined }],
    ['with a jti that was never issued', { jti: 'never-issued' }],
  ])('%s, though the signature is right (77, 79)', async (_what, change) => {
    expect(await apiStatus(server, await sign(JSON.parse(JSON.stringify({ ...claims, ...change }))))).toBe(401);
  });

  test.each(['JWT', 'id+jwt', undefined])('with typ %s, though the signature is right (78)', async (typ) => {
    expect(await apiStatus(server, await sign(claims, serversOwnKey, JSON.parse(JSON.stringify({ typ: typ ?? null }))))).toBe(401);
  });
});

test('says in the challenge and the body what is wrong (80)', async () => {
  const me = (headers: Record<string, string>) => fetch(`${server.origin}/api/v1/users/me`, { headers });
  const none = await me({});
  expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer(?!.*error=)/)]);
  const bad = await me({ authorization: 'Bearer x' });
  expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  const low = await tokensFor(server.origin, await signUp(server.origin), ['orders.read']);
  const forbidden = await me({ authorization: `Bearer ${low.access_token}` });
  expect(forbidden.status).toBe(403);
  expect(forbidden.headers.get('www-authenticate')).toMatch(/error="insufficient_scope".*scope="/);
});

test('is not taken from the query string or a form (81)', async () => {
  expect((await fetch(`${server.origin}/api/v1/users/me?access_token=${good}`)).status).toBe(401);
  const form = await fetch(`${server.origin}/api/v1/orders`, { method: 'POST', body: new URLSearchParams({ access_token: good }) });
  expect(form.status).toBe(401);
  expect((await fetch(`${server.origin}/oauth/userinfo?access_token=${good}`)).status).toBe(400);
});

test('reads where it may read, writes nothing, and does not reach what belongs to another (83)', async () => {
  const anna = await signUp(server.origin);
  const reader = (await tokensFor(server.origin, anna, ['users.read', 'orders.read'])).access_token;
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${server.origin}/api/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${reader}`, 'content-type': 'application/json' },
    });
  const written = await call('/orders', { method: 'POST', body: '{}' });
  expect([written.status, written.headers.get('www-authenticate')]).toEqual([403, expect.stringContaining('insufficient_scope')]);
  const ben = await signUp(server.origin);
  expect([(await call(`/users/${anna.id}`)).status, (await call(`/users/${ben.id}`)).status]).toEqual([200, 404]);
});

async function publicJwk() {
  const answer: unknown = await (await fetch(`${server.origin}/oauth/jwks`)).json();
  const { keys } = z.object({ keys: z.array(z.object({ kty: z.string(), kid: z.string() }).passthrough()) }).parse(answer);
  const key = keys.find(({ kid }) => kid === header.kid);
  if (!key) throw new Error('the key is not published');
  return key;
}
