import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { ChunkedBodySizeLimiter } from './chunked-body-size-limiter.ts';
import { getRequestContext } from './request-context-principal-and-access-log.ts';

/** Node's HTTP parser exposes the buffer it is parsing, which contains the beginning of the body. */
const socketWithParser = z.object({ parser: z.object({ getCurrentBuffer: z.function() }).passthrough() }).passthrough();

/**
 * Calls `reject` once, with the current limit, as soon as the announced chunk sizes exceed that limit, even before the data arrives. For
 * requests with a `Content-Length`, the body parser enforces the limit. Must be called before anything reads the body.
 * @param isFirst whether this is the first request on its connection
 */
export function rejectChunkedBodyOverLimit(req: IncomingMessage, isFirst: boolean, limit: number, reject: (limit: number) => void): void {
  if (req.headers['transfer-encoding'] === undefined) return;
  const initialBytes = bodyInHeaderPacket(req, isFirst);
  if (!initialBytes) return;
  const watch = new ChunkedBodySizeLimiter(limit, reject);
  getRequestContext(req).chunkedBody = watch;
  const read = (bytes: Buffer): void => watch.read(bytes);
  read(initialBytes);
  const { socket } = req;
  socket.on('data', read);
  req.once('close', () => socket.off('data', read));
  req.once('end', () => socket.off('data', read));
}

/** Lowers the body limit to the matched route's limit. */
export const reduceChunkedBodyLimitTo = (req: IncomingMessage, limit: number): void =>
  getRequestContext(req).chunkedBody?.lowerLimit(limit);

/**
 * Returns the part of the body that arrived in the same packet as the end of the headers. Returns `undefined` for pipelined requests,
 * because the packet can begin with another request. For pipelined requests, the size limit is enforced only when the data of the body
 * arrives.
 */
function bodyInHeaderPacket({ method, url, rawHeaders, socket }: IncomingMessage, isFirst: boolean): Buffer | undefined {
  const packet = currentPacket(socket);
  if (!packet) return undefined;
  const begins = packet.toString('latin1', 0, packet.indexOf('\n')).startsWith(`${method} ${url} HTTP/1.1`);
  if (!begins && !isFirst) return undefined;
  // A line break at the start of the packet ends either a header line or the headers.
  const rest = packet.subarray(/^\r?\n?/.exec(packet.toString('latin1', 0, 2))?.[0].length);
  const followsHeader = rawHeaders.some((name, index) => index % 2 === 0 && rest.toString('latin1', 0, name.length + 1) === `${name}:`);
  if (rest.length < packet.length && !followsHeader) return rest.subarray(rest.toString('latin1', 0, 2) === '\r\n' ? 2 : 0);
  const end = packet.indexOf('\r\n\r\n');
  return end === -1 ? undefined : packet.subarray(end + 4);
}

function currentPacket(socket: Socket): Buffer | undefined {
  const { parser } = socketWithParser.safeParse(socket).data ?? {};
  const packet: unknown = parser?.getCurrentBuffer.call(Reflect.get(socket, 'parser'));
  return Buffer.isBuffer(packet) ? packet : undefined;
}
