import { UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  createApplicationWithKeys,
  createClientAssertion,
  createClientKey,
  toAssertionForm,
  type ClientKey,
} from '../../support/oauth/client-assertion.ts';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import { createDpopKey, createDpopProof } from '../../support/oauth/dpop-proof.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  readOAuthError,
  sendTokenRequest,
  signUp,
  tokenResponseSchema,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { createRequestObject } from '../../support/application-keys/request-object.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const redirectUri = 'https://app.example/callback';
const application = {
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: [redirectUri],
  scopes: ['orders.read', 'users.read'],
} as const;
const errorSchema = z.object({ error: z.string(), error_description: z.string() });
const pushedSchema = z.object({ request_uri: z.string() });

let key: ClientKey;
/** An application that can sign its requests, but does not have to. */
let clientId: string;
/** An application with the security profile fapi2 that must sign its requests. */
let fapiClientId: string;
let anna: TestUser;

beforeAll(async () => {
  key = await createClientKey('ES256');
  const keys = { jwks: { keys: [key.jwk] } };
  clientId = await createApplicationWithKeys(server.db, keys, application);
  fapiClientId = await createApplicationWithKeys(server.db, keys, {
    ...application,
    securityProfile: 'fapi2',
    requireSignedRequestObject: true,
  });
  anna = await signUp(server.origin);
});

const requestOf = (client: string, parameters: Record<string, string> = {}) =>
  buildAuthorizationRequest({ client_id: client, redirect_uri: redirectUri, scope: 'openid users.read', ...parameters });
const sign = (
  parameters: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
  signer = key,
): Promise<string> => createRequestObject(signer, server.origin, parameters, change, header);
const authenticate = async (client: string): Promise<Record<string, string>> =>
  toAssertionForm(await createClientAssertion(key, { clientId: client, audience: server.origin }));
const push = async (client: string, form: Record<string, string>): Promise<Response> =>
  fetch(`${server.origin}/oauth/par`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client, ...form, ...(await authenticate(client)) }),
  });
/** Opens an authorization request that the server must reject, and returns the error. */
const readAuthorizationError = async (parameters: Record<string, string>): Promise<string> => {
  const page = await anna.browser.open(authorizationPath(parameters));
  return page.externalRedirect?.searchParams.get('error_description') ?? page.text;
};
const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset;
const redeem = async (client: string, { searchParams }: URL, verifier: string): Promise<Response> => {
  const form = {
    grant_type: 'authorization_code',
    code: searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirectUri,
  };
  return sendTokenRequest(server.origin, { ...form, ...(await authenticate(client)) });
};

test('the server metadata lists signed requests and responses, but no request objects by reference', async () => {
  const metadata: unknown = await (await fetch(`${server.origin}/.well-known/openid-configuration`)).json();
  const algorithms = expect.arrayContaining(['RS256', 'ES256', 'PS256', 'EdDSA']);
  expect(metadata).toMatchObject({
    request_parameter_supported: true,
    request_uri_parameter_supported: false,
    authorization_signing_alg_values_supported: algorithms,
    introspection_signing_alg_values_supported: algorithms,
    response_modes_supported: expect.arrayContaining(['jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt']),
  });
  const { request_object_signing_alg_values_supported: requestAlgorithms } = z
    .object({ request_object_signing_alg_values_supported: z.array(z.string()) })
    .parse(metadata);
  expect(requestAlgorithms.toSorted()).toEqual(['ES256', 'Ed25519', 'EdDSA', 'PS256', 'RS256']);
});

describe('a signed request', () => {
  test('in the authorization URL signs a user in, and only its own parameters count', async () => {
    const { query, verifier } = requestOf(clientId, { scope: 'openid users.read offline_access' });
    const outside = { redirect_uri: 'https://evil.example/', scope: 'openid orders.read', state: 'other', code_challenge: 'x'.repeat(43) };
    const path = authorizationPath({ client_id: clientId, response_type: 'code', request: await sign(query), ...outside });
    const callback = await completeAuthorization(anna, path);
    expect([callback.origin, callback.searchParams.get('state')]).toEqual(['https://app.example', query['state']]);
    const tokens = tokenResponseSchema.parse(await (await redeem(clientId, callback, verifier)).json());
    expect(tokens.scope?.split(' ').toSorted()).toEqual(['offline_access', 'openid', 'users.read']);
  });

  test.each(['PS256', 'EdDSA', 'RS256'])('can be signed with %s, and without typ and nbf', async (alg) => {
    const signer = await createClientKey(alg);
    const client = await createApplicationWithKeys(server.db, { jwks: { keys: [signer.jwk] } }, application);
    const { query } = requestOf(client);
    const request = await sign(query, { nbf: undefined }, { typ: undefined }, signer);
    const callback = await completeAuthorization(anna, authorizationPath({ client_id: client, request }));
    expect(callback.searchParams.get('code')).not.toBeNull();
  });

  test('can be pushed, and parameters outside the request object are ignored', async () => {
    const { query, verifier } = requestOf(clientId);
    const request = await sign({ ...query, claims: { id_token: { auth_time: { essential: true } } } });
    const response = await push(clientId, { request, scope: 'openid orders.read', redirect_uri: 'https://evil.example/' });
    const { request_uri: requestUri } = pushedSchema.parse(await response.json());
    const callback = await completeAuthorization(anna, authorizationPath({ client_id: clientId, request_uri: requestUri }));
    const { scope } = tokenResponseSchema.parse(await (await redeem(clientId, callback, verifier)).json());
    expect(scope?.split(' ').toSorted()).toEqual(['openid', 'users.read']);
  });

  const faults: [string, () => readonly [Record<string, unknown>, Record<string, unknown>?], string][] = [
    ['another audience', () => [{ aud: 'https://other.example' }], 'Request Object claims are invalid'],
    ['no audience', () => [{ aud: undefined }], 'Request Object claims are invalid'],
    ['another issuer', () => [{ iss: 'other' }], 'Request Object claims are invalid'],
    ['an expiry in the past', () => [{ exp: seconds(-60) }], 'Request Object claims are invalid'],
    ['a start in the future', () => [{ nbf: seconds(300) }], 'Request Object claims are invalid'],
    ['no expiry', () => [{ exp: undefined }], 'exp is required'],
    ['an expiry in two hours', () => [{ exp: seconds(7200) }], 'exp must be at most 3600 seconds in the future'],
    ['the type of another JWT', () => [{}, { typ: 'at+jwt' }], 'typ must be oauth-authz-req+jwt'],
    ['the subject of a client assertion', () => [{ sub: clientId }], 'sub must not be the client ID'],
    ['another client ID', () => [{ client_id: 'mandate-cli' }], 'request client_id must equal'],
    ['a request in the request', () => [{ request: 'x' }], 'must not contain request or request_uri'],
    ['a request by reference', () => [{ request_uri: 'https://evil.example/request' }], 'must not contain request or request_uri'],
    ['an unregistered redirect URI', () => [{ redirect_uri: 'https://evil.example/' }], 'redirect_uri'],
  ];
  test.each(faults)('is rejected with %s', async (_label, createFault, reason) => {
    const [change, header] = createFault();
    const { query } = requestOf(clientId);
    const request = await sign(query, change, header);
    expect(await readAuthorizationError({ client_id: clientId, request })).toContain(reason);
    const pushed = await push(clientId, { request });
    expect([pushed.status, errorSchema.parse(await pushed.json()).error_description]).toEqual([400, expect.stringContaining(reason)]);
  });

  test('is rejected without a valid signature', async () => {
    const { query } = requestOf(clientId);
    const [header = '', payload = '', signature = ''] = (await sign(query)).split('.');
    const [, otherPayload = ''] = (await sign({ ...query, scope: 'openid orders.read' })).split('.');
    const unsigned = new UnsecuredJWT({ ...query, iss: clientId, aud: server.origin, exp: seconds(60) }).encode();
    const symmetric = [Buffer.from(JSON.stringify({ alg: 'HS256', kid: key.kid })).toString('base64url'), payload, signature].join('.');
    for (const request of [
      unsigned,
      symmetric,
      [header, otherPayload, signature].join('.'),
      [header, payload, ''].join('.'),
      await sign(query, {}, {}, await createClientKey('ES256', key.kid)),
      await sign(query, {}, { kid: 'other' }),
      'a.b.c',
      'x',
    ]) {
      expect([request, await readOAuthError(await push(clientId, { request }))]).toEqual([request, '400 invalid_request_object']);
      const page = await anna.browser.open(authorizationPath({ client_id: clientId, request }));
      expect(page.externalRedirect?.searchParams.has('code') ?? false).toBe(false);
    }
  });

  test('is rejected from an application without keys, and together with request_uri', async () => {
    const { query } = requestOf('mandate-cli', { redirect_uri: 'http://127.0.0.1:49152/callback' });
    expect(await readAuthorizationError({ client_id: 'mandate-cli', request: await sign(query) })).toContain(
      'could not validate Request Object',
    );
    const both = { request: await sign(requestOf(clientId).query), request_uri: 'urn:ietf:params:oauth:request_uri:x' };
    expect(await readAuthorizationError({ client_id: clientId, ...both })).toContain('MUST NOT be used together');
  });

  test('with jti can be used once, at any endpoint; without jti, the authorization URL can be opened again', async () => {
    const { query } = requestOf(clientId);
    const repeatable = authorizationPath({ client_id: clientId, request: await sign(query) });
    for (const path of [repeatable, repeatable]) expect((await completeAuthorization(anna, path)).searchParams.has('code')).toBe(true);
    const request = await sign(query, { jti: 'one-request' });
    expect((await push(clientId, { request })).status).toBe(201);
    const replayed = await push(clientId, { request });
    expect([replayed.status, await replayed.json()]).toEqual([
      400,
      { error: 'invalid_request_object', error_description: 'a request object with jti must only be used once' },
    ]);
    expect(await readAuthorizationError({ client_id: clientId, request })).toContain('must only be used once');
    // a different application can use the same identifier
    const other = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } }, application);
    expect((await push(other, { request: await sign(requestOf(other).query, { jti: 'one-request' }) })).status).toBe(201);
  });
});

describe('an application with require_signed_request_object', () => {
  test('signs a user in with a pushed request object', async () => {
    const { query, verifier } = requestOf(fapiClientId);
    const { request_uri: requestUri } = pushedSchema.parse(await (await push(fapiClientId, { request: await sign(query) })).json());
    const callback = await completeAuthorization(anna, authorizationPath({ client_id: fapiClientId, request_uri: requestUri }));
    const form = {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirectUri,
      ...(await authenticate(fapiClientId)),
    };
    const dpop = await createDpopProof(await createDpopKey(), { method: 'POST', url: `${server.origin}/oauth/token` });
    expect((await sendTokenRequest(server.origin, form, { dpop })).status).toBe(200);
  });

  test('cannot push or open a request without a signature', async () => {
    const { query } = requestOf(fapiClientId);
    const pushed = await push(fapiClientId, query);
    expect([pushed.status, errorSchema.parse(await pushed.json()).error_description]).toEqual([
      400,
      'Request Object must be used by this client',
    ]);
    const client = await createApplicationWithKeys(
      server.db,
      { jwks: { keys: [key.jwk] } },
      { ...application, requireSignedRequestObject: true },
    );
    expect(await readAuthorizationError(requestOf(client).query)).toContain('Request Object must be used by this client');
    const callback = await completeAuthorization(
      anna,
      authorizationPath({ client_id: client, request: await sign(requestOf(client).query) }),
    );
    expect(callback.searchParams.has('code')).toBe(true);
  });

  test.each<[string, () => Record<string, unknown>, string]>([
    ['no start', () => ({ nbf: undefined }), 'nbf is required with the security profile fapi2'],
    ['a start two hours ago', () => ({ nbf: seconds(-7200) }), 'nbf must be at most 3600 seconds'],
    ['more than an hour between start and expiry', () => ({ nbf: seconds(-60), exp: seconds(3600) }), 'nbf must be at most 3600 seconds'],
  ])('and the security profile fapi2 cannot have %s', async (_label, change, reason) => {
    const pushed = await push(fapiClientId, { request: await sign(requestOf(fapiClientId).query, change()) });
    expect([pushed.status, errorSchema.parse(await pushed.json()).error_description]).toEqual([400, expect.stringContaining(reason)]);
  });

  test('and the security profile fapi2 cannot use RS256', async () => {
    const rs256 = await createClientKey('RS256');
    const { alg: _alg, ...jwk } = rs256.jwk;
    const client = await createApplicationWithKeys(
      server.db,
      { jwks: { keys: [key.jwk, jwk] } },
      { ...application, securityProfile: 'fapi2' },
    );
    const pushed = await push(client, { request: await sign(requestOf(client).query, {}, {}, rs256) });
    expect([pushed.status, errorSchema.parse(await pushed.json()).error_description]).toEqual([
      400,
      'alg must be ES256, PS256 or EdDSA with the security profile fapi2',
    ]);
  });
});
