import { basicAuthorization, tokenResponseSchema, type ClientCredentials, type TokenResponse } from '../../support/oauth/oauth-flow.ts';
import type { SendRequest } from '../../support/browser/browser.ts';
import { issuer } from './tls-proxy.ts';

/** Scope that the applications request. */
export const scope = 'orders.read';

/** Obtains a token with the client credentials grant and all of the client's scopes. */
export const clientToken = async (send: SendRequest, client: ClientCredentials): Promise<string> =>
  (await requestTokens(send, client, { grant_type: 'client_credentials' })).access_token;

export async function requestTokens(
  send: SendRequest,
  { clientId, secret }: ClientCredentials,
  form: Record<string, string>,
  headers: Record<string, string> = {},
  path = '/oauth/token',
): Promise<TokenResponse> {
  const init = { method: 'POST', headers: { ...headers, ...basicAuthorization(clientId, secret) }, body: new URLSearchParams(form) };
  const response = await send(new URL(path, issuer), init);
  if (response.status !== 200) throw new Error(`no token was issued: ${response.status} ${await response.text()}`);
  return tokenResponseSchema.parse(await response.json());
}
