import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { fileMediaTypes, importRowMax } from '@mandate/contract';
import type { Em } from '../database/orm.ts';
import { problem } from '../http/problem.ts';
import type { RoutedRequest } from '../http/route-of-request.ts';
import { append, newFile, removeStoredFile } from '../tasks/stored-file.ts';

export type Upload = { readonly fileId: number; readonly sha256: string; readonly format: 'csv' | 'ndjson' };

/** Collected before it is written in one transaction: network packets are too small for rows of their own. */
const pieceSize = 256 * 1024;

/** Writes the body of a request into a file as it comes in; never more of it than a piece is in memory. */
export async function storeUpload(em: Em, req: RoutedRequest & Readable): Promise<Upload> {
  refuseByHeaders(req);
  const fileId = await newFile(em);
  try {
    const sha256 = await storeBody(em, req, fileId);
    return { fileId, sha256, format: req.get('content-type')?.startsWith(fileMediaTypes.csv) ? 'csv' : 'ndjson' };
  } catch (error) {
    await removeStoredFile(em, fileId);
    if (req.errored) throw problem('invalid_request', { detail: 'The body ended too early.', cause: error });
    throw error;
  }
}

function refuseByHeaders(req: RoutedRequest): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(req.get('content-type') ?? '')?.[1];
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw problem('unsupported_media_type', { detail: 'Send the file in UTF-8.' });
  }
  if ((req.get('content-encoding') ?? 'identity') !== 'identity') {
    throw problem('unsupported_media_type', { detail: 'Send the file without this Content-Encoding.' });
  }
}

async function storeBody(em: Em, req: Readable, fileId: number): Promise<string> {
  const [hash, text, lines] = [createHash('sha256'), new TextDecoder('utf-8', { fatal: true }), new LineLengths()];
  let [bytes, position] = [0, 0];
  let piece: Buffer[] = [];
  const write = async (): Promise<void> => {
    // a single commit, which waits for the disk, for all chunks of a piece
    position = await em.fork().transactional((inner) => append(inner, fileId, position, Buffer.concat(piece)));
    piece = [];
  };
  // Whoever sends too much still gets an answer: the connection is not destroyed with the reading.
  const body: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    bytes += chunk.length;
    refuseUnlessText(() => text.decode(chunk, { stream: true }));
    lines.read(chunk);
    hash.update(chunk);
    piece.push(chunk);
    if (piece.reduce((size, { length }) => size + length, 0) >= pieceSize) await write();
  }
  refuseUnlessText(() => text.decode());
  if (bytes === 0) throw problem('invalid_request', { detail: 'The body is empty: send the file as the body.' });
  await write();
  return hash.digest('hex');
}

function refuseUnlessText(decode: () => unknown): void {
  try {
    decode();
  } catch (cause) {
    throw problem('invalid_request', { detail: 'The file is not valid UTF-8.', cause });
  }
}

// files of old programs end their lines with a carriage return alone
const [newline, carriageReturn] = [0x0a, 0x0d];

/** Refuses a file with a line that is longer than a row may be, before the rest of it is sent. */
class LineLengths {
  #line = 1;
  #length = 0;

  read(chunk: Buffer): void {
    for (const byte of chunk) {
      const isLineBreak = byte === newline || byte === carriageReturn;
      this.#length = isLineBreak ? 0 : this.#length + 1;
      if (byte === newline) this.#line += 1;
      if (this.#length > importRowMax) {
        throw problem('payload_too_large', {
          detail: `Line ${this.#line} of the file has more than ${importRowMax} bytes. Split or correct it.`,
        });
      }
    }
  }
}
