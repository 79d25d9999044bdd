import { describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { createClientAssertion, createClientKey, toAssertionForm } from '../../support/oauth/client-assertion.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  sendTokenRequest,
  buildAuthorizationRequest,
  authorizationPath,
  basicAuthorization,
  readOAuthError,
  signUp,
} from '../../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false });
const admin = shop.admin(['applications.manage']);

const newestApplication = async (): Promise<JsonBody> =>
  (await shop.callApi('GET', '/api/v1/applications', { token: admin.token })).body.data[0];

describe('a developer with a registration token (RFC 7591)', () => {
  const register = (metadata: object, bearer: string | undefined): Promise<Response> =>
    fetch(`${shop.origin}/oauth/registration`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
      body: JSON.stringify(metadata),
    });
  const createRegistrationToken = async (): Promise<string> =>
    (await shop.callApi('POST', '/api/v1/registration-tokens', { token: admin.token, body: { expires_in: 600 } })).body
      .initial_access_token;
  const metadata = {
    client_name: 'My program',
    redirect_uris: ['https://dev.example/cb'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'openid orders.read',
  };

  test('registers an application that users can authorize', async () => {
    const response: JsonBody = await (await register(metadata, await createRegistrationToken())).json();
    expect(response).toMatchObject({
      client_name: 'My program',
      client_secret: expect.stringMatching(/^ms_/),
      client_id: expect.stringMatching(/^app-/),
    });
    const { browser } = await signUp(shop.origin);
    const request = buildAuthorizationRequest({
      client_id: response.client_id,
      redirect_uri: 'https://dev.example/cb',
      scope: 'openid orders.read',
    });
    const consent = await browser.open(authorizationPath(request.query));
    expect(consent.text).toContain('My program');
    const { externalRedirect: leaves } = await browser.submit(consent, { decision: 'allow' });
    const form = { grant_type: 'authorization_code', code: leaves?.searchParams.get('code') ?? '', redirect_uri: 'https://dev.example/cb' };
    const tokens = await sendTokenRequest(
      shop.origin,
      { ...form, code_verifier: request.verifier },
      basicAuthorization(response.client_id, response.client_secret),
    );
    expect(tokens.status).toBe(200);
    expect(await newestApplication()).toMatchObject({
      client_id: response.client_id,
      first_party: false,
      scopes: ['orders.read'],
    });
  });

  test('registers a URL for logout tokens, and learns that its ID tokens contain sid', async () => {
    const logout = { backchannel_logout_uri: 'https://dev.example/logout' };
    for (const required of [undefined, false, true]) {
      const request = { ...metadata, ...logout, ...(required !== undefined && { backchannel_logout_session_required: required }) };
      const response: JsonBody = await (await register(request, await createRegistrationToken())).json();
      expect(response).toMatchObject({ ...logout, backchannel_logout_session_required: true });
      expect(await newestApplication()).toMatchObject({ client_id: response.client_id, ...logout });
    }
  });

  test('registers an application with links, and with a logo that the server ignores (RFC 7591 section 2)', async () => {
    const ignored = { logo_uri: 'https://dev.example/logo.png', client_uri: 'https://dev.example/' };
    const links = { policy_uri: 'https://dev.example/privacy', tos_uri: 'https://legal.example/terms' };
    const response = await register({ ...metadata, ...ignored, ...links }, await createRegistrationToken());
    const body: JsonBody = await response.json();
    expect([response.status, body]).toEqual([201, expect.objectContaining(links)]);
    expect(await newestApplication()).toMatchObject({ client_id: body.client_id, logo_uri: null, ...links });
  });

  test('registers an application without its links that pages could not show (RFC 7591 section 3.2.1)', async () => {
    const links = { policy_uri: 'http://dev.example/privacy', tos_uri: `https://dev.example/${'x'.repeat(500)}` };
    const response = await register({ ...metadata, ...links }, await createRegistrationToken());
    const body: JsonBody = await response.json();
    expect(response.status).toBe(201);
    expect(Object.keys(links).filter((field) => field in body)).toEqual([]);
    expect(await newestApplication()).toMatchObject({ client_id: body.client_id, policy_uri: null, tos_uri: null });
  });

  test('registers a public application without a secret', async () => {
    const native = { ...metadata, token_endpoint_auth_method: 'none', application_type: 'native', redirect_uris: ['http://127.0.0.1/cb'] };
    const response: JsonBody = await (await register(native, await createRegistrationToken())).json();
    expect(response).not.toHaveProperty('client_secret');
    expect(await newestApplication()).toMatchObject({ client_id: response.client_id, type: 'public' });
  });

  test('registers an application that authenticates with its key', async () => {
    const key = await createClientKey();
    const keys = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] } };
    const response: JsonBody = await (await register({ ...metadata, ...keys }, await createRegistrationToken())).json();
    expect(response).toMatchObject(keys);
    expect(response).not.toHaveProperty('client_secret');
    expect(await newestApplication()).toMatchObject({ client_id: response.client_id, type: 'confidential', ...keys });
    const assertion = await createClientAssertion(key, { clientId: response.client_id, audience: shop.origin });
    const form = { grant_type: 'authorization_code', code: 'none', redirect_uri: 'https://dev.example/cb', code_verifier: 'x'.repeat(43) };
    expect(await readOAuthError(await sendTokenRequest(shop.origin, { ...form, ...toAssertionForm(assertion) }))).toBe('400 invalid_grant');
  });

  test('registers an application that publishes its keys', async () => {
    const keys = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://dev.example/jwks.json' };
    const response: JsonBody = await (await register({ ...metadata, ...keys }, await createRegistrationToken())).json();
    expect(response).toMatchObject(keys);
    expect(await newestApplication()).toMatchObject({ client_id: response.client_id, ...keys, jwks: null });
  });

  test('registers an application with a secret without the keys that it would not use', async () => {
    const key = await createClientKey();
    const response: JsonBody = await (await register({ ...metadata, jwks: { keys: [key.jwk] } }, await createRegistrationToken())).json();
    expect(response).not.toHaveProperty('jwks');
    expect(await newestApplication()).toMatchObject({ client_id: response.client_id, jwks: null });
  });

  test('is rejected without a token, with an invalid token and with an expired token', async () => {
    expect((await register(metadata, undefined)).status).toBe(401);
    for (const wrong of ['nobody-knows', admin.token])
      expect(await readOAuthError(await register(metadata, wrong))).toBe('401 invalid_token');
    const expiredToken = await createRegistrationToken();
    await shop.db.em.fork().execute(`update oauth_records set expires_at = now() where model = 'InitialAccessToken'`);
    expect(await readOAuthError(await register(metadata, expiredToken))).toBe('401 invalid_token');
    expect((await shop.db.em.fork().execute<object[]>('select 1 from oauth_records where id = ?', [expiredToken])).length).toBe(0);
  });

  test.each([
    [
      'eleven redirect URIs',
      { redirect_uris: Array.from({ length: 11 }, (_, nth) => `https://dev.example/cb/${nth}`) },
      'invalid_redirect_uri',
    ],
    ['http for logout tokens', { backchannel_logout_uri: 'http://dev.example/logout' }, 'invalid_client_metadata'],
    ['an IP address for logout tokens', { backchannel_logout_uri: 'https://10.0.0.1/logout' }, 'invalid_client_metadata'],
    ['an internal host for logout tokens', { backchannel_logout_uri: 'https://shop.internal/logout' }, 'invalid_client_metadata'],
    ['an http redirect URI', { redirect_uris: ['http://evil.example/cb'] }, 'invalid_redirect_uri'],
    ['a redirect URI with a wildcard', { redirect_uris: ['https://a.example/*'] }, 'invalid_redirect_uri'],
    ['a redirect URI with a user', { redirect_uris: ['https://user@a.example/'] }, 'invalid_redirect_uri'],
    ['staff scopes', { scope: 'openid users.manage' }, 'invalid_client_metadata'],
    [
      'the client credentials grant',
      { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
      'invalid_client_metadata',
    ],
    ['the implicit flow', { response_types: ['id_token'], grant_types: ['implicit'] }, 'invalid_client_metadata'],
    ['a name that is too long', { client_name: 'x'.repeat(101) }, 'invalid_client_metadata'],
    ['a name with a NUL', { client_name: 'a\0b' }, 'invalid_client_metadata'],
    ['a redirect URI with a NUL', { redirect_uris: ['com.example.app:/cb\0'], application_type: 'native' }, 'invalid_redirect_uri'],
    ['private_key_jwt without keys', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['an empty key set', { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } }, 'invalid_client_metadata'],
    [
      'a symmetric key',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'AQ' }] } },
      'invalid_client_metadata',
    ],
    [
      'keys by value and by URL',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'EC' }] }, jwks_uri: 'https://dev.example/jwks.json' },
      'invalid_client_metadata',
    ],
    ['a key URL without private_key_jwt', { jwks_uri: 'https://dev.example/jwks.json' }, 'invalid_client_metadata'],
    [
      'an internal key URL',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://localhost/jwks.json' },
      'invalid_client_metadata',
    ],
    ['a JavaScript logo URI', { logo_uri: 'javascript:alert(1)' }, 'invalid_client_metadata'],
  ])('cannot register %s', async (_label, overrides, error) => {
    expect(await readOAuthError(await register({ ...metadata, ...overrides }, await createRegistrationToken()))).toBe(`400 ${error}`);
  });
});
