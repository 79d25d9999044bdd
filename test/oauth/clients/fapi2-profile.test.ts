import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hashSecretRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import {
  createApplicationWithKeys,
  createClientAssertion,
  createClientKey,
  toAssertionForm,
  type ClientKey,
} from '../../support/oauth/client-assertion.ts';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import { createDpopKey, createDpopProof, type DpopKey } from '../../support/oauth/dpop-proof.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  readOAuthError,
  sendTokenRequest,
  signUp,
  tokenResponseSchema,
  type TestUser,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const redirectUri = 'https://app.example/callback';
const errorSchema = z.object({ error: z.string(), error_description: z.string() });
const application = {
  securityProfile: 'fapi2',
  grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
  redirectUris: [redirectUri],
  scopes: ['orders.read', 'users.read'],
} as const;

let key: ClientKey;
let dpopKey: DpopKey;
let clientId: string;
let anna: TestUser;

beforeAll(async () => {
  [key, dpopKey] = [await createClientKey('PS256'), await createDpopKey()];
  clientId = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } }, application);
  anna = await signUp(server.origin);
});

const authenticate = async (claims: Record<string, unknown> = {}): Promise<Record<string, string>> =>
  toAssertionForm(await createClientAssertion(key, { clientId, audience: server.origin }, claims));
const createProof = async (): Promise<Record<string, string>> => ({
  dpop: await createDpopProof(dpopKey, { method: 'POST', url: `${server.origin}/oauth/token` }),
});
const push = async (form: Record<string, string>): Promise<Response> =>
  fetch(`${server.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(form) });

async function authorize(): Promise<{ callback: URL; form: Record<string, string> }> {
  const { query, verifier } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' });
  const pushed = await push({ ...query, ...(await authenticate()) });
  const { request_uri: requestUri } = z.object({ request_uri: z.string() }).parse(await pushed.json());
  const callback = await completeAuthorization(anna, authorizationPath({ client_id: clientId, request_uri: requestUri }));
  const code = callback.searchParams.get('code') ?? '';
  return { callback, form: { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri } };
}

const obtainTokens = async (): Promise<TokenResponse> => {
  const { form } = await authorize();
  const response = await sendTokenRequest(server.origin, { ...form, ...(await authenticate()) }, await createProof());
  return tokenResponseSchema.parse(await response.json());
};
const refresh = async (refreshToken: string): Promise<Response> => {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, ...(await authenticate()) };
  return sendTokenRequest(server.origin, form, await createProof());
};

describe('an application with the security profile fapi2', () => {
  test('signs users in and calls the API with tokens that are bound to its key', async () => {
    const tokens = await obtainTokens();
    expect(tokens.token_type).toBe('DPoP');
    const url = `${server.origin}/api/v1/users/me`;
    const dpop = await createDpopProof(dpopKey, { method: 'GET', url, token: tokens.access_token });
    expect((await fetch(url, { headers: { authorization: `DPoP ${tokens.access_token}`, dpop } })).status).toBe(200);
  });

  test('must push its authorization requests', async () => {
    const { query } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' });
    const page = await anna.browser.open(authorizationPath(query));
    expect(page.externalRedirect?.searchParams.has('code') ?? false).toBe(false);
    expect(page.externalRedirect?.searchParams.get('error') ?? page.text).toContain('invalid_request');
    expect(page.externalRedirect?.searchParams.get('error_description') ?? page.text).toContain(
      'Pushed Authorization Request must be used',
    );
  });

  test('must send a DPoP proof with every token request; a request without a proof does not use up the code', async () => {
    const { form } = await authorize();
    const rejected = await sendTokenRequest(server.origin, { ...form, ...(await authenticate()) });
    expect([rejected.status, errorSchema.parse(await rejected.json())]).toEqual([
      400,
      { error: 'invalid_dpop_proof', error_description: 'this application must send a DPoP proof with each token request' },
    ]);
    const accepted = await sendTokenRequest(server.origin, { ...form, ...(await authenticate()) }, await createProof());
    const { refresh_token: refreshToken = '' } = tokenResponseSchema.parse(await accepted.json());
    for (const other of [{ grant_type: 'refresh_token', refresh_token: refreshToken }, { grant_type: 'client_credentials' }])
      expect(await readOAuthError(await sendTokenRequest(server.origin, { ...other, ...(await authenticate()) }))).toBe(
        '400 invalid_dpop_proof',
      );
  });

  test('must authenticate with private_key_jwt', async () => {
    const form = { grant_type: 'client_credentials' };
    const proof = await createProof();
    expect(await readOAuthError(await sendTokenRequest(server.origin, form, { ...basicAuthorization(clientId, 'x'), ...proof }))).toBe(
      '401 invalid_client',
    );
    expect(await readOAuthError(await sendTokenRequest(server.origin, { ...form, client_id: clientId }, proof))).toBe('401 invalid_client');
    expect(await readOAuthError(await push({ client_id: clientId }))).toBe('401 invalid_client');
  });

  test.each<[string, () => unknown]>([
    ['the token endpoint', () => `${server.origin}/oauth/token`],
    ['a list', () => [server.origin]],
  ])('must use the issuer as audience of its assertions, not %s', async (_label, aud) => {
    const form = { grant_type: 'client_credentials', ...(await authenticate({ aud: aud() })) };
    const response = await sendTokenRequest(server.origin, form, await createProof());
    expect([response.status, errorSchema.parse(await response.json()).error_description]).toEqual([
      401,
      'client assertion: aud must be the issuer identifier with the security profile fapi2',
    ]);
  });

  test('must not sign its assertions with RS256', async () => {
    const rs256 = await createClientKey('RS256');
    const { alg: _alg, ...jwk } = rs256.jwk;
    const client = await createApplicationWithKeys(server.db, { jwks: { keys: [jwk] } }, application);
    const assertion = await createClientAssertion(rs256, { clientId: client, audience: server.origin });
    const form = { grant_type: 'client_credentials', ...toAssertionForm(assertion) };
    const response = await sendTokenRequest(server.origin, form, await createProof());
    expect([response.status, errorSchema.parse(await response.json()).error_description]).toEqual([
      401,
      'client assertion: alg must be ES256, PS256 or EdDSA with the security profile fapi2',
    ]);
  });

  test('gets authorization codes that are valid for at most 60 seconds', async () => {
    const { form } = await authorize();
    const [row] = await server.db.em
      .fork()
      .execute<{ left: number }[]>(
        `select extract(epoch from expires_at - now())::float8 as left from oauth_records where model = 'AuthorizationCode' and id = ?`,
        [hashSecretRecordId(form['code'] ?? '')],
      );
    expect(row?.left).toBeGreaterThan(0);
    expect(row?.left).toBeLessThanOrEqual(60);
  });

  test('gets iss in authorization responses, including errors', async () => {
    expect((await authorize()).callback.searchParams.get('iss')).toBe(server.origin);
    const { query } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, prompt: 'none' });
    const pushed = await push({ ...query, ...(await authenticate()) });
    const { request_uri: requestUri } = z.object({ request_uri: z.string() }).parse(await pushed.json());
    const stranger = await fetch(server.origin + authorizationPath({ client_id: clientId, request_uri: requestUri }), {
      redirect: 'manual',
    });
    const callback = new URL(stranger.headers.get('location') ?? '');
    expect([callback.searchParams.get('error'), callback.searchParams.get('iss')]).toEqual(['login_required', server.origin]);
  });

  test('gets ID tokens that are signed with ES256', async () => {
    const { id_token: idToken = '' } = await obtainTokens();
    expect([decodeProtectedHeader(idToken).alg, decodeJwt(idToken).aud]).toEqual(['ES256', clientId]);
  });

  test('keeps its refresh token, so that it can retry after a lost response', async () => {
    const { refresh_token: token = '' } = await obtainTokens();
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(tokenResponseSchema.parse(await (await refresh(token)).json()).refresh_token).toBe(token);
  });

  test('has no grace period after its refresh token was rotated close to its expiry', async () => {
    const { refresh_token: token = '' } = await obtainTokens();
    const days = (claim: string): string => `'${claim}', (payload::jsonb->>'${claim}')::bigint - 11 * 86400`;
    await server.db.em
      .fork()
      .execute(
        `update oauth_records set payload = (payload::jsonb || jsonb_build_object(${days('iat')}, ${days('exp')}))::text where id = ?`,
        [hashSecretRecordId(token)],
      );
    const { refresh_token: next = '' } = tokenResponseSchema.parse(await (await refresh(token)).json());
    expect(next).not.toBe(token);
    expect(await readOAuthError(await refresh(token))).toBe('400 invalid_grant');
    expect(await readOAuthError(await refresh(next))).toBe('400 invalid_grant');
  });
});
