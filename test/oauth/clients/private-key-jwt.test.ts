import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { databaseKind } from '../../support/services/database.ts';
import {
  createApplicationWithKeys,
  createClientAssertion,
  createClientKey,
  toAssertionForm,
  type ClientKey,
} from '../../support/oauth/client-assertion.ts';
import {
  basicAuthorization,
  buildAuthorizationRequest,
  cliClient,
  createConfidentialClient,
  readOAuthError,
  sendTokenRequest,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
let key: ClientKey;
let clientId: string;

beforeAll(async () => {
  key = await createClientKey();
  clientId = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } });
});

const sign = (change: Record<string, unknown> = {}, header: Record<string, unknown> = {}, signer = key): Promise<string> =>
  createClientAssertion(signer, { clientId, audience: server.origin }, change, header);
const clientCredentialsForm = { grant_type: 'client_credentials', scope: 'users.manage' };
const requestTokens = (assertion: string, form: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> =>
  sendTokenRequest(server.origin, { ...clientCredentialsForm, ...toAssertionForm(assertion), ...form }, headers);
const post = (path: string, form: Record<string, string>): Promise<Response> =>
  fetch(`${server.origin}/oauth/${path}`, { method: 'POST', body: new URLSearchParams(form) });
const errorSchema = z.object({ error: z.string(), error_description: z.string() });
const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset;

test('the server metadata lists private_key_jwt and its algorithms', async () => {
  const metadata: unknown = await (await fetch(`${server.origin}/.well-known/openid-configuration`)).json();
  expect(metadata).toMatchObject({
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'PS256', 'EdDSA', 'Ed25519', 'RS256'],
  });
});

describe('an application is authenticated by an assertion', () => {
  test.each(['ES256', 'PS256', 'EdDSA', 'Ed25519', 'RS256'])('that is signed with %s', async (alg) => {
    const signer = await createClientKey(alg);
    const client = await createApplicationWithKeys(server.db, { jwks: { keys: [signer.jwk] } });
    const response = await requestTokens(await createClientAssertion(signer, { clientId: client, audience: server.origin }));
    expect([response.status, tokenResponseSchema.parse(await response.json()).scope]).toEqual([200, 'users.manage']);
  });

  test.each([
    ['the issuer', () => server.origin],
    ['the token endpoint', () => `${server.origin}/oauth/token`],
    ['a list with the issuer', () => ['https://other.example', server.origin]],
  ])('whose audience is %s', async (_audience, aud) => {
    expect((await requestTokens(await sign({ aud: aud() }))).status).toBe(200);
  });

  test('together with the client_id parameter, or without a key ID', async () => {
    expect((await requestTokens(await sign(), { client_id: clientId })).status).toBe(200);
    expect((await requestTokens(await sign({}, { kid: undefined }))).status).toBe(200);
  });

  test('at every endpoint that authenticates clients', async () => {
    const { access_token: token } = tokenResponseSchema.parse(await (await requestTokens(await sign())).json());
    const audience = { aud: `${server.origin}/oauth/introspection` };
    const introspection: unknown = await (await post('introspection', { token, ...toAssertionForm(await sign(audience)) })).json();
    expect(introspection).toMatchObject({ active: true, client_id: clientId });
    const web = await createApplicationWithKeys(
      server.db,
      { jwks: { keys: [key.jwk] } },
      { grantTypes: ['authorization_code'], redirectUris: ['https://app.example/callback'], scopes: ['orders.read'] },
    );
    const { query } = buildAuthorizationRequest({ client_id: web, redirect_uri: 'https://app.example/callback' });
    const assertionOfWeb = await createClientAssertion(key, { clientId: web, audience: server.origin });
    expect((await post('par', { ...query, ...toAssertionForm(assertionOfWeb) })).status).toBe(201);
    expect((await post('revocation', { token, ...toAssertionForm(await sign()) })).status).toBe(200);
    const revoked: unknown = await (await post('introspection', { token, ...toAssertionForm(await sign()) })).json();
    expect(revoked).toEqual({ active: false });
  });

  test('that is signed with a second key while the first key is still registered', async () => {
    const second = await createClientKey('PS256');
    const client = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk, second.jwk] } });
    for (const signer of [key, second]) {
      const assertion = await createClientAssertion(signer, { clientId: client, audience: server.origin });
      expect((await requestTokens(assertion)).status).toBe(200);
    }
  });
});

describe('an assertion is rejected with invalid_client and the reason', () => {
  test.each<[string, () => Record<string, unknown>, string]>([
    ['with another audience', () => ({ aud: 'https://other.example' }), 'audience (aud) must equal'],
    ['without an audience', () => ({ aud: undefined }), 'aud (JWT audience) must be provided'],
    ['that has expired', () => ({ exp: seconds(-60) }), 'jwt expired'],
    ['without an expiration time', () => ({ exp: undefined }), 'expiration must be specified'],
    ['whose expiration time is not a number', () => ({ exp: 'tomorrow' }), 'invalid exp value'],
    ['that expires in more than an hour', () => ({ exp: seconds(2 * 60 * 60) }), 'exp must be at most 3600 seconds in the future'],
    ['that is not valid yet', () => ({ nbf: seconds(300) }), 'jwt not active yet'],
    ['that was issued in the future', () => ({ iat: seconds(300) }), 'iat must not be in the future'],
    ['without jti', () => ({ jti: undefined }), 'unique jti (JWT ID) must be provided'],
    ['whose jti is not text', () => ({ jti: 5 }), 'invalid jti value'],
    ['of another issuer', () => ({ iss: 'someone-else' }), 'iss (JWT issuer) must be the client_id'],
    ['without an issuer', () => ({ iss: undefined }), 'iss (JWT issuer) must be provided'],
  ])('%s', async (_defect, change, reason) => {
    const response = await requestTokens(await sign(change()));
    const { error, error_description: description } = errorSchema.parse(await response.json());
    expect([response.status, error, description]).toEqual([401, 'invalid_client', expect.stringContaining(`client assertion: ${reason}`)]);
  });

  test.each<[string, () => Record<string, unknown>]>([
    ['without a subject', () => ({ sub: undefined })],
    ['whose subject is not text', () => ({ sub: 5 })],
    ['with an unknown subject', () => ({ sub: 'nobody-knows' })],
    ['with the subject and issuer of a public application', () => ({ sub: cliClient.clientId, iss: cliClient.clientId })],
  ])('%s, but with a general reason', async (_defect, change) => {
    const response = await requestTokens(await sign(change()));
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'client authentication failed' },
    ]);
  });

  test('for a client other than the one in the client_id parameter', async () => {
    expect(await readOAuthError(await requestTokens(await sign(), { client_id: cliClient.clientId }))).toBe('401 invalid_client');
  });

  test('with a signature by an unregistered key, a changed payload, no signature or a symmetric signature', async () => {
    const stranger = await createClientKey('ES256', key.kid);
    const [header = '', , signature = ''] = (await sign()).split('.');
    const [, otherPayload = ''] = (await sign()).split('.');
    const unsigned = [Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url'), otherPayload, ''].join('.');
    const symmetric = [Buffer.from(JSON.stringify({ alg: 'HS256', kid: key.kid })).toString('base64url'), otherPayload, signature].join(
      '.',
    );
    for (const assertion of [
      await sign({}, {}, stranger),
      [header, otherPayload, signature].join('.'),
      unsigned,
      symmetric,
      'a.b.c',
      'x',
      '',
    ])
      expect([assertion, await readOAuthError(await requestTokens(assertion))]).toEqual([assertion, '401 invalid_client']);
  });

  test('with a key ID that is not registered', async () => {
    const response = await requestTokens(await sign({}, { kid: 'other' }));
    expect(errorSchema.parse(await response.json()).error_description).toBe(
      'client assertion: no applicable key found in the JSON Web Key Set',
    );
  });
});

describe('an assertion can be used only once', () => {
  test('at any endpoint', async () => {
    const assertion = await sign();
    expect((await requestTokens(assertion)).status).toBe(200);
    const replay = await requestTokens(assertion);
    expect([replay.status, await replay.json()]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'client assertion: client assertion tokens must only be used once' },
    ]);
    expect(await readOAuthError(await post('introspection', { token: 'x', ...toAssertionForm(assertion) }))).toBe('401 invalid_client');
  });

  test('even if the first request was rejected', async () => {
    const assertion = await sign();
    expect(await readOAuthError(await requestTokens(assertion, { scope: 'products.write' }))).toBe('400 invalid_scope');
    expect(await readOAuthError(await requestTokens(assertion))).toBe('401 invalid_client');
  });

  test('but another application can use the same jti', async () => {
    const other = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } });
    for (const client of [clientId, other]) {
      const assertion = await createClientAssertion(key, { clientId: client, audience: server.origin }, { jti: 'the-same' });
      expect((await requestTokens(assertion)).status).toBe(200);
    }
  });

  test.skipIf(databaseKind !== 'postgresql')('by concurrent requests', async () => {
    const assertion = await sign();
    const responses = await Promise.all(Array.from({ length: 10 }, () => requestTokens(assertion)));
    const errors = await Promise.all(responses.filter(({ status }) => status !== 200).map(readOAuthError));
    expect(errors).toEqual(Array.from({ length: 9 }, () => '401 invalid_client'));
    expect(server.warnings).toEqual([]);
  });

  test('and its identifier is stored as a hash', async () => {
    const jti = 'an-identifier-to-search-for';
    expect((await requestTokens(await sign({ jti }))).status).toBe(200);
    const rows = await server.db.em
      .fork()
      .execute<object[]>(`select 1 from oauth_records where id like '%' || ? || '%' or payload like '%' || ? || '%'`, [jti, jti]);
    expect(rows).toEqual([]);
  });
});

describe('an application with private_key_jwt', () => {
  test('cannot authenticate without an assertion', async () => {
    const requests = [
      sendTokenRequest(server.origin, { ...clientCredentialsForm, client_id: clientId }),
      sendTokenRequest(server.origin, clientCredentialsForm, basicAuthorization(clientId, 'none')),
      sendTokenRequest(server.origin, { ...clientCredentialsForm, client_id: clientId, client_secret: 'none' }),
    ];
    for (const response of await Promise.all(requests)) expect(await readOAuthError(response)).toBe('401 invalid_client');
  });

  test('cannot present a secret and an assertion', async () => {
    const both = await requestTokens(await sign(), {}, basicAuthorization(clientId, 'x'));
    expect(await readOAuthError(both)).toBe('400 invalid_request');
    expect(await readOAuthError(await requestTokens(await sign(), { client_secret: 'x' }))).toBe('400 invalid_request');
  });

  test('must specify the type of its assertion', async () => {
    const response = await requestTokens(await sign(), { client_assertion_type: 'urn:example:other' });
    expect(await readOAuthError(response)).toBe('400 invalid_request');
  });

  test('cannot use a key that has been replaced', async () => {
    const [old, current] = [await createClientKey(), await createClientKey()];
    const client = await createApplicationWithKeys(server.db, { jwks: { keys: [old.jwk] } });
    const assertion = () => createClientAssertion(old, { clientId: client, audience: server.origin });
    expect((await requestTokens(await assertion())).status).toBe(200);
    await server.db.em
      .fork()
      .execute('update applications set jwks = ?::jsonb where client_id = ?', [JSON.stringify({ keys: [current.jwk] }), client]);
    expect(await readOAuthError(await requestTokens(await assertion()))).toBe('401 invalid_client');
  });
});

test('an application with a secret cannot authenticate with an assertion', async () => {
  const client = await createConfidentialClient(server.db, ['users.manage']);
  const response = await requestTokens(await createClientAssertion(key, { clientId: client.clientId, audience: server.origin }));
  expect([response.status, await response.json()]).toEqual([
    401,
    { error: 'invalid_client', error_description: 'client authentication failed' },
  ]);
});
