import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { problems, type ProblemCode } from '@mandate/contract';
import type { Logger } from 'pino';
import { watchChunkSizes } from '../request/chunked-body-size.ts';
import type { Health } from './health.ts';
import { newRequestId } from '../request/request-id.ts';
import { noteOf } from '../../memory/object-metadata.ts';
import type { TlsPair } from './tls-files.ts';
import { LoadGuard, usualLoadLimits, type LoadLimits, type Refuse } from './load-shedder.ts';
import { payloadTooLarge } from '../problem-details/problem.ts';
import { isUpload } from '../request/upload-paths.ts';

export type HttpServerOptions = {
  readonly issuer: string;
  readonly log: Logger;
  readonly health?: Health;
  readonly load?: Partial<LoadLimits>;
  readonly timeouts?: Partial<Timeouts>;
  /** With it the server speaks TLS, and is one of node:https. */
  readonly tls?: TlsPair | undefined;
  /** Given the guard, to read what it counts. */
  readonly watchLoad?: ((guard: LoadGuard) => void) | undefined;
};

/** How long others may take, in milliseconds. */
export type Timeouts = {
  /** To send the headers of a request. */
  readonly headers: number;
  /** To send the whole request; 0 for no limit: the load guard requires a rate instead. */
  readonly request: number;
  /** To send or to take anything at all. */
  readonly idle: number;
  /** To send the next request over the same connection. */
  readonly keepAlive: number;
};

const usualTimeouts: Timeouts = { headers: 10_000, request: 0, idle: 60_000, keepAlive: 5_000 };

/** Bytes of the URL, and of all headers together with it. */
const urlMax = 8_000;
const headersMax = 16_384;
const warningEveryMs = 60_000;
/** Largest body of any operation that is not an upload. */
const bodyMax = 1_000_000;
/** How long the rest of a body may take to arrive after the response. */
const unreadMs = 10_000;

/** The server in front of the application: what is refused here has cost nothing yet, and has the one form of failures all the same. */
export function httpServer(handler: RequestListener, options: HttpServerOptions): Server | TlsServer {
  const { issuer, log, health, load, timeouts, tls, watchLoad } = options;
  const { headers, request, idle, keepAlive } = { ...usualTimeouts, ...timeouts };
  const guard = new LoadGuard({ ...usualLoadLimits, ...load }, refusal(issuer, log));
  watchLoad?.(guard);
  const limits = {
    headersTimeout: headers,
    requestTimeout: request,
    connectionsCheckingInterval: Math.min(1_000, headers / 2),
    keepAliveTimeout: keepAlive,
    maxHeaderSize: headersMax,
    // checked below, so that the answer has the one form
    requireHostHeader: false,
  };
  const listener: RequestListener = (req, res) => {
    const wrongHost = hostFault(req);
    if (wrongHost !== undefined) return refuseConnection(res, issuer, 'invalid_request', wrongHost);
    if (health?.(req.url, res)) return;
    const isFirst = answers.get(req.socket) === undefined;
    answers.set(req.socket, res);
    watchChunkSizes(req, isFirst, isUpload(req.url) ? Number.POSITIVE_INFINITY : bodyMax, (limit) => {
      if (!res.headersSent) refuseBody(req, res, issuer, limit);
    });
    res.once('finish', () => dropUnreadBody(req));
    if (res.writableEnded) return undefined;
    if ((req.url ?? '').length > urlMax) return writeProblem(res, issuer, 'uri_too_long', `Send a URL of at most ${urlMax} characters.`);
    return guard.handle(req, res, handler);
  };
  const server = tls ? createTlsServer({ ...limits, ...tls, handshakeTimeout: headers }, listener) : createServer(limits, listener);
  // Node would answer 417 by itself, without a body; RFC 9110, section 10.1.1, lets an expectation that nobody knows be ignored
  server.on('checkExpectation', listener);
  // the only thing that ends a connection whose other side takes nothing
  server.setTimeout(idle);
  server.on('clientError', (error, socket) => refuseRaw(issuer, error, socket));
  server.on('close', () => guard.close());
  return server;
}

const hostForm = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+;=%-]+)(?::\d{0,5})?$/i;

/** What RFC 9112, section 3.2, requires a server to refuse: no `Host` in HTTP/1.1, more than one, or one that is not a host. */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  if (hosts.length > 1) return 'The request has more than one Host header. Send one.';
  const [host] = hosts;
  if (host === undefined) return httpVersion === '1.1' ? 'The request has no Host header. Send one.' : undefined;
  return hostForm.test(host) ? undefined : 'The Host header is not a host name with an optional port.';
}

/** What follows on the connection cannot be trusted, or is not worth reading. */
function refuseConnection(res: ServerResponse, issuer: string, code: ProblemCode, detail: string): void {
  res.setHeader('Connection', 'close');
  writeProblem(res, issuer, code, detail);
}

const lingerMs = 1_000;

/**
 * Refuses a body while the caller still sends it. The response is complete at once, but the connection stays open for a moment:
 * closing it with unread data would reset it, and the caller could lose the response (RFC 9112 section 9.6).
 */
function refuseBody(req: IncomingMessage, res: ServerResponse, issuer: string, limit: number): void {
  const { headers, body } = problemOf(issuer, 'payload_too_large', payloadTooLarge(limit).detail ?? '');
  res.setHeader('Connection', 'close');
  res.writeHead(problems.payload_too_large.status, headers).write(body);
  const close = (): void => void res.end();
  req.once('end', close).once('close', close);
  setTimeout(close, lingerMs).unref();
}

/** Closes the connection of a caller who goes on sending a body although the response is complete. */
function dropUnreadBody(req: IncomingMessage): void {
  if (req.complete) return;
  const closing = setTimeout(() => req.complete || req.destroy(), unreadMs).unref();
  req.once('close', () => clearTimeout(closing));
}

/** The answer that each connection was given last. */
const answers = noteOf<ServerResponse>('answer');

function refusal(issuer: string, log: Logger): Refuse {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (req, res, why) => {
    if (why === 'no answer') log.error({ method: req.method, path: req.url?.split('?', 1)[0] }, 'a request took too long');
    if (why === 'overloaded' && performance.now() - warnedAt > warningEveryMs) {
      warnedAt = performance.now();
      log.warn('there are more requests than can be worked on: some are refused with 503');
    }
    if (res.headersSent || res.destroyed) return;
    if (why === 'no body') {
      return refuseConnection(res, issuer, 'request_timeout', 'The body did not arrive in time. Send the request again.');
    }
    const detail =
      why === 'overloaded'
        ? 'There are more requests than can be worked on. Nothing was done. Try again in a second.'
        : 'The work took too long. Send the request again; with the same Idempotency-Key it is not carried out twice.';
    writeProblem(res, issuer, 'unavailable', detail);
  };
}

function writeProblem(res: ServerResponse, issuer: string, code: ProblemCode, detail: string): void {
  const { headers, body } = problemOf(issuer, code, detail);
  res.writeHead(problems[code].status, headers).end(body);
}

function problemOf(issuer: string, code: ProblemCode, detail: string): { headers: Record<string, string>; body: string } {
  const { status, title } = problems[code];
  const id = newRequestId();
  const type = `${issuer}/problems/${code}`;
  const body = JSON.stringify({ type, title, status, code, detail, instance: `urn:mandate:request:${id}`, request_id: id });
  const headers = {
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': id,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Access-Control-Allow-Origin': '*',
    ...(status === 503 && { 'Retry-After': '1' }),
  };
  return { headers, body };
}

/** What Node's parser refuses has no answer to write to, only the connection. */
function refuseRaw(issuer: string, error: Error & { code?: string; rawPacket?: unknown }, socket: Duplex): void {
  const answer = answers.get(socket);
  const amidst = answer !== undefined && answer.headersSent && !answer.writableFinished;
  if (error.code === 'ECONNRESET' || !socket.writable || amidst) return void socket.destroy();
  const { code, detail } = faultOf(error);
  const { headers, body } = problemOf(issuer, code, detail);
  const { status, title } = problems[code];
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    ...Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`),
  ];
  const isHead = Buffer.isBuffer(error.rawPacket) && error.rawPacket.toString('latin1', 0, 5) === 'HEAD ';
  socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`);
  // whoever goes on sending is not listened to for ever
  setTimeout(() => socket.destroy(), 1_000).unref();
}

function faultOf({ code, rawPacket }: { code?: string; rawPacket?: unknown }): { code: ProblemCode; detail: string } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'request_timeout', detail: 'The request did not arrive in time. Send it again.' };
  if (code !== 'HPE_HEADER_OVERFLOW') return { code: 'invalid_request', detail: 'This is not a request of HTTP/1.1.' };
  const requestLine = Buffer.isBuffer(rawPacket) ? rawPacket.indexOf('\n') : 0;
  return requestLine === -1 || requestLine > urlMax + 'OPTIONS  HTTP/1.1'.length
    ? { code: 'uri_too_long', detail: `Send a URL of at most ${urlMax} characters.` }
    : { code: 'headers_too_large', detail: `Send at most ${headersMax} bytes of headers, the URL included.` };
}
