import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { createApplicationWithKeys, createClientKey } from '../support/oauth/client-assertion.ts';
import { approveDevice, expirePollIntervalSql } from '../support/oauth/device-flow.ts';
import { cliClient, signUp, createWebApplication } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/use-server.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { expectSignOut } from './client-program.ts';
import { registerWebClient } from './web-client.ts';

const server = useServer();

async function discoverConfiguration(clientId: string, secret?: string) {
  const authentication = secret === undefined ? openid.None() : openid.ClientSecretBasic(secret);
  return openid.discovery(new URL(server.origin), clientId, secret, authentication, { execute: [openid.allowInsecureRequests] });
}

const createPkceParameters = async () => {
  const verifier = openid.randomPKCECodeVerifier();
  const challenge = { code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' };
  return { verifier, challenge, state: openid.randomState(), nonce: openid.randomNonce() };
};

test('openid-client signs a user in, calls userinfo, refreshes and revokes the tokens, and signs the user out', async () => {
  const anna = await signUp(server.origin);
  const urls = { redirectUri: 'https://app.example/callback', signedOutUri: 'https://app.example/signed-out' };
  const app = { ...urls, ...(await registerWebClient(server, urls)) };
  const config = await discoverConfiguration(app.clientId, app.secret);
  const { verifier, challenge, state, nonce } = await createPkceParameters();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: app.redirectUri,
    scope: 'openid email profile',
    state,
    nonce,
    ...challenge,
  });
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  const tokens = await openid.authorizationCodeGrant(config, await completeAuthorization(anna, url), checks);
  expect(tokens.scope?.split(' ').toSorted()).toEqual(['email', 'openid', 'profile']);
  const sub = tokens.claims()?.sub ?? '';
  expect(await openid.fetchUserInfo(config, tokens.access_token, sub)).toMatchObject({
    sub: String(anna.id),
    email: anna.email,
    name: anna.name,
  });
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
  await openid.tokenRevocation(config, renewed.refresh_token ?? '');
  await expect(openid.refreshTokenGrant(config, renewed.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  const signOut = { id_token_hint: renewed.id_token ?? '', post_logout_redirect_uri: app.signedOutUri, state };
  expect(await expectSignOut(anna, openid.buildEndSessionUrl(config, signOut))).toBe(`${app.signedOutUri}?state=${state}`);
});

test('openid-client calls userinfo and the API with the same token, with and without DPoP', async () => {
  const anna = await signUp(server.origin);
  const app = await createWebApplication(server.db, ['orders.read']);
  const config = await discoverConfiguration(app.clientId, app.secret);
  for (const options of [{}, { DPoP: openid.getDPoPHandle(config, await openid.randomDPoPKeyPair()) }]) {
    const { verifier, challenge, state, nonce } = await createPkceParameters();
    const request = { redirect_uri: app.redirectUri, scope: 'openid profile email orders.read', state, nonce, ...challenge };
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const callbackUrl = await completeAuthorization(anna, openid.buildAuthorizationUrl(config, request));
    const tokens = await openid.authorizationCodeGrant(config, callbackUrl, checks, undefined, options);
    const claims = tokens.claims();
    const user = { sub: String(anna.id), name: anna.name, email: anna.email, email_verified: true };
    expect(claims).toMatchObject(user);
    expect(await openid.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '', options)).toMatchObject(user);
    const orders = new URL(`${server.origin}/api/v1/orders`);
    const response = await openid.fetchProtectedResource(config, tokens.access_token, orders, 'GET', undefined, undefined, options);
    expect(response.status).toBe(200);
  }
});

test('openid-client pushes the authorization request and sends a DPoP-bound token', async () => {
  const config = await discoverConfiguration(cliClient.clientId);
  const { verifier, challenge, state } = await createPkceParameters();
  const request = { redirect_uri: cliClient.redirectUri, scope: 'openid users.read', state, ...challenge };
  const handle = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
  const url = await openid.buildAuthorizationUrlWithPAR(config, request, { DPoP: handle });
  expect(url.searchParams.has('request_uri')).toBe(true);
  const callbackUrl = await completeAuthorization(await signUp(server.origin), url);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await openid.authorizationCodeGrant(config, callbackUrl, checks, undefined, { DPoP: handle });
  expect(tokens.token_type).toBe('dpop');
  const me = new URL(`${server.origin}/api/v1/users/me`);
  const response = await openid.fetchProtectedResource(config, tokens.access_token, me, 'GET', undefined, undefined, { DPoP: handle });
  expect(response.status).toBe(200);
});

test('openid-client connects a device', async () => {
  const config = await discoverConfiguration(cliClient.clientId);
  const device = await openid.initiateDeviceAuthorization(config, { scope: 'openid users.read' });
  await approveDevice(await signUp(server.origin), device.user_code);
  await server.db.em.fork().execute(expirePollIntervalSql);
  const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.1 });
  expect(tokens.access_token).toMatch(/^ey/);
});

test('openid-client follows the FAPI 2.0 Security Profile: private_key_jwt, a pushed request and DPoP', async () => {
  const [anna, key, redirectUri] = [await signUp(server.origin), await createClientKey('PS256'), 'https://app.example/callback'];
  const application = { redirectUris: [redirectUri], grantTypes: ['authorization_code', 'refresh_token'], scopes: ['users.read'] } as const;
  const profile = { ...application, securityProfile: 'fapi2' } as const;
  const clientId = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } }, profile);
  const authentication = openid.PrivateKeyJwt({ key: key.privateKey, kid: key.kid });
  const metadata = { id_token_signed_response_alg: 'ES256' };
  const config = await openid.discovery(new URL(server.origin), clientId, metadata, authentication, {
    execute: [openid.allowInsecureRequests],
  });
  const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'));
  const { verifier, challenge, state, nonce } = await createPkceParameters();
  const request = { redirect_uri: redirectUri, scope: 'openid users.read', state, nonce, ...challenge };
  const callbackUrl = await completeAuthorization(anna, await openid.buildAuthorizationUrlWithPAR(config, request, { DPoP }));
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  const tokens = await openid.authorizationCodeGrant(config, callbackUrl, checks, undefined, { DPoP });
  expect([tokens.token_type, tokens.claims()?.sub]).toEqual(['dpop', String(anna.id)]);
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
  const me = new URL(`${server.origin}/api/v1/users/me`);
  const response = await openid.fetchProtectedResource(config, renewed.access_token, me, 'GET', undefined, undefined, { DPoP });
  expect(response.status).toBe(200);
});
