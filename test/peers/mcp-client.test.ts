import { auth } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { cliClient, signUp } from '../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../support/server/use-server.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { createAssistant } from '../support/mcp/assistant.ts';

const server = useServer({ openRegistration: true });

test('the MCP client discovers the authorization server from the API URL, registers itself, signs in, and refreshes', async () => {
  const { clientState, provider } = createAssistant({
    client_name: 'Test assistant',
    redirect_uris: [cliClient.redirectUri],
  });
  // Without a scope, the client would register itself with all scopes of the API, some of which are only for administrators.
  const request = { serverUrl: `${server.origin}/api`, scope: 'openid users.read offline_access' };
  expect(await auth(provider, request)).toBe('REDIRECT');
  expect(clientState.client?.client_id).toMatch(/^app-/);
  expect(clientState.authorizationUrl?.searchParams.get('resource')).toBe(request.serverUrl);
  const callbackUrl = await completeAuthorization(await signUp(server.origin), clientState.authorizationUrl ?? '');
  const callbackParameters = {
    authorizationCode: callbackUrl.searchParams.get('code') ?? '',
    iss: callbackUrl.searchParams.get('iss') ?? '',
  };
  expect(await auth(provider, { ...request, ...callbackParameters })).toBe('AUTHORIZED');
  const first = clientState.tokens?.access_token ?? '';
  expect(await fetchApiStatus(server, first)).toBe(200);
  expect(await auth(provider, request)).toBe('AUTHORIZED'); // uses the refresh token
  expect(clientState.tokens?.access_token).not.toBe(first);
  expect(await fetchApiStatus(server, clientState.tokens?.access_token ?? '')).toBe(200);
});
