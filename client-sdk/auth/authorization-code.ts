import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, OAuthClient, Tokens } from './authorization-server-metadata.ts';
import { AuthorizationError } from '../core/authorization-errors.ts';
import { parseOAuthResponseOrThrow, runWithOAuthTimeoutAndErrorConversion } from './oauth-response-timeout-and-errors.ts';
import { getCurrentProofKey, calculateKeyThumbprint } from './dpop-key.ts';
import { createClientAuthentication, createOAuthRequestOptions, requestTokens } from './token-endpoint.ts';

/** Order limits that an application requests from a customer (RFC 9396). The customer can lower each limit. */
export type OrderAuthorizationRequest = {
  readonly type: 'mandate_orders';
  /** Permitted actions (default: all). */
  readonly actions?: readonly ('place' | 'pay' | 'cancel')[];
  /** Spending limits, in minor units of `currency`. `per_period` requires `period`. */
  readonly limits?: {
    readonly currency: string;
    readonly per_order?: number;
    readonly per_period?: number;
    readonly period?: 'day' | 'week' | 'month';
  };
  /** Products that can be ordered (default: all products). */
  readonly products?: { readonly categories: readonly string[] };
  /** RFC 3339 timestamp after which the application can no longer place, pay for or cancel orders. */
  readonly valid_until?: string;
  /**
   * Orders that the application can access: `own` (only orders that it placed) or `all`. Default: `own`, or `all` for the shop's own
   * applications.
   */
  readonly orders?: 'own' | 'all';
  /**
   * Orders that need the user's approval: `above_limit` (only orders above a limit; default), `always` (every order) or `never` (the
   * application cannot request approvals).
   */
  readonly approval?: 'above_limit' | 'always' | 'never';
};

export type AuthorizationRequestOptions = {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /**
   * Maximum age of the user's sign-in, in seconds (OpenID Connect Core section 3.1.2.1).
   * If the sign-in is older, the user has to sign in again (RFC 9470 section 4).
   */
  readonly maxAge?: number | undefined;
  /** Order limits to request from the customer, as a list with one element. */
  readonly authorizationDetails?: readonly [OrderAuthorizationRequest] | undefined;
};

/**
 * A pending sign-in. Store this object until the browser returns to `redirectUri`: `state` and `codeVerifier` bind the response to this
 * request.
 */
export type AuthorizationRequest = AuthorizationRequestOptions & {
  /** Authorization URL to open in the user's browser. */
  readonly url: string;
  readonly state: string;
  readonly codeVerifier: string;
};

/** Starts a sign-in with the authorization code grant and PKCE (RFC 7636, S256), and returns the authorization URL. */
export async function beginAuthorization(server: AuthorizationServer, options: AuthorizationRequestOptions): Promise<AuthorizationRequest> {
  const endpoint = server.metadata.authorization_endpoint;
  if (endpoint === undefined) throw new AuthorizationError('invalid_response', `${server.issuer} has no authorization endpoint`);
  const state = oauth.generateRandomState();
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const url = new URL(endpoint);
  const proofKey = await getCurrentProofKey(server.proofKey);
  const parameters = {
    client_id: options.clientId,
    redirect_uri: options.redirectUri,
    response_type: 'code',
    scope: options.scopes.join(' '),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(options.maxAge !== undefined && { max_age: String(options.maxAge) }),
    ...(options.authorizationDetails && { authorization_details: JSON.stringify(options.authorizationDetails) }),
    // Binds the authorization code to the DPoP key. Otherwise, an attacker could use a stolen code and verifier with a different key (RFC
    // 9449 section 10).
    ...(proofKey && { dpop_jkt: await calculateKeyThumbprint(proofKey) }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { ...options, url: url.href, state, codeVerifier };
}

/**
 * Completes a sign-in with the URL to which the browser was redirected. Checks `state` and `iss` (RFC 9207) before it exchanges the code.
 * For a confidential application, `request` also contains its `clientSecret` or `clientAuthentication`.
 */
export async function completeAuthorization(
  server: AuthorizationServer,
  request: Omit<AuthorizationRequest, 'url'> & OAuthClient,
  callbackUrl: URL,
  signal?: AbortSignal,
): Promise<Tokens> {
  const parameters = await runWithOAuthTimeoutAndErrorConversion(server.issuer, signal, async () =>
    oauth.validateAuthResponse(server.metadata, { client_id: request.clientId }, callbackUrl, request.state),
  );
  const { redirectUri: redirect_uri, codeVerifier: code_verifier } = request;
  const code = parameters.get('code') ?? '';
  return requestTokens(server, request, 'authorization_code', { code, redirect_uri, code_verifier }, signal);
}

/**
 * Revokes a token (RFC 7009). Revoking a refresh token also revokes the access tokens that were issued with it.
 *
 * @param client the client ID of a public application, or the client ID and the authentication of a confidential application
 */
export async function revoke(
  server: AuthorizationServer,
  client: string | OAuthClient,
  token: string,
  signal?: AbortSignal,
): Promise<void> {
  const credentials = typeof client === 'string' ? { clientId: client } : client;
  await runWithOAuthTimeoutAndErrorConversion(server.issuer, signal, async (requestSignal) => {
    const response = await oauth.revocationRequest(
      server.metadata,
      { client_id: credentials.clientId },
      createClientAuthentication(credentials),
      token,
      createOAuthRequestOptions(server, requestSignal),
    );
    await parseOAuthResponseOrThrow(response);
  });
}
