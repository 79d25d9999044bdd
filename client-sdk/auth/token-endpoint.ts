import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, OAuthClient, Tokens } from './authorization-server-metadata.ts';
import { AuthorizationError } from '../core/authorization-errors.ts';
import { parseOAuthResponseOrThrow, runWithOAuthTimeoutAndErrorConversion, type JsonBody } from './oauth-response-timeout-and-errors.ts';
import { createDpopProofIfKeyIsSet, createFetchWithDpopNonceRetry } from './dpop-key.ts';

type OAuthFetch = (url: string, init: oauth.CustomFetchOptions<string, URLSearchParams | undefined>) => Promise<Response>;

/** Returns the `oauth4webapi` options for a request. If there is a key, the options add a DPoP proof to requests to the token endpoint. */
export function createOAuthRequestOptions(server: AuthorizationServer, signal: AbortSignal) {
  const fetchWithProof: OAuthFetch = async (url, { body = null, headers, ...init }) => {
    const proof = url === server.metadata.token_endpoint && (await createDpopProofIfKeyIsSet(server.proofKey, { method: 'POST', url }));
    return createFetchWithDpopNonceRetry(server.proofKey, server.fetch)(url, {
      ...init,
      signal,
      body,
      headers: { ...headers, ...(proof && { dpop: proof }) },
    });
  };
  return { [oauth.allowInsecureRequests]: server.issuer.startsWith('http:'), [oauth.customFetch]: fetchWithProof, signal };
}

/**
 * Returns the client authentication (RFC 6749 section 2.3.1): the client's own function if there is one, HTTP Basic if the client has a
 * secret, and otherwise only `client_id`.
 */
export const createClientAuthentication = ({ clientId, clientSecret, clientAuthentication }: OAuthClient): oauth.ClientAuth =>
  clientAuthentication ??
  ((_server, _client, body, headers) => {
    if (clientSecret === undefined) body.set('client_id', clientId);
    else headers.set('authorization', `Basic ${btoa([clientId, clientSecret].map(formEncoded).join(':'))}`);
  });

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/** Requests tokens from the token endpoint (RFC 6749 section 5). */
export const requestTokens = (
  server: AuthorizationServer,
  client: OAuthClient,
  grantType: string,
  parameters: Record<string, string>,
  signal?: AbortSignal,
): Promise<Tokens> =>
  runWithOAuthTimeoutAndErrorConversion(server.issuer, signal, async (requestSignal) => {
    const response = await oauth.genericTokenEndpointRequest(
      server.metadata,
      { client_id: client.clientId },
      createClientAuthentication(client),
      grantType,
      parameters,
      createOAuthRequestOptions(server, requestSignal),
    );
    return toTokens(await parseOAuthResponseOrThrow(response));
  });

/** Converts a token response. The ID token is ignored, because an API operation returns the signed-in user. */
function toTokens({
  access_token: accessToken,
  refresh_token: refreshToken,
  token_type: type,
  expires_in: seconds,
  scope,
}: JsonBody): Tokens {
  if (typeof accessToken !== 'string' || !/^(?:bearer|dpop)$/i.test(String(type)))
    throw new AuthorizationError('invalid_response', 'The authorization server returned no usable token');
  return {
    accessToken,
    expiresAt: Date.now() + (Number(seconds) || 300) * 1000,
    ...(typeof refreshToken === 'string' && { refreshToken }),
    scopes: typeof scope === 'string' ? scope.split(' ') : [],
  };
}
