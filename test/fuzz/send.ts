import { Agent, request } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Encoded } from './bodies.ts';
import type { Caller } from './callers.ts';
import { Known, type KnownThings } from './placeholders.ts';
import { escaped, type FuzzRequest } from './requests.ts';

/** A request as it leaves. */
export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
};

export type Received = { readonly status: number; readonly headers: Headers; readonly text: string };

/** Longer than the server gives any request. */
const timeoutMs = 120_000;

/** Puts what is known into a request, and gives it the bytes of the wire. */
export function prepared(made: FuzzRequest, known: KnownThings, { token }: Caller): Sent {
  const path = made.path.map((piece) => (piece instanceof Known ? escaped(String(known.resolve(piece))) : piece)).join('/');
  const query = made.query.map(
    ([name, value]) =>
      `${escaped(name)}=${[known.inPlace(value)]
        .flat()
        .map((one) => escaped(String(one)))
        .join(',')}`,
  );
  const search = [...query, made.rawQuery].filter((part) => part !== '').join('&');
  const json = made.json === undefined ? undefined : JSON.stringify(known.inPlace(made.json));
  const body = made.raw ? encode(made.raw) : json === undefined ? undefined : Buffer.from(json);
  const headers = Object.entries(made.headers).map(([name, value]) => [
    name,
    String(value instanceof Known ? known.resolve(value) : value),
  ]);
  const encoding = made.raw && contentEncodings[made.raw.as ?? ''];
  return {
    method: made.method,
    path: `/${spared(path)}${search === '' ? '' : `?${search}`}`,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(encoding !== undefined && { 'content-encoding': encoding }),
      ...(body && { 'content-length': String(body.length) }),
      ...Object.fromEntries(headers),
    },
    body,
  };
}

/** The applications that come with the service: without them nobody could sign in any more. Those that tests register have higher ids. */
const spared = (path: string): string =>
  path.replace(/(\/applications\/)([^/]+)/, (all, before: string, id: string) => (isFirst(id) ? `${before}987654321` : all));

function isFirst(id: string): boolean {
  try {
    return Number(decodeURIComponent(id)) < 10;
  } catch {
    return false; // a broken escape names none
  }
}

const contentEncodings: Record<string, string> = { gzip: 'gzip', deflate: 'deflate', br: 'br', 'not gzip': 'gzip' };

function encode({ text, as }: Encoded): Buffer {
  switch (as) {
    case 'gzip':
      return gzipSync(text);
    case 'deflate':
      return deflateSync(text);
    case 'br':
      return brotliCompressSync(text);
    case 'utf16le':
    case 'latin1':
      return Buffer.from(text, as);
    case 'bom':
      return Buffer.from(`\ufeff${text}`);
    default:
      return Buffer.from(text);
  }
}

class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export class Sender {
  readonly #agent: Agent;
  readonly #origin: URL;

  constructor(origin: string, atOnce: number) {
    this.#origin = new URL(origin);
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  }

  async send(sent: Sent): Promise<Received> {
    for (;;) {
      try {
        return await this.#sendOnce(sent);
      } catch (error) {
        // the server ended a connection that had been idle, at the moment when it was used again (RFC 9112, section 9.3.1)
        if (!(error instanceof ConnectionLost)) throw error;
      }
    }
  }

  /** `fetch` would put the path in order, and refuse some methods and headers. */
  #sendOnce({ method, path, headers, body }: Sent): Promise<Received> {
    const { hostname: host, port } = this.#origin;
    return new Promise((resolve, reject) => {
      const leaving = request({ host, port, method, path, headers, agent: this.#agent, timeout: timeoutMs }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const received = new Headers();
          for (const [name, values] of Object.entries(answer.headersDistinct))
            for (const value of values ?? []) received.append(name, value);
          resolve({ status: answer.statusCode ?? 0, headers: received, text: Buffer.concat(chunks).toString() });
        });
      });
      leaving.on('timeout', () => leaving.destroy(new Error('no answer in time')));
      leaving.on('error', (cause) => {
        const isLost = leaving.reusedSocket && 'code' in cause && cause.code === 'ECONNRESET';
        reject(isLost ? new ConnectionLost('the connection was lost', { cause }) : cause);
      });
      leaving.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** For a report: the request as somebody can send it again, without the token. */
export function describe({ method, path, headers, body }: Sent): string {
  const { authorization: _left, ...shown } = headers;
  const text = body === undefined ? '' : ` ${JSON.stringify(body.toString().slice(0, 2_000))}`;
  return `${method} ${path.slice(0, 500)} ${JSON.stringify(shown).slice(0, 1_000)}${text}`;
}
