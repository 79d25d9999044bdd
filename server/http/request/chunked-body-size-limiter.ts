/** Maximum length of a chunk-size line (including its extensions), in characters. */
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
    // Skips the data of the chunk and its line break. After the last chunk, only trailers follow.
    this.#bytesLeft = size + 2;
    this.#isOver = size === 0;
    return end + 1;
  }
}

/** Adds up the chunk sizes of one request body and calls `reject` once, with the current limit, when the sum exceeds the limit. */
export class ChunkedBodySizeLimiter {
  readonly #sizes = new ChunkSizes();
  readonly #reject: (limit: number) => void;
  #limit: number;
  #isRejected = false;

  constructor(limit: number, reject: (limit: number) => void) {
    this.#limit = limit;
    this.#reject = reject;
  }

  read(bytes: Buffer): void {
    this.#sizes.read(bytes);
    this.#check();
  }

  lowerLimit(limit: number): void {
    this.#limit = Math.min(this.#limit, limit);
    this.#check();
  }

  #check(): void {
    if (this.#isRejected || this.#sizes.total <= this.#limit) return;
    this.#isRejected = true;
    this.#reject(this.#limit);
  }
}
