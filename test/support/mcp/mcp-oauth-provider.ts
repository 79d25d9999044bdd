import type { OAuthClientProvider, OAuthDiscoveryState, StoredOAuthTokens } from '@modelcontextprotocol/client';

/** Sign-in state that the OAuth client provider of an MCP client saves. */
export type McpClientState = {
  verifier: string;
  tokens?: StoredOAuthTokens;
  authorizationUrl?: URL;
  found?: OAuthDiscoveryState;
};

type SavedStateFunction =
  | 'tokens'
  | 'saveTokens'
  | 'redirectToAuthorization'
  | 'saveCodeVerifier'
  | 'codeVerifier'
  | 'saveDiscoveryState'
  | 'discoveryState';

/** Returns the functions of an MCP client's OAuth client provider that save and return the sign-in state. */
export const saveStateIn = (clientState: McpClientState): Required<Pick<OAuthClientProvider, SavedStateFunction>> => ({
  tokens: () => clientState.tokens,
  saveTokens: (tokens) => void (clientState.tokens = tokens),
  redirectToAuthorization: (url) => void (clientState.authorizationUrl = url),
  saveCodeVerifier: (verifier) => void (clientState.verifier = verifier),
  codeVerifier: () => clientState.verifier,
  saveDiscoveryState: (found) => void (clientState.found = found),
  discoveryState: () => clientState.found,
});
