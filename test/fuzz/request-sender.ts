import { Agent, request } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { EncodedBody } from './bodies.ts';
import type { Caller } from './callers.ts';
import { Placeholder, type KnownValues } from './placeholders.ts';
import { escapeUrlText, type FuzzRequest } from './requests.ts';

/** A request as it is sent, with all placeholders replaced. */
export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
};

export type Received = { readonly status: number; readonly headers: Headers; readonly text: string };

/** Request timeout, which is longer than any server timeout. */
const timeoutMs = 120_000;

/** Replaces placeholders and encodes a request. */
export function prepareRequest(generated: FuzzRequest, known: KnownValues, { token }: Caller): Sent {
  const path = generated.path
    .map((piece) => (piece instanceof Placeholder ? escapeUrlText(String(known.resolve(piece))) : piece))
    .join('/');
  const query = generated.query.map(
    ([name, value]) =>
      `${escapeUrlText(name)}=${[known.resolveReferences(value)]
        .flat()
        .map((one) => escapeUrlText(String(one)))
        .join(',')}`,
  );
  const search = [...query, generated.rawQuery].filter((part) => part !== '').join('&');
  const json = generated.json === undefined ? undefined : JSON.stringify(known.resolveReferences(generated.json));
  const body = generated.raw ? encode(generated.raw) : json === undefined ? undefined : Buffer.from(json);
  const headers = Object.entries(generated.headers).map(([name, value]) => [
    name,
    String(value instanceof Placeholder ? known.resolve(value) : value),
  ]);
  const encoding = generated.raw && contentEncodings[generated.raw.as ?? ''];
  return {
    method: generated.method,
    path: `/${protectBuiltInApplications(path)}${search === '' ? '' : `?${search}`}`,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(encoding !== undefined && { 'content-encoding': encoding }),
      ...(body && { 'content-length': String(body.length) }),
      ...Object.fromEntries(headers),
    },
    body,
  };
}

/**
 * Protects the built-in applications, because users cannot sign in without these applications. Applications created by tests have higher
 * IDs.
 */
const protectBuiltInApplications = (path: string): string =>
  path.replace(/(\/applications\/)([^/]+)/, (all, before: string, id: string) => (isBuiltInId(id) ? `${before}987654321` : all));

function isBuiltInId(id: string): boolean {
  try {
    return Number(decodeURIComponent(id)) < 10;
  } catch {
    return false; // text with an invalid percent-encoding is not an ID
  }
}

const contentEncodings: Record<string, string> = { gzip: 'gzip', deflate: 'deflate', br: 'br', 'not gzip': 'gzip' };

function encode({ text, as }: EncodedBody): Buffer {
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

  constructor(origin: string, concurrency: number) {
    this.#origin = new URL(origin);
    this.#agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  }

  async send(sent: Sent): Promise<Received> {
    for (;;) {
      try {
        return await this.#sendOnce(sent);
      } catch (error) {
        // the server closed an idle connection just as the connection was reused (RFC 9112, section 9.3.1)
        if (!(error instanceof ConnectionLost)) throw error;
      }
    }
  }

  /** Uses `node:http`, because `fetch` normalizes paths and rejects some methods and headers. */
  #sendOnce({ method, path, headers, body }: Sent): Promise<Received> {
    const { hostname: host, port } = this.#origin;
    return new Promise((resolve, reject) => {
      const outgoing = request({ host, port, method, path, headers, agent: this.#agent, timeout: timeoutMs }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const received = new Headers();
          for (const [name, values] of Object.entries(response.headersDistinct))
            for (const value of values ?? []) received.append(name, value);
          resolve({ status: response.statusCode ?? 0, headers: received, text: Buffer.concat(chunks).toString() });
        });
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error('response timeout')));
      outgoing.on('error', (cause) => {
        const isConnectionLost = outgoing.reusedSocket && 'code' in cause && cause.code === 'ECONNRESET';
        reject(isConnectionLost ? new ConnectionLost('the connection was lost', { cause }) : cause);
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Formats a request for a report, without its token. */
export function describe({ method, path, headers, body }: Sent): string {
  const { authorization: _left, ...shown } = headers;
  const text = body === undefined ? '' : ` ${JSON.stringify(body.toString().slice(0, 2_000))}`;
  return `${method} ${path.slice(0, 500)} ${JSON.stringify(shown).slice(0, 1_000)}${text}`;
}
