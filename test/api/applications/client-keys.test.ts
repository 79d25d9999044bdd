import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createClientAssertion, createClientKey, toAssertionForm, type ClientKey } from '../../support/oauth/client-assertion.ts';
import { basicAuthorization, readOAuthError, sendTokenRequest } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false });
const admin = shop.admin(['applications.manage']);

const call = (method: string, path = '', body?: unknown): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1/applications${path}`, { token: admin.token, ...(body !== undefined && { body }) });
const machine = {
  name: 'Some machine',
  type: 'confidential',
  scopes: ['users.manage'],
  grant_types: ['client_credentials'],
};
const withKeys = (...keys: readonly object[]) => ({ ...machine, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys } });
const create = async (body: object): Promise<JsonBody> => {
  const response = await call('POST', '', body);
  expect([response.status, response.text]).toEqual([201, expect.any(String)]);
  return response.body;
};
const requestTokens = async (clientId: string, key: ClientKey): Promise<Response> =>
  sendTokenRequest(shop.origin, {
    grant_type: 'client_credentials',
    ...toAssertionForm(await createClientAssertion(key, { clientId, audience: shop.origin })),
  });
const readErrors = (response: ApiResponse) => [response.status, response.body.code, response.body.errors?.[0]?.pointer];
const exportJwk = (options: { type: 'rsa'; bits: number; exponent?: number } | { type: 'ec'; curve: string }): object => {
  const { publicKey } =
    options.type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: options.bits, publicExponent: options.exponent ?? 65_537 })
      : generateKeyPairSync('ec', { namedCurve: options.curve });
  return createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })).export({ format: 'jwk' });
};

describe('an application with private_key_jwt', () => {
  test('is registered with its keys and has no secret', async () => {
    const key = await createClientKey();
    const created = await create(withKeys({ ...key.jwk, key_ops: ['verify'], ext: true, x5c: ['unknown members are ignored'] }));
    const keys = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] }, jwks_uri: null };
    expect(created).toMatchObject({ ...keys, client_secret: null });
    expect((await call('GET', `/${created.id}`)).body).toMatchObject(keys);
    expect((await requestTokens(created.client_id, key)).status).toBe(200);
    const rotation = await call('POST', `/${created.id}/secret-rotations`, {});
    expect([rotation.status, rotation.body.code, rotation.body.detail]).toEqual([
      409,
      'application_has_no_secret',
      expect.stringContaining('private_key_jwt'),
    ]);
  });

  test('is registered with the URL of its keys', async () => {
    const body = { ...machine, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://keys.example/jwks.json' };
    expect(await create(body)).toMatchObject({ jwks: null, jwks_uri: 'https://keys.example/jwks.json', client_secret: null });
  });

  test('replaces its keys from the next request on, by value and by URL', async () => {
    const [old, current] = [await createClientKey(), await createClientKey('EdDSA')];
    const { id, client_id: clientId } = await create(withKeys(old.jwk));
    expect((await call('PATCH', `/${id}`, { jwks: { keys: [current.jwk] } })).body.jwks).toEqual({ keys: [current.jwk] });
    expect(await readOAuthError(await requestTokens(clientId, old))).toBe('401 invalid_client');
    expect((await requestTokens(clientId, current)).status).toBe(200);
    const byUrl = await call('PATCH', `/${id}`, { jwks: null, jwks_uri: 'https://keys.example/jwks.json' });
    expect(byUrl.body).toMatchObject({ jwks: null, jwks_uri: 'https://keys.example/jwks.json' });
  });

  test.each([
    ['both kinds of keys', { jwks_uri: 'https://keys.example/jwks.json' }, '#/jwks_uri'],
    ['no keys', { jwks: null }, '#/jwks'],
    ['the method none', { token_endpoint_auth_method: 'none' }, '#/token_endpoint_auth_method'],
  ])('cannot be changed to have %s', async (_label, change, pointer) => {
    const { id } = await create(withKeys((await createClientKey()).jwk));
    expect(readErrors(await call('PATCH', `/${id}`, change))).toEqual([400, 'invalid_request', pointer]);
  });
});

test('an application with a secret loses it when it gets keys, and gets a new secret by rotation', async () => {
  const key = await createClientKey();
  const { id, client_id: clientId, client_secret: secret, token_endpoint_auth_method: method } = await create(machine);
  expect(method).toBe('client_secret_basic');
  const withSecret = (presented: string) =>
    sendTokenRequest(shop.origin, { grant_type: 'client_credentials' }, basicAuthorization(clientId, presented));
  expect((await withSecret(secret)).status).toBe(200);
  await call('PATCH', `/${id}`, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] } });
  expect(await readOAuthError(await withSecret(secret))).toBe('401 invalid_client');
  expect((await requestTokens(clientId, key)).status).toBe(200);
  const back = await call('PATCH', `/${id}`, { token_endpoint_auth_method: 'client_secret_basic' });
  expect(back.body).toMatchObject({ token_endpoint_auth_method: 'client_secret_basic', jwks: null, jwks_uri: null });
  expect(await readOAuthError(await requestTokens(clientId, key))).toBe('401 invalid_client');
  for (const invalid of [secret, 'none', '']) expect((await withSecret(invalid)).status).not.toBe(200);
  const { client_secret: next } = (await call('POST', `/${id}/secret-rotations`, {})).body;
  expect((await withSecret(next)).status).toBe(200);
});

describe('POST /applications rejects', () => {
  test.each<[string, () => object, string]>([
    ['private_key_jwt without keys', () => ({ ...machine, token_endpoint_auth_method: 'private_key_jwt' }), '#/jwks'],
    ['keys without private_key_jwt', () => ({ ...withKeys({ kty: 'EC' }), token_endpoint_auth_method: 'client_secret_basic' }), '#/jwks'],
    ['a key URL without private_key_jwt', () => ({ ...machine, jwks_uri: 'https://keys.example/jwks.json' }), '#/jwks_uri'],
    ['an empty key set', () => withKeys(), '#/jwks/keys'],
    ['more than ten keys', () => withKeys(...Array.from({ length: 11 }, () => ({ kty: 'EC' }))), '#/jwks/keys'],
    ['an unknown method', () => ({ ...machine, token_endpoint_auth_method: 'client_secret_jwt' }), '#/token_endpoint_auth_method'],
    ['a public application with a method', () => ({ ...withKeys({ kty: 'EC' }), type: 'public' }), '#/grant_types'],
    [
      'a confidential application without a method',
      () => ({ ...machine, token_endpoint_auth_method: 'none' }),
      '#/token_endpoint_auth_method',
    ],
    ...[
      'http://keys.example/jwks.json',
      'https://localhost/jwks.json',
      'https://127.0.0.1/jwks.json',
      'https://[::1]/jwks.json',
      'https://user@keys.example/jwks.json',
      'https://keys.example/jwks.json#x',
      'file:///etc/passwd',
      'not a URL',
    ].map((uri): [string, () => object, string] => [
      `the key URL ${uri}`,
      () => ({ ...machine, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri }),
      '#/jwks_uri',
    ]),
  ])('%s', async (_label, body, pointer) => {
    expect(readErrors(await call('POST', '', body()))).toEqual([400, 'invalid_request', pointer]);
  });

  test.each<[string, () => object | Promise<object>, string]>([
    ['a private key', async () => ({ ...(await createClientKey()).jwk, d: 'AQ' }), 'contains private key members (d)'],
    ['a private RSA key', () => ({ ...exportJwk({ type: 'rsa', bits: 2048 }), p: 'AQ', q: 'AQ' }), 'contains private key members (p, q)'],
    ['a symmetric key', () => ({ kty: 'oct', k: 'c2VjcmV0' }), 'contains private key members (k)'],
    ['an unknown key type', () => ({ kty: 'AKP', alg: 'ML-DSA-44', pub: 'AQ' }), 'unsupported type'],
    ['a curve that is not supported', () => exportJwk({ type: 'ec', curve: 'P-384' }), 'an EC key must use P-256'],
    ['an X25519 key', () => ({ kty: 'OKP', crv: 'X25519', x: Buffer.alloc(32, 9).toString('base64url') }), 'must use Ed25519'],
    ['a point that is not on the curve', () => ({ kty: 'EC', crv: 'P-256', x: 'AQ', y: 'AQ' }), 'does not contain a valid public key'],
    ['a weak RSA key', () => exportJwk({ type: 'rsa', bits: 1024 }), 'at least 2048 bits'],
    ['an RSA key with a small exponent', () => exportJwk({ type: 'rsa', bits: 2048, exponent: 3 }), 'at least 65537'],
    ['an RSA key whose exponent is 1', () => ({ ...exportJwk({ type: 'rsa', bits: 2048 }), e: 'AQ' }), 'at least 65537'],
    ['an encryption key', () => ({ ...exportJwk({ type: 'ec', curve: 'P-256' }), use: 'enc' }), 'use member must be sig'],
    ['a key for another algorithm', () => ({ ...exportJwk({ type: 'rsa', bits: 2048 }), alg: 'RS512' }), 'must be PS256 or RS256'],
    ['a key ID with a NUL', () => ({ ...exportJwk({ type: 'ec', curve: 'P-256' }), kid: 'a\0b' }), 'its kid member'],
    ['an object that is not a key', () => ({}), 'its kty member'],
  ])('%s', async (_label, key, reason) => {
    const response = await call('POST', '', withKeys(await key()));
    expect([...readErrors(response), response.body.errors[0].detail]).toEqual([
      400,
      'invalid_request',
      '#/jwks',
      expect.stringContaining(reason),
    ]);
  });
});

describe('the security profile fapi2', () => {
  const fapi = async (overrides: object = {}): Promise<object> => ({
    ...withKeys((await createClientKey()).jwk),
    security_profile: 'fapi2',
    ...overrides,
  });

  test('is set, returned and removed', async () => {
    const { id, security_profile: profile } = await create(await fapi());
    expect(profile).toBe('fapi2');
    expect((await call('PATCH', `/${id}`, { security_profile: null })).body.security_profile).toBeNull();
    expect((await call('PATCH', `/${id}`, { security_profile: 'fapi2' })).body.security_profile).toBe('fapi2');
    expect((await create(machine)).security_profile).toBeNull();
  });

  const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code';
  test.each<[string, () => object | Promise<object>, string]>([
    ['an application with a secret', () => ({ ...machine, security_profile: 'fapi2' }), '#/token_endpoint_auth_method'],
    ['a key for RS256', async () => fapi({ jwks: { keys: [(await createClientKey('RS256')).jwk] } }), '#/jwks'],
    ['the device code grant', () => fapi({ grant_types: ['client_credentials', deviceCode] }), '#/grant_types'],
    [
      'a redirect URI with another scheme',
      () => fapi({ grant_types: ['authorization_code'], redirect_uris: ['com.example.app:/cb'] }),
      '#/redirect_uris',
    ],
    ['a grace period', () => fapi({ refresh_grace_seconds: 30 }), '#/refresh_grace_seconds'],
    ['a nonce instead of PKCE', () => fapi({ allow_nonce_instead_of_pkce: true }), '#/allow_nonce_instead_of_pkce'],
    ['neither PKCE nor a nonce', () => fapi({ allow_neither_pkce_nor_nonce: true }), '#/allow_neither_pkce_nor_nonce'],
    ['an unknown profile', () => fapi({ security_profile: 'fapi3' }), '#/security_profile'],
  ])('cannot be used with %s', async (_label, body, pointer) => {
    expect(readErrors(await call('POST', '', await body()))).toEqual([400, 'invalid_request', pointer]);
  });

  test('cannot be set while the application violates it', async () => {
    const { id } = await create(machine);
    const response = await call('PATCH', `/${id}`, { security_profile: 'fapi2' });
    expect([...readErrors(response), response.body.detail]).toEqual([
      400,
      'invalid_request',
      '#/token_endpoint_auth_method',
      '#/token_endpoint_auth_method: Must be private_key_jwt, tls_client_auth or self_signed_tls_client_auth if the security profile is fapi2.',
    ]);
  });
});

test('require_signed_request_object can be set only for an application with keys', async () => {
  const body = withKeys((await createClientKey()).jwk);
  const { id, require_signed_request_object: isRequired } = await create({ ...body, require_signed_request_object: true });
  expect([isRequired, (await create(machine)).require_signed_request_object]).toEqual([true, false]);
  expect((await call('PATCH', `/${id}`, { require_signed_request_object: false })).body.require_signed_request_object).toBe(false);
  const response = await call('POST', '', { ...machine, require_signed_request_object: true });
  expect([...readErrors(response), response.body.errors[0].detail]).toEqual([
    400,
    'invalid_request',
    '#/require_signed_request_object',
    'Requires jwks or jwks_uri with the keys that verify request objects.',
  ]);
});
