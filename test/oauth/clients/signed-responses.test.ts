import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
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
import {
  authorizationPath,
  buildAuthorizationRequest,
  sendTokenRequest,
  signUp,
  tokenResponseSchema,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const redirectUri = 'https://app.example/callback';
const application = { grantTypes: ['authorization_code'], redirectUris: [redirectUri], scopes: ['users.read'] } as const;

let key: ClientKey;
let clientId: string;
let anna: TestUser;

beforeAll(async () => {
  key = await createClientKey('ES256');
  clientId = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } }, application);
  anna = await signUp(server.origin);
});

const requestOf = (client: string, parameters: Record<string, string>) =>
  buildAuthorizationRequest({ client_id: client, redirect_uri: redirectUri, scope: 'openid users.read', ...parameters });
const authenticate = async (client: string): Promise<Record<string, string>> =>
  toAssertionForm(await createClientAssertion(key, { clientId: client, audience: server.origin }));

describe('a signed authorization response (JARM)', () => {
  const verifyResponse = async (response: string, client: string) => {
    const keys = createRemoteJWKSet(new URL(`${server.origin}/oauth/jwks`));
    return jwtVerify(response, keys, { issuer: server.origin, audience: client, requiredClaims: ['exp'] });
  };

  test.each(['jwt', 'query.jwt', 'fragment.jwt'])('contains the code with response_mode=%s', async (mode) => {
    const { query, verifier } = requestOf(clientId, { response_mode: mode });
    const callback = await completeAuthorization(anna, authorizationPath(query));
    const parameters = mode === 'fragment.jwt' ? new URLSearchParams(callback.hash.slice(1)) : callback.searchParams;
    expect([...parameters.keys()]).toEqual(['response']);
    const { payload, protectedHeader } = await verifyResponse(parameters.get('response') ?? '', clientId);
    expect([protectedHeader.alg, payload['state'], payload.iss]).toEqual(['RS256', query['state'], server.origin]);
    const form = { grant_type: 'authorization_code', code: z.string().parse(payload['code']), code_verifier: verifier };
    const tokens = await sendTokenRequest(server.origin, { ...form, redirect_uri: redirectUri, ...(await authenticate(clientId)) });
    expect(tokens.status).toBe(200);
  });

  test('is posted by a form with response_mode=form_post.jwt', async () => {
    const { query } = requestOf(clientId, { response_mode: 'form_post.jwt' });
    const opened = await anna.browser.open(authorizationPath(query));
    const page = opened.url.pathname.startsWith('/consent/') ? await anna.browser.submit(opened, { decision: 'allow' }) : opened;
    const [, response = ''] = /name="response" value="([^"]+)"/.exec(page.text) ?? [];
    expect([page.text.includes(`action="${redirectUri}"`), (await verifyResponse(response, clientId)).payload['state']]).toEqual([
      true,
      query['state'],
    ]);
  });

  test('contains errors, and is signed like the ID tokens of the application', async () => {
    const fapiClientId = await createApplicationWithKeys(
      server.db,
      { jwks: { keys: [key.jwk] } },
      { ...application, securityProfile: 'fapi2' },
    );
    const { query } = requestOf(fapiClientId, { response_mode: 'jwt', prompt: 'none' });
    const pushed = await fetch(`${server.origin}/oauth/par`, {
      method: 'POST',
      body: new URLSearchParams({ ...query, ...(await authenticate(fapiClientId)) }),
    });
    const { request_uri: requestUri } = z.object({ request_uri: z.string() }).parse(await pushed.json());
    const path = authorizationPath({ client_id: fapiClientId, request_uri: requestUri });
    const stranger = await fetch(server.origin + path, { redirect: 'manual' });
    const callback = new URL(stranger.headers.get('location') ?? '');
    const { payload, protectedHeader } = await verifyResponse(callback.searchParams.get('response') ?? '', fapiClientId);
    expect([protectedHeader.alg, payload['error'], payload['state']]).toEqual(['ES256', 'login_required', query['state']]);
  });
});

test('a signed introspection response (RFC 9701) is returned on request', async () => {
  const machine = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } });
  const form = { grant_type: 'client_credentials', ...(await authenticate(machine)) };
  const { access_token: token } = tokenResponseSchema.parse(await (await sendTokenRequest(server.origin, form)).json());
  const introspect = async (accept: string): Promise<Response> =>
    fetch(`${server.origin}/oauth/introspection`, {
      method: 'POST',
      headers: { accept },
      body: new URLSearchParams({ token, ...(await authenticate(machine)) }),
    });
  const signed = await introspect('application/token-introspection+jwt');
  expect(signed.headers.get('content-type')).toContain('application/token-introspection+jwt');
  const response = await signed.text();
  const { payload } = await jwtVerify(response, createRemoteJWKSet(new URL(`${server.origin}/oauth/jwks`)), { issuer: server.origin });
  expect([decodeProtectedHeader(response).typ, payload['token_introspection']]).toEqual([
    'token-introspection+jwt',
    expect.objectContaining({ active: true, client_id: machine }),
  ]);
  expect(await (await introspect('application/json')).json()).toMatchObject({ active: true });
});
