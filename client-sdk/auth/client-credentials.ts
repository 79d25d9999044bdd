import {
  discover,
  isFresh,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type Tokens,
} from './authorization-server-metadata.ts';
import { proofWith } from './dpop-key.ts';
import { singleFlight } from './single-flight.ts';
import { requestTokens } from './token-endpoint.ts';
import type { TokenSource } from '../core/token-source.ts';

export type ClientCredentials = Omit<AuthorizationServerOptions, 'signal'> & {
  /** The authorization server; of this product, the same origin as the API. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the tokens shall allow; everything the application may, when left out. */
  readonly scopes?: readonly string[] | undefined;
};

/** Tokens of an application that acts for itself. Never for browsers: a page cannot keep a secret. */
export function clientCredentials(credentials: ClientCredentials): TokenSource {
  const { proofKey, scopes } = credentials;
  let server: AuthorizationServer | undefined;
  let tokens: Tokens | undefined;
  const renewed = singleFlight(async () => {
    server ??= await discover(credentials.issuer, credentials);
    tokens = await requestTokens(server, credentials, 'client_credentials', scopes ? { scope: scopes.join(' ') } : {});
    return tokens.accessToken;
  });
  return {
    accessToken: async () => (tokens && isFresh(tokens) ? tokens.accessToken : renewed()),
    replacement: async (refused) => (tokens && tokens.accessToken !== refused ? tokens.accessToken : renewed()),
    ...(proofKey && { proof: (request) => proofWith(proofKey, request) }),
  };
}
