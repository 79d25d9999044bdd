import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

export type InnerRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};
export type InnerAnswer = { readonly status: number; readonly header: (name: string) => string | undefined; readonly text: string };

type Serve = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Sends a request to a handler of this process without a connection between them, so that a call of a tool goes through everything
 * that a call of the API goes through. `prepare` is told of the request before it is served.
 */
export async function dispatch(
  serve: Serve,
  { method, path, headers, body }: InnerRequest,
  prepare: (req: IncomingMessage) => void,
): Promise<InnerAnswer> {
  const sent = body === undefined ? undefined : Buffer.from(body);
  const req = new IncomingMessage(new Socket());
  req.method = method;
  req.url = path;
  // HTTP/1.0 has no chunks: what is written is the body and nothing else.
  req.httpVersion = '1.0';
  [req.httpVersionMajor, req.httpVersionMinor] = [1, 0];
  req.headers = { host: 'localhost', ...headers, ...(sent && { 'content-length': String(sent.length) }) };
  if (sent) req.push(sent);
  req.push(null);
  prepare(req);
  const res = new ServerResponse(req);
  const pieces: Buffer[] = [];
  const line = new Socket();
  line.write = collecting(pieces);
  res.assignSocket(line);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  res.on('finish', resolve).on('error', reject);
  serve(req, res);
  await promise;
  res.emit('close');
  const whole = Buffer.concat(pieces);
  const text = whole.subarray(whole.indexOf('\r\n\r\n') + 4).toString();
  return { status: res.statusCode, header: (name) => res.getHeader(name)?.toString(), text };
}

/** Stands in for a connection that takes everything at once. */
const collecting =
  (pieces: Buffer[]): Socket['write'] =>
  (chunk: string | Uint8Array, ...rest: unknown[]) => {
    const encoding = rest.find((one) => typeof one === 'string');
    pieces.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding === 'latin1' ? 'latin1' : 'utf8') : Buffer.from(chunk));
    const done = rest.find((one) => typeof one === 'function');
    if (done) process.nextTick(done);
    return true;
  };
