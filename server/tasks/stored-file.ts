import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareDeferredStatement, prepareStatement } from '../database/queries/prepared-statement.ts';

/**
 * Maximum size of a chunk, which is one row. Encoded as base64, a chunk fits into one read from the socket, so that the driver copies it
 * only once, and into the young generation of the heap. Larger chunks leave up to 64 MB of garbage before V8 collects it.
 */
const chunkMax = 32 * 1024;

const insertFile = prepareStatement<{ id: number }>('insert_task_file', 'insert into task_files default values returning id');
// Passed as base64, which Node converts natively: PGlite converts binary values byte by byte, with a hundred times their memory.
const insertChunk = prepareDeferredStatement(
  'insert_task_file_chunk',
  `insert into task_file_chunks (file_id, position, content) values ($1, $2, decode($3, 'base64'))`,
);
const readChunk = prepareStatement<{ content: string }>(
  'read_task_file_chunk',
  `select encode(content, 'base64') as content from task_file_chunks where file_id = $1 and position = $2`,
);
// octet_length reads the length of an out-of-line (TOAST) value without reading the value.
const findChunk = prepareStatement<{ position: number; start: number }>(
  'find_task_file_chunk',
  `select position, start from (
     select position, (sum(octet_length(content)) over (order by position) - octet_length(content))::bigint as start
       from task_file_chunks where file_id = $1) chunks
    where start <= $2 order by position desc limit 1`,
);
const readSize = prepareStatement<{ bytes: number }>(
  'read_task_file_size',
  'select coalesce(sum(octet_length(content)), 0)::bigint as bytes from task_file_chunks where file_id = $1',
);
const removeChunks = prepareStatement<{ position: number }>(
  'delete_task_file_chunks',
  `delete from task_file_chunks where file_id = $1
      and position in (select position from task_file_chunks where file_id = $1 order by position limit 200)
   returning position`,
);
const removeFile = prepareStatement('delete_task_file', 'delete from task_files where id = $1');

/** Creates an empty stored file and returns its id. */
export async function createStoredFile(em: EntityManager): Promise<number> {
  const [file] = await insertFile(em, []);
  if (!file) throw new Error('inserting a file returned no row');
  return file.id;
}

/** Appends content to a file that has `position` chunks, and returns the new number of chunks. */
export async function appendToStoredFile(em: EntityManager, fileId: number, position: number, content: Buffer): Promise<number> {
  let next = position;
  for (let from = 0; from < content.length; from += chunkMax, next += 1) {
    await insertChunk(em, [fileId, next, content.toString('base64', from, from + chunkMax)]);
  }
  return next;
}

/**
 * Reads a file chunk by chunk. Each chunk is a separate query, so that a slow reader occupies no database connection.
 * @param from offset of the first byte to read
 */
export async function* readStoredFileChunks(em: EntityManager, fileId: number, from = 0): AsyncGenerator<Buffer> {
  const [first] = from === 0 ? [{ position: 0, start: 0 }] : await findChunk(em, [fileId, from]);
  if (!first) return;
  let skipped = from - first.start;
  for (let { position } = first; ; position += 1, skipped = 0) {
    const [chunk] = await readChunk(em, [fileId, position]);
    if (!chunk) return;
    yield Buffer.from(chunk.content, 'base64').subarray(skipped);
  }
}

/** Streams a file whose size was announced as `bytes`. If data is missing, the stream fails instead of ending early. */
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

/** Returns the size of a file in bytes. */
export async function readStoredFileSize(em: EntityManager, fileId: number): Promise<number> {
  const [size] = await readSize(em, [fileId]);
  return size?.bytes ?? 0;
}

/** Deletes a file in small statements, because a single statement for a large file would exceed the statement timeout. */
export async function deleteStoredFile(em: EntityManager, fileId: number): Promise<void> {
  while ((await removeChunks(em, [fileId])).length > 0);
  await removeFile(em, [fileId]);
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
