import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, listenOnLoopback } from '../support/network/loopback-server.ts';

export type SeenRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

export type StubResponse = {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Strings are sent unchanged; any other value is sent as JSON. */
  readonly body?: unknown;
  /** Closes the connection before the response, or in the middle of the body. */
  readonly cut?: 'before' | 'within';
  readonly delayMs?: number;
};

export type StubServer = AsyncDisposable & { readonly url: string; readonly seen: SeenRequest[] };

/** Starts a server that returns the given responses and records the requests. */
export async function startStubServer(
  answer: (request: SeenRequest, count: number) => StubResponse | Promise<StubResponse>,
): Promise<StubServer> {
  const seen: SeenRequest[] = [];
  const respond = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const request = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body: await text(req) };
    seen.push(request);
    const { status = 200, headers, body, cut, delayMs = 0 } = await answer(request, seen.length);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (cut === 'before') return void req.socket.destroy();
    const bytes = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const contentType = status < 400 ? 'application/json' : 'application/problem+json';
    res.writeHead(status, { 'content-type': contentType, 'x-request-id': `req_${seen.length}`, ...headers });
    if (cut !== 'within') return void res.end(bytes);
    res.write(bytes.slice(0, 3), () => req.socket.destroy());
  };
  const server = createServer(
    (req, res) => void respond(req, res).catch((error: unknown) => res.destroy(new Error('the stub failed', { cause: error }))),
  );
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
    },
  };
}

/** Creates an API error response. */
export const createProblemResponse = (status: number, code: string, more: Record<string, unknown> = {}): StubResponse => ({
  status,
  body: {
    type: `https://mandate.example/problems/${code}`,
    title: `Title of ${code}`,
    status,
    code,
    detail: `Detail of ${code}`,
    instance: '/',
    request_id: 'req_stub',
    ...more,
  },
});
