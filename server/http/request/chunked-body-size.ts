import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';

/** Longest chunk-size line (with its extensions) that is parsed, in characters. */
const maxLineLength = 1_000;
const newline = 0x0a;

/** Parses the framing of a chunked body (RFC 9112 section 7.1) and adds up the announced chunk sizes. */
class ChunkSizes {
  total = 0;
  #line = '';
  #bytesLeft = 0;
  #isOver = false;

  read(bytes: Buffer): void {
    let index = 0;
    while (index < bytes.length && !this.#isOver) {
      const skipped = Math.min(this.#bytesLeft, bytes.length - index);
      this.#bytesLeft -= skipped;
      index += skipped;
      if (index < bytes.length) index = this.#readLine(bytes, index);
    }
  }

  #readLine(bytes: Buffer, start: number): number {
    const end = bytes.indexOf(newline, start);
    this.#line += bytes.toString('latin1', start, end === -1 ? bytes.length : end);
    if (end === -1 || this.#line.length > maxLineLength) {
      this.#isOver = this.#line.length > maxLineLength;
      return bytes.length;
    }
    const size = Number.parseInt(/^[0-9a-f]+/i.exec(this.#line)?.[0] ?? '0', 16);
    this.total += size;
    this.#line = '';
    // Skips the data of the chunk and its line break. Only trailers follow the last chunk.
    this.#bytesLeft = size + 2;
    this.#isOver = size === 0;
    return end + 1;
  }
}

type BodyWatch = { readonly sizes: ChunkSizes; readonly reject: (limit: number) => void; limit: number; isRejected: boolean };

const bodyWatches = defineObjectMetadata<BodyWatch>('chunked body');

/** Node's HTTP parser exposes the buffer it is parsing, which contains the beginning of the body. */
const socketWithParser = z.object({ parser: z.object({ getCurrentBuffer: z.function() }).passthrough() }).passthrough();

/**
 * Calls `reject` once, with the current limit, as soon as the announced chunk sizes exceed that limit, even before the data arrives.
 * Requests with a `Content-Length` are left to the body parser. Must be called before anything reads the body.
 * @param isFirst whether this is the first request on its connection
 */
export function enforceChunkedBodyLimit(req: IncomingMessage, isFirst: boolean, limit: number, reject: (limit: number) => void): void {
  if (req.headers['transfer-encoding'] === undefined) return;
  const initialBytes = bodyInHeaderPacket(req, isFirst);
  if (!initialBytes) return;
  const watch: BodyWatch = { sizes: new ChunkSizes(), reject, limit, isRejected: false };
  bodyWatches.set(req, watch);
  const read = (bytes: Buffer): void => {
    watch.sizes.read(bytes);
    check(watch);
  };
  read(initialBytes);
  const { socket } = req;
  socket.on('data', read);
  req.once('close', () => socket.off('data', read));
  req.once('end', () => socket.off('data', read));
}

/** Lowers the body limit to the matched route's limit. */
export function lowerChunkedBodyLimit(req: IncomingMessage, limit: number): void {
  const watch = bodyWatches.get(req);
  if (!watch) return;
  watch.limit = Math.min(watch.limit, limit);
  check(watch);
}

function check(watch: BodyWatch): void {
  if (watch.isRejected || watch.sizes.total <= watch.limit) return;
  watch.isRejected = true;
  watch.reject(watch.limit);
}

/**
 * Returns the part of the body that arrived in the same packet as the end of the headers. Returns `undefined` for pipelined requests, where
 * the packet can begin with another request; the limit applies to such a body only as it arrives.
 */
function bodyInHeaderPacket({ method, url, rawHeaders, socket }: IncomingMessage, isFirst: boolean): Buffer | undefined {
  const packet = currentPacket(socket);
  if (!packet) return undefined;
  const begins = packet.toString('latin1', 0, packet.indexOf('\n')).startsWith(`${method} ${url} HTTP/1.1`);
  if (!begins && !isFirst) return undefined;
  // A leading line break ends either a header line or the headers.
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
