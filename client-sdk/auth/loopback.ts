import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { beginAuthorization, completeAuthorization } from './authorization-code.ts';
import type { AuthorizationServer, Tokens } from './authorization-server-metadata.ts';
import { AbortError } from '../core/errors.ts';
import { createPromiseWithResolvers } from '../core/promise-with-resolvers.ts';

export type LoopbackSignIn = {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Opens the authorization URL in a browser on this machine. */
  readonly open: (url: string) => unknown;
  /** Port on 127.0.0.1 that receives the redirect (default: a free port). */
  readonly port?: number | undefined;
  /** Signal that aborts the sign-in. The sign-in has no timeout. */
  readonly signal?: AbortSignal | undefined;
};

/** Signs a user in with a browser on this machine. The browser is redirected to a local port of this program (RFC 8252 section 7.3). */
export async function signInOnLoopback(server: AuthorizationServer, options: LoopbackSignIn): Promise<Tokens> {
  const { clientId, scopes, signal = new AbortController().signal } = options;
  const loopback = await listenOnLoopback(options.port);
  try {
    const request = await beginAuthorization(server, { clientId, scopes, redirectUri: loopback.redirectUri });
    const signedIn = loopback.callback(request.state, (url) => completeAuthorization(server, request, url, signal), signal);
    const [tokens] = await Promise.all([signedIn, options.open(request.url)]);
    return tokens;
  } catch (cause) {
    throw signal.aborted ? new AbortError('Call aborted', { cause: signal.reason }) : cause;
  } finally {
    await loopback.close();
  }
}

export type Loopback = {
  readonly redirectUri: string;
  /**
   * Waits for the redirect with the matching `state`, passes its URL to `complete`, and shows the outcome in the browser. Other requests
   * are rejected and have no effect.
   */
  callback<T>(state: string, complete: (url: URL) => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
};

/** Starts a server on 127.0.0.1 that receives the sign-in redirect. `port` 0 selects a free port. */
export async function listenOnLoopback(port = 0): Promise<Loopback> {
  let handleCallback = rejectWithoutSignIn;
  let origin = '';
  const server = createServer((req, res) => {
    const url = acceptedUrl(req, res, origin);
    if (url) handleCallback(url, res);
  });
  await listening(server, port);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the loopback server has no port');
  origin = `http://127.0.0.1:${address.port}`;
  return {
    redirectUri: `${origin}/callback`,
    callback: <T>(state: string, complete: (url: URL) => Promise<T>, signal: AbortSignal) => {
      const { promise, resolve, reject } = createPromiseWithResolvers<T>();
      let used = false;
      handleCallback = (url, res) => {
        // An unrelated or forged request must not end the pending sign-in.
        if (url.searchParams.get('state') !== state)
          return page(res, 400, 'Different sign-in', 'This URL does not belong to the current sign-in. Continue in the other tab.');
        if (used) return page(res, 410, 'Already used', 'You can close this window.');
        used = true;
        // The outcome is known only after the code has been exchanged.
        complete(url).then(
          (value) => page(res, 200, 'You are signed in', 'You can close this window and return to the application.', () => resolve(value)),
          (error: unknown) =>
            page(res, 400, 'You are not signed in', error instanceof Error ? error.message : 'Something went wrong.', () => reject(error)),
        );
      };
      const end = (): void => reject(signal.reason);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
      return promise.finally(() => signal.removeEventListener('abort', end));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Browsers open spare connections in advance, which would keep the process running.
        server.closeAllConnections();
      }),
  };
}

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });

type CallbackHandler = (url: URL, res: ServerResponse) => void;
const rejectWithoutSignIn: CallbackHandler = (_, res) => page(res, 404, 'Not ready', 'No sign-in is in progress.');

/** Returns a valid callback request's URL; responds to any other request with an error page. */
function acceptedUrl(req: IncomingMessage, res: ServerResponse, origin: string): URL | undefined {
  const url = URL.canParse(req.url ?? '', origin) ? new URL(req.url ?? '', origin) : undefined;
  // Prevents DNS rebinding: a page on another site could otherwise send requests with that site's host name to this server.
  if (`http://${req.headers.host}` !== origin) page(res, 421, 'Wrong host', 'This server does not accept this host name.');
  else if (url?.pathname !== '/callback') page(res, 404, 'Not found', 'This page does not exist.');
  else if (req.method !== 'GET') page(res, 405, 'Method not allowed', 'Only GET requests are allowed.');
  else return url;
  return undefined;
}

const style =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:20vh auto 0;padding:0 1.5rem;text-align:center}h1{font-size:1.5rem;margin:0 0 .5rem}';
const styleHash = createHash('sha256').update(style).digest('base64');

function page(res: ServerResponse, status: number, title: string, text: string, onSent?: () => void): void {
  res.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    connection: 'close',
  });
  res.end(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head><body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p></main></body></html>`,
    onSent,
  );
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
