import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { fileMediaTypes, maxImportRowBytes } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { appendToStoredFile, createStoredFile, deleteStoredFile } from '../tasks/stored-task-file.ts';

export type StoredUpload = { readonly fileId: number; readonly sha256: string; readonly format: 'csv' | 'ndjson' };

/**
 * Number of bytes that are buffered before one transaction writes them. Storing each network packet in a separate row would be inefficient.
 */
const bufferSize = 256 * 1024;

/** Streams a request body into a stored file through a 256 KiB buffer. */
export async function storeUpload(em: EntityManager, req: MatchedRequest & Readable): Promise<StoredUpload> {
  checkHeaders(req);
  const fileId = await createStoredFile(em);
  try {
    const sha256 = await storeBody(em, req, fileId);
    return { fileId, sha256, format: req.get('content-type')?.startsWith(fileMediaTypes.csv) ? 'csv' : 'ndjson' };
  } catch (error) {
    await deleteStoredFile(em, fileId);
    if (req.errored) throw createProblem('invalid_request', { detail: 'The body is incomplete.', cause: error });
    throw error;
  }
}

function checkHeaders(req: MatchedRequest): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(req.get('content-type') ?? '')?.[1];
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw createProblem('unsupported_media_type', { detail: 'Send the file in UTF-8.' });
  }
  if ((req.get('content-encoding') ?? 'identity') !== 'identity') {
    throw createProblem('unsupported_media_type', { detail: 'Send the file without this Content-Encoding.' });
  }
}

async function storeBody(em: EntityManager, req: Readable, fileId: number): Promise<string> {
  const [hash, text, lines] = [createHash('sha256'), new TextDecoder('utf-8', { fatal: true }), new LineLengthCheck()];
  let [bytes, position] = [0, 0];
  let buffered: Buffer[] = [];
  const write = async (): Promise<void> => {
    // All chunks of a buffer share one commit, because each commit waits for the disk.
    position = await em.fork().transactional((inner) => appendToStoredFile(inner, fileId, position, Buffer.concat(buffered)));
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
  if (bytes === 0) throw createProblem('invalid_request', { detail: 'The body is empty. Send the file as the body.' });
  await write();
  return hash.digest('hex');
}

function assertUtf8(decode: () => unknown): void {
  try {
    decode();
  } catch (cause) {
    throw createProblem('invalid_request', { detail: 'The file is not valid UTF-8.', cause });
  }
}

// Some old programs end lines with a lone carriage return.
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
      if (this.#length > maxImportRowBytes) {
        throw createProblem('payload_too_large', {
          detail: translatable`Line ${{ line: this.#line }} of the file has more than ${{ bytes: maxImportRowBytes }} bytes. Split or correct the line.`,
        });
      }
    }
  }
}
