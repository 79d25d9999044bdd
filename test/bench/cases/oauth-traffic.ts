import {
  buildAuthorizationRequest,
  authorizationPath,
  basicAuthorization,
  type ClientCredentials,
} from '../../support/oauth/oauth-flow.ts';
import { scope } from '../servers/client-token.ts';
import { authorizeWebsite, mapInBatches } from '../servers/customers.ts';
import { proxyHeaders } from '../servers/tls-proxy.ts';
import type { Target } from '../servers/target.ts';
import type { RequestSpec, Traffic } from '../load-generator/traffic.ts';
import { pick } from './api-traffic.ts';

const authorizationScope = `openid ${scope}`;

type PostRequest = RequestSpec & { readonly body: string };

/** Returns a request that submits a form. The request contains an application's credentials if `client` is set. */
export const formRequest = (path: string, client: ClientCredentials | undefined, form: string): PostRequest => ({
  method: 'POST',
  path,
  headers: {
    ...proxyHeaders,
    ...(client && basicAuthorization(client.clientId, client.secret)),
    'content-type': 'application/x-www-form-urlencoded',
  },
  body: form,
});

const tokenRequest = (client: ClientCredentials, form: string): PostRequest => formRequest('/oauth/token', client, form);

/** Repeated token requests with the client credentials grant. */
export const clientCredentialsTraffic = ({ client }: Target): Traffic => ({
  first: () => tokenRequest(client, `grant_type=client_credentials&scope=${scope}`),
});

/** Repeated refreshes, each with the refresh token from the previous response. */
export async function refreshTraffic(target: Target): Promise<Traffic> {
  const { website } = target;
  const first = await mapInBatches(
    await target.browsers(),
    async (browser) => (await authorizeWebsite(target, browser, { scope: authorizationScope })).refresh_token ?? '',
  );
  return repeatRefreshes(first, (token) => tokenRequest(website, `grant_type=refresh_token&refresh_token=${token}`));
}

/** Repeated refreshes, which start with the given refresh tokens. */
export const repeatRefreshes = (tokens: readonly string[], createRequest: (token: string) => PostRequest): Traffic => ({
  first: roundRobin(tokens.map((token) => createRequest(token))),
  distinct: tokens.length,
  next: { valueLocation: { in: 'body', after: '"refresh_token":"', until: '"' }, createRequest, countsAsOne: false },
});

/** Repeated introspections of the customers' access tokens by the website that obtained them. */
export async function introspectionTraffic(target: Target): Promise<Traffic> {
  const customers = await target.customers();
  return { first: () => formRequest('/oauth/introspection', target.website, `token=${pick(customers).token}`) };
}

/** Repeated sign-ins: a signed-in user's authorization request returns a code, which the application redeems. */
export async function signInTraffic(target: Target): Promise<Traffic> {
  const { website } = target;
  const { query, verifier } = buildAuthorizationRequest(authorizationParameters(target));
  const first = await mapInBatches(await target.browsers(), async (browser) => {
    await authorizeWebsite(target, browser, { scope: authorizationScope }); // gives consent in advance, so that the measured requests need no consent
    const path = authorizationPath(query);
    return { path, headers: { ...proxyHeaders, accept: 'text/html', cookie: browser.cookieHeader('/oauth/authorize') } };
  });
  const form = new URLSearchParams({ grant_type: 'authorization_code', redirect_uri: website.redirectUri, code_verifier: verifier });
  return repeatCodeFlows(first, (code) => tokenRequest(website, `${form.toString()}&code=${code}`));
}

/** Repeated authorization requests, each of which is followed by a token request with the code from the redirect. */
export const repeatCodeFlows = (first: readonly RequestSpec[], createTokenRequest: (code: string) => PostRequest): Traffic => ({
  first: roundRobin(first),
  distinct: first.length,
  next: { valueLocation: { in: 'location', after: 'code=', until: '&' }, createRequest: createTokenRequest, countsAsOne: true },
});

const authorizationParameters = ({ website }: Target): Record<string, string> => ({
  client_id: website.clientId,
  redirect_uri: website.redirectUri,
  scope: authorizationScope,
});

function roundRobin(requests: readonly RequestSpec[]): () => RequestSpec {
  let index = 0;
  return () => {
    const request = requests[index % requests.length];
    if (!request) throw new Error('no user is signed in');
    index += 1;
    return request;
  };
}
