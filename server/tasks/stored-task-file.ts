import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { findFileChunkAtOffset, insertFileChunk, readFileChunkAsBase64 } from './insert-and-read-file-chunks.sql.ts';
import { TaskFile, TaskFileChunk } from './task-and-task-file.entity.ts';

/**
 * Maximum size of a chunk in bytes; each chunk is stored in a separate row. Encoded as base64, a chunk fits into the heap's young
 * generation and into one socket read, so that the driver copies it only once. With larger chunks, up to 64 MB of garbage accumulates
 * before V8 collects it.
 */
const chunkMax = 32 * 1024;

/** Number of chunks that one statement deletes. */
const deletedChunksMax = 200;

/** Creates an empty stored file and returns its ID. */
export const createStoredFile = (em: EntityManager): Promise<number> => em.insert(TaskFile, {});

/** Appends content to a file that has `position` chunks, and returns the new number of chunks. */
export async function appendToStoredFile(em: EntityManager, fileId: number, position: number, content: Buffer): Promise<number> {
  let next = position;
  for (let from = 0; from < content.length; from += chunkMax, next += 1) {
    await insertFileChunk(em, [fileId, next, content.toString('base64', from, from + chunkMax)]);
  }
  return next;
}

/**
 * Reads a file chunk by chunk. Each chunk is a separate query, so that a slow reader does not occupy a database connection.
 * @param from offset of the first byte to read
 */
export async function* readStoredFileChunks(em: EntityManager, fileId: number, from = 0): AsyncGenerator<Buffer> {
  const [first] = from === 0 ? [{ position: 0, start: 0 }] : await findFileChunkAtOffset(em, [fileId, from]);
  if (!first) return;
  let skipped = from - first.start;
  for (let { position } = first; ; position += 1, skipped = 0) {
    const [chunk] = await readFileChunkAsBase64(em, [fileId, position]);
    if (!chunk) return;
    yield Buffer.from(chunk.content, 'base64').subarray(skipped);
  }
}

/** Streams a file whose expected size is `bytes`. If data is missing, the stream fails instead of ending early. */
export const streamStoredFile = (em: EntityManager, fileId: number, bytes: number): Readable =>
  Readable.from(assertComplete(readStoredFileChunks(em, fileId), bytes), { objectMode: false });

async function* assertComplete(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    yield chunk;
  }
  if (left !== 0) throw new Error(`a stored file is ${left} bytes too short`);
}

/** Returns a file's size in bytes. */
export async function readStoredFileSize(em: EntityManager, fileId: number): Promise<number> {
  const [lastChunk] = await findFileChunkAtOffset(em, [fileId, Number.MAX_SAFE_INTEGER]);
  return lastChunk?.until ?? 0;
}

/** Deletes a file in small statements, because a single statement for a large file would exceed the statement timeout. */
export async function deleteStoredFile(em: EntityManager, fileId: number): Promise<void> {
  while ((await deleteChunks(em, fileId)) > 0);
  await em.nativeDelete(TaskFile, { id: fileId });
}

/** Deletes a file's first chunks and returns the number of deleted chunks. */
async function deleteChunks(em: EntityManager, file: number): Promise<number> {
  const options = { fields: ['position'], orderBy: { position: 'asc' }, limit: deletedChunksMax, disableIdentityMap: true } as const;
  const chunks = await em.find(TaskFileChunk, { file }, options);
  if (chunks.length > 0) await em.nativeDelete(TaskFileChunk, { file, position: { $in: chunks.map(({ position }) => position) } });
  return chunks.length;
}

/**
 * Reads a file and returns its actual size and SHA-256 digest.
 * @param renewLease called after each chunk
 */
export async function measureAndHashStoredFile(
  em: EntityManager,
  fileId: number,
  renewLease: () => Promise<void>,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of readStoredFileChunks(em, fileId)) {
    hash.update(chunk);
    bytes += chunk.length;
    await renewLease();
  }
  return { bytes, sha256: hash.digest('hex') };
}
