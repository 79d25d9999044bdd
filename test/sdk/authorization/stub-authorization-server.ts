import { createHash } from 'node:crypto';
import { startStubServer, type StubResponse, type StubServer } from '../stub-server.ts';

export type StubAuthorizationServer = StubServer & {
  /** Number of token requests by grant type. */
  readonly grants: string[];
  /** The currently valid refresh token. Each token can be used once, and reuse of an old token revokes all tokens. */
  readonly current: { refreshToken: string | undefined };
};

const json = (body: unknown, status = 200): StubResponse => ({ status, body, headers: { 'content-type': 'application/json' } });
const refused = (error: string): StubResponse => json({ error, error_description: `refused: ${error}` }, 400);

/** Starts an authorization server with refresh token rotation, and an API that accepts only the newest access token. */
export async function startStubAuthorizationServer(
  options: { expiresIn?: number; tokenDelayMs?: number; hold?: () => Promise<void> } = {},
): Promise<StubAuthorizationServer> {
  const { expiresIn = 600, tokenDelayMs = 0 } = options;
  const grants: string[] = [];
  const current: { refreshToken: string | undefined } = { refreshToken: 'refresh-0' };
  let issued = 0;
  const issue = (refresh: boolean): StubResponse => {
    issued += 1;
    if (refresh) current.refreshToken = `refresh-${issued}`;
    return json({
      access_token: `access-${issued}`,
      token_type: 'Bearer',
      expires_in: expiresIn,
      scope: 'orders.read',
      ...(refresh && { refresh_token: current.refreshToken }),
    });
  };
  const token = (parameters: URLSearchParams): StubResponse => {
    const grant = parameters.get('grant_type') ?? '';
    grants.push(grant);
    if (grant === 'client_credentials') return issue(false);
    if (grant === 'authorization_code') {
      const challenge = createHash('sha256')
        .update(parameters.get('code_verifier') ?? '')
        .digest('base64url');
      return parameters.get('code') === challenge ? { ...issue(true), delayMs: tokenDelayMs } : refused('invalid_grant');
    }
    if (parameters.get('refresh_token') === current.refreshToken) return { ...issue(true), delayMs: tokenDelayMs };
    current.refreshToken = undefined;
    return refused('invalid_grant');
  };
  const server = await startStubServer(async ({ url, body, headers }) => {
    const base = `http://${headers.host}`;
    if (url.startsWith('/.well-known/')) {
      return json({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        revocation_endpoint: `${base}/revoke`,
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      });
    }
    if (url === '/token') {
      await options.hold?.();
      return token(new URLSearchParams(body));
    }
    if (url === '/revoke') return { status: 200 };
    if (headers.authorization !== `Bearer access-${issued}`)
      return { status: 401, body: { code: 'invalid_token', title: 'no', status: 401, detail: 'no' } };
    return json({ id: 1 });
  });
  return { ...server, grants, current };
}
