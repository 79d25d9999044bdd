import {
  authorizationRequest,
  authorize,
  authorizePath,
  basic,
  tokenResponse,
  type Client,
  type TokenResponse,
} from '../support/oauth/oauth-flow.ts';
import type { Browser, Send } from '../support/browser/browser.ts';
import { eachOf } from './servers/seed-users.ts';
import { issuer, proxyTo, throughProxy } from './servers/load-balancer.ts';
import type { Target } from './servers/target.ts';
import type { Shot, Traffic } from './traffic.ts';

/** What the applications of people ask for. */
export const scope = 'orders.read';
const scopes = `openid ${scope}`;

/** The token of an application that acts for itself, with every scope it may have. */
export const clientToken = async (send: Send, client: Client): Promise<string> =>
  (await tokens(send, client, { grant_type: 'client_credentials' })).access_token;

async function tokens(send: Send, { clientId, secret }: Client, form: Record<string, string>): Promise<TokenResponse> {
  const init = { method: 'POST', headers: basic(clientId, secret), body: new URLSearchParams(form) };
  const response = await send(new URL('/oauth/token', issuer), init);
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return tokenResponse.parse(await response.json());
}

const tokenShot = ({ clientId, secret }: Client, form: string): Shot & { readonly body: string } => ({
  method: 'POST',
  path: '/oauth/token',
  headers: { ...throughProxy, ...basic(clientId, secret), 'content-type': 'application/x-www-form-urlencoded' },
  body: form,
});

/** An application that acts for itself asks for a token, again and again. */
export const clientCredentialsTraffic = ({ client }: Target): Traffic => ({
  first: () => tokenShot(client, `grant_type=client_credentials&scope=${scope}`),
});

/** Each refresh uses the token that the one before it gave. */
export async function refreshTraffic(target: Target): Promise<Traffic> {
  const { website } = target;
  const send = proxyTo(target.candidate.origin);
  const first = await eachOf(await target.browsers(), async (browser) => {
    const granted = await authorizedBy(browser, target);
    const form = {
      grant_type: 'authorization_code',
      code: granted.code,
      code_verifier: granted.verifier,
      redirect_uri: website.redirectUri,
    };
    return (await tokens(send, website, form)).refresh_token ?? '';
  });
  const shot = (token: string): ReturnType<typeof tokenShot> => tokenShot(website, `grant_type=refresh_token&refresh_token=${token}`);
  return {
    first: inTurn(first.map((token) => shot(token))),
    distinct: first.length,
    next: { found: { in: 'body', after: '"refresh_token":"', until: '"' }, shot, together: false },
  };
}

/** Somebody who is signed in comes from an application, goes back with a code, and the application redeems it. */
export async function signInTraffic(target: Target): Promise<Traffic> {
  const { website } = target;
  const { query, verifier } = authorizationRequest(requestOf(target));
  const first = await eachOf(await target.browsers(), async (browser) => {
    await authorizedBy(browser, target); // so that everybody has agreed before
    const path = authorizePath(query);
    return { path, headers: { ...throughProxy, accept: 'text/html', cookie: browser.cookiesFor('/oauth/authorize') } };
  });
  const form = new URLSearchParams({ grant_type: 'authorization_code', redirect_uri: website.redirectUri, code_verifier: verifier });
  return {
    first: inTurn(first),
    distinct: first.length,
    next: {
      found: { in: 'location', after: 'code=', until: '&' },
      shot: (code) => tokenShot(website, `${form.toString()}&code=${code}`),
      together: true,
    },
  };
}

const requestOf = ({ website }: Target): Record<string, string> => ({
  client_id: website.clientId,
  redirect_uri: website.redirectUri,
  scope: scopes,
});

const authorizedBy = (browser: Browser, target: Target): ReturnType<typeof authorize> => authorize(issuer, { browser }, requestOf(target));

function inTurn(shots: readonly Shot[]): () => Shot {
  let at = 0;
  return () => {
    const shot = shots[at % shots.length];
    if (!shot) throw new Error('nobody is signed in');
    at += 1;
    return shot;
  };
}
