import { pick } from '../cases/api-traffic.ts';
import { formRequest, repeatRefreshes } from '../cases/oauth-traffic.ts';
import type { RequestSpec } from '../load-generator/traffic.ts';
import type { ClientCredentials, TokenResponse } from '../../support/oauth/oauth-flow.ts';
import type { ComparedServer } from './compared-server.ts';

/** Endpoints and applications of an authorization server. */
type AuthorizationServer = {
  readonly origin: string;
  readonly tokenPath: string;
  /** An application that uses the client credentials grant. */
  readonly service: ClientCredentials;
  /** An application that customers have signed in to. */
  readonly website: ClientCredentials;
  /** Obtains new tokens for the website, one pair for each customer. */
  readonly obtainTokens: () => Promise<readonly TokenResponse[]>;
  readonly introspection: { readonly origin: string; readonly createRequest: (token: string) => RequestSpec };
};

/** Creates the operations that consist of one request. Only paths and credentials differ between authorization servers. */
export const createTokenOperations = (server: AuthorizationServer): ComparedServer['operations'] => ({
  'client-credentials': async () => ({
    requests: 1,
    origin: server.origin,
    expected: '"access_token"',
    traffic: { first: () => formRequest(server.tokenPath, server.service, 'grant_type=client_credentials') },
  }),
  refresh: async () => ({
    requests: 1,
    origin: server.origin,
    expected: '"refresh_token"',
    traffic: repeatRefreshes(
      (await server.obtainTokens()).map(({ refresh_token: token = '' }) => token),
      (token) => formRequest(server.tokenPath, server.website, `grant_type=refresh_token&refresh_token=${token}`),
    ),
  }),
  async introspection() {
    const tokens = await server.obtainTokens();
    return {
      requests: 1,
      origin: server.introspection.origin,
      expected: '"active":true',
      traffic: { first: () => server.introspection.createRequest(pick(tokens).access_token) },
    };
  },
});
