import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { beginAuthorization, completeAuthorization } from './authorization-code.ts';
import type { AuthorizationServer, Tokens } from './authorization-server-metadata.ts';
import { AbortError } from '../core/errors.ts';

export type LoopbackSignIn = {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Shows the address to the person, in a browser on this machine. */
  readonly open: (url: string) => unknown;
  /** Of 127.0.0.1, for the browser to come back to; of the system's choice unless given. */
  readonly port?: number | undefined;
  /** Ends the waiting: there is no other end to it. */
  readonly signal?: AbortSignal | undefined;
};

/** Signs a person in with the browser of this machine, which comes back to this program (RFC 8252 section 7.3). */
export async function signInOnLoopback(server: AuthorizationServer, options: LoopbackSignIn): Promise<Tokens> {
  const { clientId, scopes, signal = new AbortController().signal } = options;
  const loopback = await listenOnLoopback(options.port);
  try {
    const request = await beginAuthorization(server, { clientId, scopes, redirectUri: loopback.redirectUri });
    const signedIn = loopback.callback(request.state, (url) => completeAuthorization(server, request, url, signal), signal);
    const [tokens] = await Promise.all([signedIn, options.open(request.url)]);
    return tokens;
  } catch (cause) {
    throw signal.aborted ? new AbortError('The call was aborted', { cause: signal.reason }) : cause;
  } finally {
    await loopback.close();
  }
}

export type Loopback = {
  readonly redirectUri: string;
  /**
   * Waits for the browser to come back with `state`, has the visit judged by `complete`, and tells the browser how that went.
   * Other visits are turned away and change nothing.
   */
  callback<T>(state: string, complete: (url: URL) => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
};

/** Listens on this machine only, on a port of the system's choice unless one is given. */
export async function listenOnLoopback(port = 0): Promise<Loopback> {
  let answer = noSignIn;
  let origin = '';
  const server = createServer((req, res) => {
    const url = acceptable(req, res, origin);
    if (url) answer(url, res);
  });
  await listening(server, port);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a loopback server has a port');
  origin = `http://127.0.0.1:${address.port}`;
  return {
    redirectUri: `${origin}/callback`,
    callback: <T>(state: string, complete: (url: URL) => Promise<T>, signal: AbortSignal) => {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      let used = false;
      answer = (url, res) => {
        // A stray or forged visit must not end the sign-in that the person is in the middle of.
        if (url.searchParams.get('state') !== state)
          return page(
            res,
            400,
            'Not this sign-in',
            'This address does not belong to the sign-in that is under way. Go on in the other tab.',
          );
        if (used) return page(res, 410, 'Already used', 'You can close this window.');
        used = true;
        // The page tells the truth only when the code has been exchanged.
        complete(url).then(
          (value) =>
            page(res, 200, 'You are signed in', 'You can close this window and go back to where you came from.', () => resolve(value)),
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
        // Browsers open connections in advance and would keep the process alive with them.
        server.closeAllConnections();
      }),
  };
}

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });

type Answer = (url: URL, res: ServerResponse) => void;
const noSignIn: Answer = (_, res) => page(res, 404, 'Not ready', 'There is no sign-in under way.');

function acceptable(req: IncomingMessage, res: ServerResponse, origin: string): URL | undefined {
  const url = URL.canParse(req.url ?? '', origin) ? new URL(req.url ?? '', origin) : undefined;
  // Another name that leads here would be another site's page speaking to us.
  if (`http://${req.headers.host}` !== origin) page(res, 421, 'Not here', 'This address is not served here.');
  else if (url?.pathname !== '/callback') page(res, 404, 'Not found', 'There is nothing here.');
  else if (req.method !== 'GET') page(res, 405, 'Not possible', 'This address can only be visited.');
  else return url;
  return undefined;
}

const style =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:20vh auto 0;padding:0 1.5rem;text-align:center}h1{font-size:1.5rem;margin:0 0 .5rem}';
const styleHash = createHash('sha256').update(style).digest('base64');

function page(res: ServerResponse, status: number, title: string, text: string, sent?: () => void): void {
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
    sent,
  );
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
