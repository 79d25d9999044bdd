import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, listenOnLoopback } from '../../support/network/loopback-server.ts';

type FailingProxy = AsyncDisposable & {
  readonly url: string;
  /** Method and path of each request, with the idempotency key. */
  readonly seen: (readonly [request: string, idempotencyKey: string | undefined])[];
};

/**
 * Starts a proxy that replaces the first responses to some requests: with a 503 response after the service has executed the request, or
 * with a 429 response without sending the request to the service.
 * @param failures the statuses of these responses, keyed by method and path
 */
export async function startFailingProxy(target: string, failures: Readonly<Record<string, number[]>>): Promise<FailingProxy> {
  const seen: [string, string | undefined][] = [];
  const forward = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const request = `${req.method} ${(req.url ?? '').split('?', 1)[0]}`;
    seen.push([request, req.headers['idempotency-key']?.toString()]);
    const body = await buffer(req);
    const status = failures[request]?.shift();
    if (status === 429) return sendProblem(res, status);
    const hopHeaders = ['connection', 'content-length', 'host'];
    const headers = Object.entries(req.headers).filter(([name]) => !hopHeaders.includes(name));
    const response = await fetch(target + req.url, {
      method: req.method ?? '',
      headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
      ...(body.length > 0 && { body }),
    });
    const content = Buffer.from(await response.arrayBuffer());
    if (status !== undefined) return sendProblem(res, status);
    const etag = response.headers.get('etag');
    res.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? '', ...(etag && { etag }) }).end(content);
  };
  const server = createServer((req, res) => void forward(req, res));
  const port = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, seen, [Symbol.asyncDispose]: () => closeServer(server) };
}

function sendProblem(res: ServerResponse, status: number): void {
  const problem = { title: 'Not available', status, code: 'overloaded', detail: 'Send the request again.' };
  res.writeHead(status, { 'content-type': 'application/problem+json', 'retry-after': '0' }).end(JSON.stringify(problem));
}
