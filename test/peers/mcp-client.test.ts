import { auth, type OAuthClientProvider, type OAuthDiscoveryState, type StoredOAuthTokens } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { commandLine, signUp } from '../support/oauth/oauth-flow.ts';
import { apiStatus, useServer } from '../support/server/with-server.ts';
import { followThrough } from './sign-in-with.ts';

const server = useServer();

/** What a program that speaks MCP keeps between the steps of a sign-in. */
function program() {
  const kept: { verifier: string; tokens?: StoredOAuthTokens; sentTo?: URL; found?: OAuthDiscoveryState } = { verifier: '' };
  const provider: OAuthClientProvider = {
    redirectUrl: commandLine.redirectUri,
    clientMetadata: { redirect_uris: [commandLine.redirectUri], scope: 'openid users.read offline_access' },
    clientInformation: () => ({ client_id: commandLine.clientId, issuer: server.origin }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.sentTo = url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (found) => void (kept.found = found),
    discoveryState: () => kept.found,
  };
  return { kept, provider };
}

test('the MCP client finds the authorization server by the address of the API alone, signs in, and refreshes', async () => {
  const { kept, provider } = program();
  const serverUrl = `${server.origin}/api`;
  expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
  expect(kept.sentTo?.searchParams.get('resource')).toBe(serverUrl);
  const back = await followThrough(await signUp(server.origin), kept.sentTo ?? '');
  const answer = { authorizationCode: back.searchParams.get('code') ?? '', iss: back.searchParams.get('iss') ?? '' };
  expect(await auth(provider, { serverUrl, ...answer })).toBe('AUTHORIZED');
  const first = kept.tokens?.access_token ?? '';
  expect(await apiStatus(server, first)).toBe(200);
  expect(await auth(provider, { serverUrl })).toBe('AUTHORIZED'); // by its refresh token
  expect(kept.tokens?.access_token).not.toBe(first);
  expect(await apiStatus(server, kept.tokens?.access_token ?? '')).toBe(200);
});
