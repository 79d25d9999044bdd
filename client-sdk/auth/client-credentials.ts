import {
  discover,
  isAccessTokenFresh,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type ClientAuthentication,
  type Tokens,
} from './authorization-server-metadata.ts';
import { createTokenSourceProofMethods } from './dpop-key.ts';
import { singleFlight } from './single-flight.ts';
import { requestTokens } from './token-endpoint.ts';
import type { TokenSource } from '../core/token-source.ts';

export type ClientCredentials = Omit<AuthorizationServerOptions, 'signal'> & {
  /** Issuer URL of the authorization server: the origin of the API. */
  readonly issuer: string;
  readonly clientId: string;
  /** Requested scopes (default: all scopes of the application). */
  readonly scopes?: readonly string[] | undefined;
} & ({ readonly clientSecret: string } | { readonly clientAuthentication: ClientAuthentication });

/**
 * Creates a token source for an application that acts on its own behalf. Do not use client credentials in a browser, where the secret would
 * be public.
 */
export function clientCredentials(credentials: ClientCredentials): TokenSource {
  const { proofKey, scopes } = credentials;
  let server: AuthorizationServer | undefined;
  let tokens: Tokens | undefined;
  const requestToken = singleFlight(async () => {
    server ??= await discover(credentials.issuer, credentials);
    tokens = await requestTokens(server, credentials, 'client_credentials', scopes ? { scope: scopes.join(' ') } : {});
    return tokens.accessToken;
  });
  return {
    accessToken: async () => (tokens && isAccessTokenFresh(tokens) ? tokens.accessToken : requestToken()),
    replacement: async (rejected) => (tokens && tokens.accessToken !== rejected ? tokens.accessToken : requestToken()),
    ...createTokenSourceProofMethods(proofKey),
  };
}
