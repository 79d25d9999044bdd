/** Tests the algorithms of ID tokens and logout tokens for each application (OpenID Connect Dynamic Client Registration section 2). */
import { idTokenSigningAlgorithms } from '@mandate/contract';
import { createRemoteJWKSet, jwtVerify, type JWTHeaderParameters } from 'jose';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Application } from '../../../server/applications/application.entity.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { createApplicationWithKeys, createClientKey } from '../../support/oauth/client-assertion.ts';
import { createLogoutApplication, sendDueLogoutTokens, useLogoutTokenReceiver } from '../../support/oauth/logout-tokens.ts';
import { createWebApplication, signInToApplication, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const administrator = shop.admin(['applications.manage']);
const receiver = useLogoutTokenReceiver();

async function update(clientId: string, body: object): Promise<ApiResponse> {
  const { id } = await shop.db.em.fork().findOneOrFail(Application, { clientId });
  return shop.callApi('PATCH', `/api/v1/applications/${id}`, { token: administrator.token, body });
}

/** Verifies a token with the published keys, as an application does, and returns its header. */
async function verify(token: string | undefined, clientId: string): Promise<JWTHeaderParameters> {
  const keys = createRemoteJWKSet(new URL(`${shop.origin}/oauth/jwks`));
  const { protectedHeader } = await jwtVerify(token ?? '', keys, { issuer: shop.origin, audience: clientId });
  return protectedHeader;
}

test.each(idTokenSigningAlgorithms)('an application receives ID tokens and logout tokens that are signed with %s', async (alg) => {
  const anna = await signUp(shop.origin);
  const app = await createLogoutApplication(shop.db, receiver.url);
  const updated = await update(app.clientId, { id_token_signed_response_alg: alg });
  expect([updated.status, updated.body.id_token_signed_response_alg]).toEqual([200, alg]);
  const { tokens } = await signInToApplication(shop.origin, anna, app);
  expect(await verify(tokens.id_token, app.clientId)).toMatchObject({ alg, kid: expect.any(String) });
  await submitFormContaining(anna.browser, await anna.browser.open('/account'), 'action="/sign-out"');
  await sendDueLogoutTokens(shop);
  expect(await verify(receiver.requests[0]?.token, app.clientId)).toMatchObject({ alg, typ: 'logout+jwt' });
});

describe('the default', () => {
  test('is RS256, and null selects it again', async () => {
    const app = await createWebApplication(shop.db, []);
    expect((await update(app.clientId, { id_token_signed_response_alg: 'PS256' })).body.id_token_signed_response_alg).toBe('PS256');
    expect((await update(app.clientId, { name: 'Renamed' })).body.id_token_signed_response_alg).toBe('PS256');
    expect((await update(app.clientId, { id_token_signed_response_alg: null })).body.id_token_signed_response_alg).toBe('RS256');
    const { tokens } = await signInToApplication(shop.origin, await signUp(shop.origin), app);
    expect((await verify(tokens.id_token, app.clientId)).alg).toBe('RS256');
  });

  test('is ES256 with the security profile fapi2, which does not permit RS256', async () => {
    const key = await createClientKey('ES256');
    const profile = {
      securityProfile: 'fapi2',
      grantTypes: ['authorization_code'],
      redirectUris: ['https://app.example/'],
      scopes: [],
    } as const;
    const clientId = await createApplicationWithKeys(shop.db, { jwks: { keys: [key.jwk] } }, profile);
    expect((await update(clientId, {})).body.id_token_signed_response_alg).toBe('ES256');
    for (const alg of ['PS256', 'EdDSA']) expect((await update(clientId, { id_token_signed_response_alg: alg })).status).toBe(200);
    const { status, body } = await update(clientId, { id_token_signed_response_alg: 'RS256' });
    expect([status, body.errors]).toMatchObject([400, [{ pointer: '#/id_token_signed_response_alg' }]]);
  });
});

test.each(['none', 'HS256', 'RS512', ''])('the algorithm %s is rejected', async (alg) => {
  const app = await createWebApplication(shop.db, []);
  const { status, body } = await update(app.clientId, { id_token_signed_response_alg: alg });
  expect([status, body.errors]).toMatchObject([400, [{ pointer: '#/id_token_signed_response_alg' }]]);
});

describe('an application that registers itself (RFC 7591)', () => {
  async function register(metadata: object): Promise<Response> {
    const { body } = await shop.callApi('POST', '/api/v1/registration-tokens', { token: administrator.token, body: {} });
    return fetch(`${shop.origin}/oauth/registration`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.initial_access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://app.example/callback'], token_endpoint_auth_method: 'none', ...metadata }),
    });
  }

  test.each([
    [{}, 'RS256'],
    [{ id_token_signed_response_alg: 'EdDSA' }, 'EdDSA'],
  ])('with %o is told its algorithm, which is stored', async (metadata, alg) => {
    const response = await register(metadata);
    const registered = z.object({ client_id: z.string(), id_token_signed_response_alg: z.string() }).parse(await response.json());
    expect([response.status, registered.id_token_signed_response_alg]).toEqual([201, alg]);
    expect((await update(registered.client_id, {})).body.id_token_signed_response_alg).toBe(alg);
  });

  test('with an unsupported algorithm is rejected', async () => {
    const response = await register({ id_token_signed_response_alg: 'HS256' });
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_client_metadata' }]);
  });
});
