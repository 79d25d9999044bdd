import {
  auth,
  Client,
  extractWWWAuthenticateParams,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { Scope } from '@mandate/contract';
import { cliClient, obtainAuthorizationCode, type TestUser } from '../oauth/oauth-flow.ts';
import type { JsonBody } from '../server/start-mandate.ts';

export type SignInState = { verifier: string; tokens?: StoredOAuthTokens; authorizationUrl?: URL; discovery?: OAuthDiscoveryState };

/**
 * Connects an MCP client that initially knows only the MCP URL and discovers the authorization server.
 * @param options.suffix added to the MCP URL, to select tools
 * @param options.state receives the values that the client stores
 * @param options.consentForm the user's entries on the consent page
 * @param options.protocol the protocol version: the 2025 versions, or a later version if the server supports it
 */
export async function connectMcpClient(
  origin: string,
  person: TestUser,
  scopes: readonly Scope[],
  {
    suffix = '',
    state = { verifier: '' },
    consentForm = { decision: 'allow' },
    protocol = 'legacy',
  }: { suffix?: string; state?: SignInState; consentForm?: Record<string, string>; protocol?: 'legacy' | 'auto' } = {},
): Promise<Client> {
  const mcpUrl = new URL(`${origin}/mcp`);
  const serverUrl = new URL(`${mcpUrl.href}${suffix}`);
  const provider: OAuthClientProvider = {
    redirectUrl: cliClient.redirectUri,
    clientMetadata: { redirect_uris: [cliClient.redirectUri], scope: ['openid', ...scopes].join(' ') },
    clientInformation: () => ({ client_id: cliClient.clientId, issuer: origin }),
    tokens: () => state.tokens,
    saveTokens: (tokens) => void (state.tokens = tokens),
    redirectToAuthorization: (url) => void (state.authorizationUrl = url),
    saveCodeVerifier: (verifier) => void (state.verifier = verifier),
    codeVerifier: () => state.verifier,
    saveDiscoveryState: (discovery) => void (state.discovery = discovery),
    discoveryState: () => state.discovery,
  };
  const scope = ['openid', ...scopes].join(' ');
  const { resourceMetadataUrl = mcpUrl } = extractWWWAuthenticateParams(await fetch(serverUrl, { method: 'POST' }));
  expect(await auth(provider, { serverUrl, scope, resourceMetadataUrl })).toBe('REDIRECT');
  expect(state.authorizationUrl?.searchParams.get('resource')).toBe(mcpUrl.href);
  const request = Object.fromEntries(state.authorizationUrl?.searchParams ?? []);
  const { leaves } = await obtainAuthorizationCode(origin, person, request, consentForm);
  const callback = { authorizationCode: leaves.searchParams.get('code') ?? '', iss: leaves.searchParams.get('iss') ?? '' };
  expect(await auth(provider, { serverUrl, scope, resourceMetadataUrl, ...callback })).toBe('AUTHORIZED');
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: protocol } });
  await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }));
  return client;
}

/** Calls a tool. `body` is the structured content, the problem details of a rejected call, or the JSON in the result's text. */
export async function callMcpTool(
  client: Client,
  name: string,
  toolArguments: Record<string, unknown> = {},
): Promise<{ isError: boolean; text: string; body: JsonBody }> {
  const { isError = false, content, structuredContent, _meta: meta } = await client.callTool({ name, arguments: toolArguments });
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  return { isError, text, body: structuredContent ?? meta?.['mandate/problem'] ?? (text.startsWith('{') ? JSON.parse(text) : undefined) };
}
