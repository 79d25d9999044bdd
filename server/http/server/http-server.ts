import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { problemDeclarations, type ProblemCode } from '@mandate/contract';
import type { Logger } from 'pino';
import { rejectChunkedBodyOverLimit } from '../request/reject-chunked-body-over-limit.ts';
import type { HealthHandler } from './health-check-handler.ts';
import { newRequestId } from '../request/request-id.ts';
import { createSymbolKeyedProperty } from '../../memory/attach-data-to-objects-with-symbol-keyed-property.ts';
import { createSecureContextOptions, type TlsKeyPair } from './tls-files.ts';
import { LoadShedder, defaultLoadLimits, type LoadLimits, type WriteRejectionResponse } from './load-shedder.ts';
import { createPayloadTooLargeProblem } from '../problem-details/problem.ts';
import { isUrlWithoutBodySizeLimit } from '../request/urls-without-body-size-limit.ts';

export type HttpServerOptions = {
  readonly issuer: string;
  readonly log: Logger;
  readonly health?: HealthHandler;
  readonly load?: Partial<LoadLimits>;
  readonly timeouts?: Partial<HttpTimeouts>;
  /** Certificate and private key. If these are set, the server is a `node:https` server. */
  readonly tls?: TlsKeyPair | undefined;
  /** Whether the server requests a certificate from every TLS client. A client without a certificate is still served. */
  readonly requestClientCertificates?: boolean;
  /** Receives the load shedder, for example to read its counters. */
  readonly watchLoad?: ((loadShedder: LoadShedder) => void) | undefined;
};

/** Timeouts in milliseconds. */
export type HttpTimeouts = {
  /** Maximum time to receive a request's headers. */
  readonly headers: number;
  /** Maximum time to receive a whole request. The value 0 means no limit, because the load shedder enforces a minimum rate instead. */
  readonly request: number;
  /** Maximum time that a connection can be idle (without data in either direction). */
  readonly idle: number;
  /** Maximum time to wait for the next request on an open connection. */
  readonly keepAlive: number;
};

const defaultTimeouts: HttpTimeouts = { headers: 10_000, request: 0, idle: 60_000, keepAlive: 5_000 };

/** Maximum URL length in characters, and maximum total header size (including the URL) in bytes. */
export const maxUrlLength = 8_000;
export const maxHeaderBytes = 16_384;
const warningIntervalMs = 60_000;
/** Maximum request body size for all operations except uploads, in bytes. */
const maxBodyBytes = 1_000_000;
/** Maximum time to receive the rest of a request body after the response. */
const unreadBodyTimeoutMs = 10_000;

/**
 * Creates the HTTP server, which passes valid requests to Express. The server rejects invalid requests early and cheaply, in the same
 * problem format as the API.
 */
export function createHttpServer(handler: RequestListener, options: HttpServerOptions): Server | TlsServer {
  const { issuer, log, health, load, timeouts, tls, requestClientCertificates = false, watchLoad } = options;
  const { headers, request, idle, keepAlive } = { ...defaultTimeouts, ...timeouts };
  const loadShedder = new LoadShedder({ ...defaultLoadLimits, ...load }, createRejectionWriter(issuer, log));
  watchLoad?.(loadShedder);
  const limits = {
    headersTimeout: headers,
    requestTimeout: request,
    connectionsCheckingInterval: Math.min(1_000, headers / 2),
    keepAliveTimeout: keepAlive,
    maxHeaderSize: maxHeaderBytes,
    // The `Host` header is checked below, so that the error has the problem format.
    requireHostHeader: false,
  };
  const listener: RequestListener = (req, res) => {
    const hostProblem = findHostProblem(req);
    if (hostProblem !== undefined) return rejectAndClose(res, issuer, 'invalid_request', hostProblem);
    if (health?.(req.url, res)) return;
    const isFirst = lastResponses.get(req.socket) === undefined;
    lastResponses.set(req.socket, res);
    rejectChunkedBodyOverLimit(req, isFirst, isUrlWithoutBodySizeLimit(req.url) ? Number.POSITIVE_INFINITY : maxBodyBytes, (limit) => {
      if (!res.headersSent) rejectBody(req, res, issuer, limit);
    });
    res.once('finish', () => dropUnreadBody(req));
    if (res.writableEnded) return undefined;
    if ((req.url ?? '').length > maxUrlLength)
      return writeProblem(res, issuer, 'uri_too_long', `Send a URL of at most ${maxUrlLength} characters.`);
    return loadShedder.handle(req, res, handler);
  };
  // the authorization server verifies the certificate, because self-signed certificates can also be registered
  const clientCertificates = { requestCert: requestClientCertificates, rejectUnauthorized: false };
  const server = tls
    ? createTlsServer({ ...limits, ...createSecureContextOptions(tls), ...clientCertificates, handshakeTimeout: headers }, listener)
    : createServer(limits, listener);
  // Without this listener, Node would respond with 417 and no body. RFC 9110 section 10.1.1 allows a server to ignore an unknown
  // expectation.
  server.on('checkExpectation', listener);
  // No other timeout closes the connection of a client that does not read its responses.
  server.setTimeout(idle);
  server.on('clientError', (error, socket) => rejectUnparsedRequest(issuer, error, socket));
  server.on('close', () => loadShedder.close());
  return server;
}

const hostPattern = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+;=%-]+)(?::\d{0,5})?$/i;

/**
 * Checks that an HTTP/1.1 request has exactly one valid `Host` header, and that an HTTP/1.0 request has at most one (RFC 9112 section 3.2).
 */
function findHostProblem({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
  if (hosts.length > 1) return 'The request has more than one Host header. Send one.';
  const [host] = hosts;
  if (host === undefined) return httpVersion === '1.1' ? 'The request has no Host header. Send one.' : undefined;
  return hostPattern.test(host) ? undefined : 'The Host header is not a host name with an optional port.';
}

/** Rejects a request and closes the connection, because the remaining data cannot be trusted or is not worth reading. */
function rejectAndClose(res: ServerResponse, issuer: string, code: ProblemCode, detail: string): void {
  res.setHeader('Connection', 'close');
  writeProblem(res, issuer, code, detail);
}

const lingerMs = 1_000;

/**
 * Rejects a body while the client is still sending it. The response is complete immediately, but the connection stays open for a moment. If
 * a connection is closed while data is unread, the connection is reset, and the client can lose the response (RFC 9112 section 9.6).
 */
function rejectBody(req: IncomingMessage, res: ServerResponse, issuer: string, limit: number): void {
  const { headers, body } = formatProblem(issuer, 'payload_too_large', createPayloadTooLargeProblem(limit).message);
  res.setHeader('Connection', 'close');
  res.writeHead(problemDeclarations.payload_too_large.status, headers).write(body);
  const close = (): void => void res.end();
  req.once('end', close).once('close', close);
  setTimeout(close, lingerMs).unref();
}

/** Closes the connection of a client that keeps sending a body after the response is complete. */
function dropUnreadBody(req: IncomingMessage): void {
  if (req.complete) return;
  const timer = setTimeout(() => req.complete || req.destroy(), unreadBodyTimeoutMs).unref();
  req.once('close', () => clearTimeout(timer));
}

/** The latest response on each connection. */
const lastResponses = createSymbolKeyedProperty<ServerResponse>('answer');

function createRejectionWriter(issuer: string, log: Logger): WriteRejectionResponse {
  let lastWarningAt = Number.NEGATIVE_INFINITY;
  return (req, res, why) => {
    if (why === 'no answer') log.error({ method: req.method, path: req.url?.split('?', 1)[0] }, 'a request took too long');
    if (why === 'overloaded' && performance.now() - lastWarningAt > warningIntervalMs) {
      lastWarningAt = performance.now();
      log.warn('the server is overloaded: some requests are rejected with 503');
    }
    if (res.headersSent || res.destroyed) return;
    if (why === 'no body') {
      return rejectAndClose(res, issuer, 'request_timeout', 'The body did not arrive in time. Send the request again.');
    }
    const detail =
      why === 'overloaded'
        ? 'The server is overloaded. The request was not processed. Retry it in a second.'
        : 'Processing the request took too long. Retry it; if you use the same Idempotency-Key, it will not be processed twice.';
    writeProblem(res, issuer, 'unavailable', detail);
  };
}

function writeProblem(res: ServerResponse, issuer: string, code: ProblemCode, detail: string): void {
  const { headers, body } = formatProblem(issuer, code, detail);
  res.writeHead(problemDeclarations[code].status, headers).end(body);
}

function formatProblem(issuer: string, code: ProblemCode, detail: string): { headers: Record<string, string>; body: string } {
  const { status, title } = problemDeclarations[code];
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

/** Responds to a request that Node's parser rejected. The parser provides only a socket for the request, and no response object. */
function rejectUnparsedRequest(issuer: string, error: Error & { code?: string; rawPacket?: unknown }, socket: Duplex): void {
  const lastResponse = lastResponses.get(socket);
  const isMidResponse = lastResponse !== undefined && lastResponse.headersSent && !lastResponse.writableFinished;
  if (error.code === 'ECONNRESET' || !socket.writable || isMidResponse) return void socket.destroy();
  const { code, detail } = parserProblem(error);
  const { headers, body } = formatProblem(issuer, code, detail);
  const { status, title } = problemDeclarations[code];
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    ...Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`),
  ];
  const isHead = Buffer.isBuffer(error.rawPacket) && error.rawPacket.toString('latin1', 0, 5) === 'HEAD ';
  socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`);
  // The timeout limits how long the client can continue to send data.
  setTimeout(() => socket.destroy(), 1_000).unref();
}

function parserProblem({ code, rawPacket }: { code?: string; rawPacket?: unknown }): { code: ProblemCode; detail: string } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { code: 'request_timeout', detail: 'The request did not arrive in time. Send the request again.' };
  if (code !== 'HPE_HEADER_OVERFLOW') return { code: 'invalid_request', detail: 'This is not a valid HTTP/1.1 request.' };
  const requestLine = Buffer.isBuffer(rawPacket) ? rawPacket.indexOf('\n') : 0;
  return requestLine === -1 || requestLine > maxUrlLength + 'OPTIONS  HTTP/1.1'.length
    ? { code: 'uri_too_long', detail: `Send a URL of at most ${maxUrlLength} characters.` }
    : { code: 'headers_too_large', detail: `Send at most ${maxHeaderBytes} bytes of headers, including the URL.` };
}
