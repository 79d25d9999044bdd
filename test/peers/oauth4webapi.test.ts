import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { commandLine, signUp } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/with-server.ts';
import { followThrough } from './sign-in-with.ts';

const server = useServer();
const insecure = { [oauth.allowInsecureRequests]: true };

test('oauth4webapi finds its way from the API to the authorization server, and back with a token', async () => {
  const resource = new URL(`${server.origin}/api`);
  const described = await oauth.processResourceDiscoveryResponse(resource, await oauth.resourceDiscoveryRequest(resource, insecure));
  const issuer = new URL(described.authorization_servers?.[0] ?? '');
  const found = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' });
  const as = await oauth.processDiscoveryResponse(issuer, found);
  const client: oauth.Client = { client_id: commandLine.clientId };

  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(as.authorization_endpoint ?? '');
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: commandLine.redirectUri,
    response_type: 'code',
    scope: 'users.read',
    resource: described.resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  const back = oauth.validateAuthResponse(as, client, await followThrough(await signUp(server.origin), url), state);
  const asked = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), back, commandLine.redirectUri, verifier, insecure);
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, asked);
  const me = new URL(`${server.origin}/api/v1/users/me`);
  expect((await oauth.protectedResourceRequest(tokens.access_token, 'GET', me, undefined, undefined, insecure)).status).toBe(200);

  const renewed = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token ?? '', insecure),
  );
  const known = await oauth.introspectionRequest(as, client, oauth.None(), renewed.access_token, insecure);
  expect(await oauth.processIntrospectionResponse(as, client, known)).toMatchObject({ active: true, scope: 'users.read' });
  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, oauth.None(), renewed.access_token, insecure));
});

test('oauth4webapi understands what a refused request says', async () => {
  const me = new URL(`${server.origin}/api/v1/users/me`);
  const refused = await oauth
    .protectedResourceRequest('not-a-token', 'GET', me, undefined, undefined, insecure)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
  if (!(refused instanceof oauth.WWWAuthenticateChallengeError)) throw new Error('not refused');
  expect(refused.cause.map(({ scheme }) => scheme)).toEqual(['bearer', 'dpop']);
  expect(refused.cause[0]?.parameters).toMatchObject({
    error: 'invalid_token',
    resource_metadata: expect.stringContaining('/.well-known/'),
  });
});
