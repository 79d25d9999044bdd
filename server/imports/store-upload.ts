import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { fileMediaTypes, importRowMax } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { problem } from '../http/problem-details/problem.ts';
import type { RoutedRequest } from '../http/request/matched-route.ts';
import { append, newFile, removeStoredFile } from '../tasks/stored-file.ts';

export type Upload = { readonly fileId: number; readonly sha256: string; readonly format: 'csv' | 'ndjson' };

/** Bytes collected before they are written, because network packets are too small for one row each. */
const bufferSize = 256 * 1024;

/** Streams the body of a request into a stored file, with a buffer of 256 KiB in memory. */
export async function storeUpload(em: Em, req: RoutedRequest & Readable): Promise<Upload> {
  checkHeaders(req);
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

function checkHeaders(req: RoutedRequest): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(req.get('content-type') ?? '')?.[1];
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw problem('unsupported_media_type', { detail: 'Send the file in UTF-8.' });
  }
  if ((req.get('content-encoding') ?? 'identity') !== 'identity') {
    throw problem('unsupported_media_type', { detail: 'Send the file without this Content-Encoding.' });
  }
}

async function storeBody(em: Em, req: Readable, fileId: number): Promise<string> {
  const [hash, text, lines] = [createHash('sha256'), new TextDecoder('utf-8', { fatal: true }), new LineLengthCheck()];
  let [bytes, position] = [0, 0];
  let buffered: Buffer[] = [];
  const write = async (): Promise<void> => {
    position = await append(em, fileId, position, Buffer.concat(buffered));
    buffered = [];
  };
  // If reading stops early, the connection stays open, so that the client receives the error response.
  const body: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    bytes += chunk.length;
    assertUtf8(() => text.decode(chunk, { stream: true }));
    lines.read(chunk);
    hash.update(chunk);
    buffered.push(chunk);
    if (buffered.reduce((size, { length }) => size + length, 0) >= bufferSize) await write();
  }
  assertUtf8(() => text.decode());
  if (bytes === 0) throw problem('invalid_request', { detail: 'The body is empty: send the file as the body.' });
  await write();
  return hash.digest('hex');
}

function assertUtf8(decode: () => unknown): void {
  try {
    decode();
  } catch (cause) {
    throw problem('invalid_request', { detail: 'The file is not valid UTF-8.', cause });
  }
}

// Some old programs end lines with a carriage return alone.
const [newline, carriageReturn] = [0x0a, 0x0d];

/** Rejects a file with a line longer than the maximum row size, before the rest of the file is received. */
class LineLengthCheck {
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
