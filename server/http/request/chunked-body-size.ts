import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { noteOf } from '../../memory/object-metadata.ts';

/** Longest line with the size of a chunk and its extensions that is followed. */
const lineMax = 1_000;
const newline = 0x0a;

/** Follows the framing of a chunked body (RFC 9112, section 7.1), and adds up the sizes that the chunks announce. */
class ChunkSizes {
  total = 0;
  #line = '';
  #bytesLeft = 0;
  #isOver = false;

  read(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isOver) {
      const skipped = Math.min(this.#bytesLeft, bytes.length - at);
      this.#bytesLeft -= skipped;
      at += skipped;
      if (at < bytes.length) at = this.#readLine(bytes, at);
    }
  }

  #readLine(bytes: Buffer, start: number): number {
    const end = bytes.indexOf(newline, start);
    this.#line += bytes.toString('latin1', start, end === -1 ? bytes.length : end);
    if (end === -1 || this.#line.length > lineMax) {
      this.#isOver = this.#line.length > lineMax;
      return bytes.length;
    }
    const size = Number.parseInt(/^[0-9a-f]+/i.exec(this.#line)?.[0] ?? '0', 16);
    this.total += size;
    this.#line = '';
    // the data and the line break behind it; nothing follows the last chunk but trailers
    this.#bytesLeft = size + 2;
    this.#isOver = size === 0;
    return end + 1;
  }
}

type Watch = { readonly sizes: ChunkSizes; readonly refuse: (limit: number) => void; limit: number; isRefused: boolean };

const watches = noteOf<Watch>('chunked body');

/** The parser of Node knows the bytes that it is working on, which is where the body begins. */
const socketWithParser = z.object({ parser: z.object({ getCurrentBuffer: z.function() }).passthrough() }).passthrough();

/**
 * Calls `refuse` once, with the limit in force, as soon as the chunks of a request announce more bytes: the data need not arrive first. Requests with
 * a `Content-Length` are left to those who read the body. Call it before anything of the body is read.
 * @param isFirst whether this is the first request of its connection
 */
export function watchChunkSizes(req: IncomingMessage, isFirst: boolean, limit: number, refuse: (limit: number) => void): void {
  if (req.headers['transfer-encoding'] === undefined) return;
  const begun = bodyInHeaderPacket(req, isFirst);
  if (!begun) return;
  const watch: Watch = { sizes: new ChunkSizes(), refuse, limit, isRefused: false };
  watches.set(req, watch);
  const read = (bytes: Buffer): void => {
    watch.sizes.read(bytes);
    check(watch);
  };
  read(begun);
  const { socket } = req;
  socket.on('data', read);
  req.once('close', () => socket.off('data', read));
  req.once('end', () => socket.off('data', read));
}

/** Lowers the limit to that of the one who is about to read the body. */
export function limitChunkSizes(req: IncomingMessage, limit: number): void {
  const watch = watches.get(req);
  if (!watch) return;
  watch.limit = Math.min(watch.limit, limit);
  check(watch);
}

function check(watch: Watch): void {
  if (watch.isRefused || watch.sizes.total <= watch.limit) return;
  watch.isRefused = true;
  watch.refuse(watch.limit);
}

/**
 * What came of the body in the same packet as the end of the headers. `undefined` among pipelined requests, where the packet can begin
 * with another request: such a body is limited as it arrives.
 */
function bodyInHeaderPacket({ method, url, rawHeaders, socket }: IncomingMessage, isFirst: boolean): Buffer | undefined {
  const packet = currentPacket(socket);
  if (!packet) return undefined;
  const begins = packet.toString('latin1', 0, packet.indexOf('\n')).startsWith(`${method} ${url} HTTP/1.1`);
  if (!begins && !isFirst) return undefined;
  // A packet that begins with a line break ends a header line, or the headers.
  const rest = packet.subarray(/^\r?\n?/.exec(packet.toString('latin1', 0, 2))?.[0].length);
  const followsHeader = rawHeaders.some((name, at) => at % 2 === 0 && rest.toString('latin1', 0, name.length + 1) === `${name}:`);
  if (rest.length < packet.length && !followsHeader) return rest.subarray(rest.toString('latin1', 0, 2) === '\r\n' ? 2 : 0);
  const end = packet.indexOf('\r\n\r\n');
  return end === -1 ? undefined : packet.subarray(end + 4);
}

function currentPacket(socket: Socket): Buffer | undefined {
  const { parser } = socketWithParser.safeParse(socket).data ?? {};
  const packet: unknown = parser?.getCurrentBuffer.call(Reflect.get(socket, 'parser'));
  return Buffer.isBuffer(packet) ? packet : undefined;
}
