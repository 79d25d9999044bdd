import { createClient } from '@mandate/client-sdk';
import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
import { queryOptions } from '@mandate/client-sdk/query';
import { consoleEnvironment } from '../console-environment.ts';
import { getLanguage } from '../languages/language-store.ts';

const { issuer, path, clientId, scopes } = consoleEnvironment;

export const consoleSignIn = browserSignIn({
  issuer,
  clientId,
  redirectUri: new URL(path, issuer).href,
  scopes: ['openid', 'offline_access', ...scopes],
});

/** Client that sends the tokens of the signed-in user. */
export const apiClient = createClient({ baseUrl: issuer, auth: consoleSignIn.auth });
apiClient.use((request, next) => {
  // With this header, the server sends problem details in the console's language.
  request.init.headers.set('accept-language', getLanguage());
  return next(request);
});

/** Queries that the console sends without a token. */
export const { queries: publicQueries } = queryOptions(createClient({ baseUrl: issuer }));

export const { queries, infiniteQueries, mutations, keyOf } = queryOptions(apiClient);
