import { basic, tokenResponse, type Client, type TokenResponse } from '../../support/oauth/oauth-flow.ts';
import type { Send } from '../../support/browser/browser.ts';
import { issuer } from './tls-proxy.ts';

/** Scope that the applications request. */
export const scope = 'orders.read';

/** Obtains a token by client credentials, with all scopes of the client. */
export const clientToken = async (send: Send, client: Client): Promise<string> =>
  (await requestTokens(send, client, { grant_type: 'client_credentials' })).access_token;

export async function requestTokens(send: Send, { clientId, secret }: Client, form: Record<string, string>): Promise<TokenResponse> {
  const init = { method: 'POST', headers: basic(clientId, secret), body: new URLSearchParams(form) };
  const response = await send(new URL('/oauth/token', issuer), init);
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return tokenResponse.parse(await response.json());
}
