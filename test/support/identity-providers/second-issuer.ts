import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { closeServer, listenOnLoopback } from '../network/loopback-server.ts';

/** An account at the second issuer. */
export type SecondIssuerAccount = { readonly sub: string; readonly name: string; readonly email: string };

export type SecondIssuer = AsyncDisposable & {
  readonly issuer: string;
  readonly clientSecret: string;
  /** Paths of the requests that contained a DPoP proof. */
  readonly pathsWithDpopProof: readonly string[];
  /** Closes the account, so that the issuer rejects its refresh tokens. */
  readonly endAccount: () => void;
};

/**
 * Starts a second OpenID Connect provider in the test process, based on `oidc-provider`, with one client `shop` and one account. The
 * sign-in page contains only a button. The provider returns the e-mail address only from its userinfo endpoint, and accepts pushed
 * authorization requests. The client must send DPoP proofs with a nonce. The issuer sends a logout token when the user signs out at
 * `/session/end`. Like Google, the issuer returns a refresh token only on the first sign-in.
 */
export async function startSecondIssuer(redirectUri: string, account: SecondIssuerAccount): Promise<SecondIssuer> {
  const clientSecret = `second-issuer-secret-${randomUUID()}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: randomUUID() };
  let [hasEnded, hasIssuedRefreshToken] = [false, false];
  const pathsWithDpopProof: string[] = [];
  let handle: (req: IncomingMessage, res: ServerResponse) => Promise<void> = async () => undefined;
  const server = createServer((req, res) => void handle(req, res));
  const issuer = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'shop',
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        dpop_bound_access_tokens: true,
        backchannel_logout_uri: redirectUri.replace(/callback$/, 'logout'),
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: [randomUUID()] },
    claims: { openid: ['sub', 'amr', 'auth_time'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: async (_ctx, id) => (hasEnded ? undefined : { accountId: id, claims: () => ({ ...account, email_verified: true }) }),
    issueRefreshToken: async () => {
      const isFirst = !hasIssuedRefreshToken;
      hasIssuedRefreshToken = true;
      return isFirst;
    },
    features: {
      backchannelLogout: { enabled: true },
      devInteractions: { enabled: false },
      pushedAuthorizationRequests: { enabled: true },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
    },
    // with oidc-provider's default `fetch`, the issuer sends no logout tokens to this machine
    fetch: (url, { dispatcher: _protection, ...init }: RequestInit = {}) => fetch(url, init),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  });
  const callback = provider.callback();
  handle = async (req, res) => {
    if (req.headers['dpop'] !== undefined) pathsWithDpopProof.push(req.url ?? '');
    return req.url?.startsWith('/interaction/') ? handleInteraction(provider, account.sub, req, res) : callback(req, res);
  };
  const endAccount = (): void => {
    hasEnded = true;
  };
  return { issuer, clientSecret, pathsWithDpopProof, endAccount, [Symbol.asyncDispose]: () => closeServer(server) };
}

/** Shows the sign-in page, and grants the client's request without a consent page. */
async function handleInteraction(provider: Provider, accountId: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login' && req.method === 'GET') {
    const page = '<!doctype html><title>Second issuer</title><form method="post"><button>Sign in as Paula</button></form>';
    res.writeHead(200, { 'content-type': 'text/html' }).end(page);
    return;
  }
  if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId, amr: ['pwd', 'otp', 'mfa'] } });
  const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) });
  grant.addOIDCScope('openid email profile offline_access');
  return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}
