import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, Tokens } from './authorization-server-metadata.ts';
import { AuthorizationError } from '../core/errors.ts';
import { bodyOf, understood } from './oauth-request.ts';
import { currentKey, thumbprint } from './dpop-key.ts';
import { clientAuthentication, requestOptions, requestTokens } from './token-endpoint.ts';

export type AuthorizationRequestOptions = {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** How old the sign-in of the user may be, in seconds (OpenID Connect Core section 3.1.2.1); an older one is repeated (RFC 9470 section 4). */
  readonly maxAge?: number | undefined;
};

/** A sign-in that has begun. Keep it until the browser comes back: `state` and `codeVerifier` prove that both ends are the same. */
export type AuthorizationRequest = AuthorizationRequestOptions & {
  /** Where the person goes. */
  readonly url: string;
  readonly state: string;
  readonly codeVerifier: string;
};

/** Begins a sign-in with the authorization code grant and PKCE (RFC 7636, S256). */
export async function beginAuthorization(server: AuthorizationServer, options: AuthorizationRequestOptions): Promise<AuthorizationRequest> {
  const endpoint = server.metadata.authorization_endpoint;
  if (endpoint === undefined) throw new AuthorizationError('invalid_response', `${server.issuer} has no authorization endpoint`);
  const state = oauth.generateRandomState();
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const url = new URL(endpoint);
  const proofKey = await currentKey(server.proofKey);
  const parameters = {
    client_id: options.clientId,
    redirect_uri: options.redirectUri,
    response_type: 'code',
    scope: options.scopes.join(' '),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(options.maxAge !== undefined && { max_age: String(options.maxAge) }),
    // Binds the code too, which otherwise whoever sees it and the verifier could use with another key (RFC 9449 section 10).
    ...(proofKey && { dpop_jkt: await thumbprint(proofKey) }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { ...options, url: url.href, state, codeVerifier };
}

/** Completes a sign-in with the address the browser came back to. Checks `state` and `iss` (RFC 9207) before the code is used. */
export async function completeAuthorization(
  server: AuthorizationServer,
  request: AuthorizationRequest,
  callbackUrl: URL,
  signal?: AbortSignal,
): Promise<Tokens> {
  const parameters = await understood(server.issuer, signal, async () =>
    oauth.validateAuthResponse(server.metadata, { client_id: request.clientId }, callbackUrl, request.state),
  );
  const { redirectUri: redirect_uri, codeVerifier: code_verifier } = request;
  const code = parameters.get('code') ?? '';
  return requestTokens(server, request, 'authorization_code', { code, redirect_uri, code_verifier }, signal);
}

/** Tells the authorization server that a token shall not work any longer (RFC 7009); with a refresh token, all that came from it. */
export async function revoke(server: AuthorizationServer, clientId: string, token: string, signal?: AbortSignal): Promise<void> {
  await understood(server.issuer, signal, async (ending) => {
    const authentication = clientAuthentication({ clientId });
    const client = { client_id: clientId };
    await bodyOf(await oauth.revocationRequest(server.metadata, client, authentication, token, requestOptions(server, ending)));
  });
}
