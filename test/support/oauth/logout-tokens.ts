import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { LogoutTokenSender, type LogoutTokenSenderOptions } from '../../../server/oauth/back-channel-logout/send-logout-tokens.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createPublicAddressesOnlyNetworkPolicy } from '../../../server/outgoing-http/ssrf-protected-connection.ts';
import { closeServer, listenOnLoopback } from '../network/loopback-server.ts';
import type { RunningServer } from '../server/use-server.ts';
import { testServerSecret } from '../server/test-server-secret.ts';
import { createWebApplication, type WebApplication } from './oauth-flow.ts';

export type ReceivedLogoutRequest = { readonly path: string; readonly contentType: string; readonly token: string };

export type LogoutTokenReceiver = {
  readonly url: string;
  readonly requests: ReceivedLogoutRequest[];
  /** Writes the response to a logout token (default: 200). */
  respond: (res: ServerResponse) => unknown;
};

/**
 * Starts a server that receives logout tokens. The server starts before the tests of a file, and discards all received tokens before each
 * test.
 */
export function useLogoutTokenReceiver(): LogoutTokenReceiver {
  const acknowledge = (res: ServerResponse): unknown => res.writeHead(200).end();
  let origin = '';
  const receiver = {
    get url() {
      return `${origin}/logout`;
    },
    requests: [] as ReceivedLogoutRequest[],
    respond: acknowledge,
  };
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      const token = new URLSearchParams(body).get('logout_token') ?? '';
      receiver.requests.push({ path: req.url ?? '', contentType: req.headers['content-type'] ?? '', token });
      return receiver.respond(res);
    });
  });
  beforeAll(async () => {
    origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  });
  beforeEach(() => {
    receiver.requests.length = 0;
    receiver.respond = acknowledge;
  });
  afterAll(() => closeServer(server));
  return receiver;
}

type LogoutServer = Pick<RunningServer, 'db' | 'origin'>;

/** Creates a logout token sender like the server's, but with test keys. */
export const createLogoutTokenSender = ({ db, origin }: LogoutServer, options: Partial<LogoutTokenSenderOptions> = {}): LogoutTokenSender =>
  new LogoutTokenSender({
    em: db.em,
    issuer: origin,
    network: createPublicAddressesOnlyNetworkPolicy(true),
    signingKeyEncryptionKey: deriveKeys(testServerSecret).signingKeys,
    log: { warn: () => undefined },
    ...options,
  });

/** Sends the queued logout tokens that are due at this time. */
export const sendDueLogoutTokens = (server: LogoutServer, now = new Date()): Promise<number> =>
  createLogoutTokenSender(server).sendBatch(new AbortController().signal, now);

/** Verifies a logout token as an application must (OpenID Connect Back-Channel Logout 1.0 section 2.6), and returns its claims. */
export async function verifyLogoutToken(origin: string, token: string, clientId: string): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(`${origin}/oauth/jwks`));
  const { payload } = await jwtVerify(token, keys, {
    issuer: origin,
    audience: clientId,
    typ: 'logout+jwt',
    algorithms: ['RS256'],
    requiredClaims: ['iat', 'exp', 'jti', 'events', 'sub', 'sid'],
  });
  return payload;
}

/** Creates a web application that receives logout tokens at this URL. */
export async function createLogoutApplication(db: Database, url: string): Promise<WebApplication> {
  const application = await createWebApplication(db, []);
  await db.em.fork().execute('update applications set backchannel_logout_uri = ? where client_id = ?', [url, application.clientId]);
  return application;
}
