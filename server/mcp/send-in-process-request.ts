import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

export type InProcessRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};
export type InProcessResponse = { readonly status: number; readonly header: (name: string) => string | undefined; readonly text: string };

type RequestHandler = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Sends a request to a handler in this process without a network connection, so that tool calls pass through the same middleware as API
 * requests. `prepare` is called with the request before the request is handled. If the signal is aborted, the handler is notified that the
 * client has disconnected.
 */
export async function sendInProcessRequest(
  handler: RequestHandler,
  { method, path, headers, body }: InProcessRequest,
  prepare: (req: IncomingMessage) => void,
  disconnected?: AbortSignal,
): Promise<InProcessResponse> {
  const bodyBytes = body === undefined ? undefined : Buffer.from(body);
  const req = new IncomingMessage(new Socket());
  req.method = method;
  req.url = path;
  // HTTP/1.0 does not support chunked encoding, so the bytes that are written after the headers are exactly the body.
  req.httpVersion = '1.0';
  [req.httpVersionMajor, req.httpVersionMinor] = [1, 0];
  req.headers = { host: 'localhost', ...headers, ...(bodyBytes && { 'content-length': String(bodyBytes.length) }) };
  if (bodyBytes) req.push(bodyBytes);
  req.push(null);
  prepare(req);
  const res = new ServerResponse(req);
  const chunks: Buffer[] = [];
  const socket = new Socket();
  socket.write = collectWrites(chunks);
  res.assignSocket(socket);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  res.on('finish', resolve).on('error', reject);
  const close = (): void => void res.emit('close');
  disconnected?.addEventListener('abort', close);
  handler(req, res);
  await promise;
  disconnected?.removeEventListener('abort', close);
  close();
  const responseBytes = Buffer.concat(chunks);
  const text = responseBytes.subarray(responseBytes.indexOf('\r\n\r\n') + 4).toString();
  return { status: res.statusCode, header: (name) => res.getHeader(name)?.toString(), text };
}

/** Returns a replacement for `socket.write` that collects the chunks and completes immediately. */
const collectWrites =
  (chunks: Buffer[]): Socket['write'] =>
  (chunk: string | Uint8Array, ...rest: unknown[]) => {
    const encoding = rest.find((one) => typeof one === 'string');
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding === 'latin1' ? 'latin1' : 'utf8') : Buffer.from(chunk));
    const done = rest.find((one) => typeof one === 'function');
    if (done) process.nextTick(done);
    return true;
  };
