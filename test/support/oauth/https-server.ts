import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { createApp } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { deriveKeys, type DerivedKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { type SendRequest, HttpBrowser } from '../browser/browser.ts';
import { createSelfSignedCertificate } from '../network/self-signed-certificate.ts';
import { createMigratedDatabase } from '../services/database.ts';
import { openMailbox } from '../services/mailbox.ts';
import { completeSignUp } from './oauth-flow.ts';
import { testServerSecret } from '../server/test-server-secret.ts';
import { closeServer } from '../network/loopback-server.ts';

/** Two hosts under the registrable domain `example.test`. */
export const shopHost = 'shop.example.test';
export const siblingHost = 'evil.example.test';

/** Arguments that make Chromium resolve `example.test` to the test servers and accept their certificate. */
export const httpsChromiumArguments = ['--host-resolver-rules=MAP *.example.test 127.0.0.1', '--ignore-certificate-errors'];

const keyPair = createSelfSignedCertificate(30, [shopHost, siblingHost]);

export type HttpsServer = AsyncDisposable & { readonly origin: string };

/** Starts an HTTPS server for a host under `example.test` on a free port. */
export async function startHttpsServer(hostName: string, listener: RequestListener): Promise<HttpsServer> {
  const server = createServer(keyPair, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `https://${hostName}:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
    },
  };
}

export type HttpsMandate = HttpsServer & { readonly issuer: string; readonly db: Database; readonly keys: DerivedKeys };

/**
 * Starts Mandate over HTTPS at `shop.example.test`.
 * @param path the path of the issuer URL (default: none)
 */
export async function startHttpsMandate(path = ''): Promise<HttpsMandate> {
  const keys = deriveKeys(testServerSecret);
  const db = await createMigratedDatabase();
  let app: RequestListener = (_req, res) => void res.writeHead(503).end();
  const server = await startHttpsServer(shopHost, (req: IncomingMessage, res: ServerResponse) => app(req, res));
  const issuer = server.origin + path;
  openMailbox(issuer, db, keys.mail);
  app = await createApp({ db, issuer, keys, log: createLogger(false), trustProxy: 'loopback' });
  return {
    origin: server.origin,
    issuer,
    db,
    keys,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await db.close();
    },
  };
}

type HttpsConnection = { readonly ca: string; readonly cert?: string | undefined; readonly key?: string | undefined };

/**
 * Creates a function with the signature of `fetch` that sends each request to this machine over a new TLS connection, regardless of the
 * host in the URL. `cert` and `key` are the client's certificate and private key.
 */
export const createHttpsFetch =
  (connection: HttpsConnection): SendRequest =>
  async (url, init) => {
    const { method, headers, body } = new Request(url, { ...init, ...(init.body !== undefined && { duplex: 'half' }) });
    const outgoing = request({
      host: '127.0.0.1',
      port: url.port,
      servername: url.hostname,
      path: url.pathname + url.search,
      method,
      headers: { ...Object.fromEntries(headers), host: url.host },
      ...connection,
      agent: false,
    });
    outgoing.end(body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer()));
    const [incoming]: IncomingMessage[] = await once(outgoing, 'response');
    if (!incoming) throw new Error('no response');
    const responseHeaders = new Headers();
    for (const [name, values = []] of Object.entries(incoming.headersDistinct))
      for (const value of values) responseHeaders.append(name, value);
    const responseText = await text(incoming);
    const status = incoming.statusCode ?? 0;
    return new Response(status === 204 || status === 304 ? null : responseText, { status, headers: responseHeaders });
  };

/** Sends a request to a host under `example.test`; same signature as `fetch`. */
export const fetchHttps: SendRequest = createHttpsFetch({ ca: keyPair.cert });

export type UserAccount = { readonly name: string; readonly email: string; readonly password: string };

let accounts = 0;

/** Signs up a new user. Returns the account and a browser that is signed in to the account. */
export async function signUpOverHttps(
  { issuer, origin }: HttpsMandate,
  send: SendRequest = fetchHttps,
): Promise<UserAccount & { readonly browser: HttpBrowser }> {
  const account = { name: 'Anna Test', email: `anna.${(accounts += 1)}@example.com`, password: 'correct horse battery' };
  const browser = new HttpBrowser(origin, undefined, send);
  const page = await completeSignUp(issuer, browser, await browser.open(`${issuer}/sign-up`), account);
  if (!page.url.pathname.endsWith('/account')) throw new Error(`sign-up ended at ${page.url.pathname}: ${page.text}`);
  return { ...account, browser };
}
