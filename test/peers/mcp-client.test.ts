import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { cliClient, signUp } from '../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../support/server/use-server.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { saveStateIn, type McpClientState } from '../support/mcp/mcp-oauth-provider.ts';

const server = useServer();

/** Creates an MCP client's OAuth client provider, and the object in which the provider saves its state. */
function createProvider() {
  const clientState: McpClientState = { verifier: '' };
  const provider: OAuthClientProvider = {
    redirectUrl: cliClient.redirectUri,
    clientMetadata: { redirect_uris: [cliClient.redirectUri], scope: 'openid users.read offline_access' },
    clientInformation: () => ({ client_id: cliClient.clientId, issuer: server.origin }),
    ...saveStateIn(clientState),
  };
  return { clientState, provider };
}

test('the MCP client discovers the authorization server from the API URL, signs in, and refreshes', async () => {
  const { clientState, provider } = createProvider();
  const serverUrl = `${server.origin}/api`;
  expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
  expect(clientState.authorizationUrl?.searchParams.get('resource')).toBe(serverUrl);
  const callbackUrl = await completeAuthorization(await signUp(server.origin), clientState.authorizationUrl ?? '');
  const callbackParameters = {
    authorizationCode: callbackUrl.searchParams.get('code') ?? '',
    iss: callbackUrl.searchParams.get('iss') ?? '',
  };
  expect(await auth(provider, { serverUrl, ...callbackParameters })).toBe('AUTHORIZED');
  const first = clientState.tokens?.access_token ?? '';
  expect(await fetchApiStatus(server, first)).toBe(200);
  expect(await auth(provider, { serverUrl })).toBe('AUTHORIZED'); // uses the refresh token
  expect(clientState.tokens?.access_token).not.toBe(first);
  expect(await fetchApiStatus(server, clientState.tokens?.access_token ?? '')).toBe(200);
});
