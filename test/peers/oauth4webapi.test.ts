import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { cliClient, signUp } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/use-server.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';

const server = useServer();
const insecureOptions = { [oauth.allowInsecureRequests]: true };

test('oauth4webapi discovers the authorization server from the API and calls the API with a token', async () => {
  const resource = new URL(`${server.origin}/api`);
  const resourceMetadata = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, insecureOptions),
  );
  const issuer = new URL(resourceMetadata.authorization_servers?.[0] ?? '');
  const discoveryResponse = await oauth.discoveryRequest(issuer, { ...insecureOptions, algorithm: 'oauth2' });
  const as = await oauth.processDiscoveryResponse(issuer, discoveryResponse);
  const client: oauth.Client = { client_id: cliClient.clientId };

  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(as.authorization_endpoint ?? '');
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: cliClient.redirectUri,
    response_type: 'code',
    scope: 'users.read',
    resource: resourceMetadata.resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  const callbackParameters = oauth.validateAuthResponse(as, client, await completeAuthorization(await signUp(server.origin), url), state);
  const codeResponse = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    oauth.None(),
    callbackParameters,
    cliClient.redirectUri,
    verifier,
    insecureOptions,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, codeResponse);
  const me = new URL(`${server.origin}/api/v1/users/me`);
  expect((await oauth.protectedResourceRequest(tokens.access_token, 'GET', me, undefined, undefined, insecureOptions)).status).toBe(200);

  const renewed = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token ?? '', insecureOptions),
  );
  const introspectionResponse = await oauth.introspectionRequest(as, client, oauth.None(), renewed.access_token, insecureOptions);
  expect(await oauth.processIntrospectionResponse(as, client, introspectionResponse)).toMatchObject({ active: true, scope: 'users.read' });
  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, oauth.None(), renewed.access_token, insecureOptions));
});

test('oauth4webapi parses the challenge of a rejected request', async () => {
  const me = new URL(`${server.origin}/api/v1/users/me`);
  const refused = await oauth
    .protectedResourceRequest('not-a-token', 'GET', me, undefined, undefined, insecureOptions)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
  if (!(refused instanceof oauth.WWWAuthenticateChallengeError)) throw new Error('not refused');
  expect(refused.cause.map(({ scheme }) => scheme)).toEqual(['bearer', 'dpop']);
  expect(refused.cause[0]?.parameters).toMatchObject({
    error: 'invalid_token',
    resource_metadata: expect.stringContaining('/.well-known/'),
  });
});
