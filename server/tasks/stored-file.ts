import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';

/** What one row holds at most: small enough to be held in memory by many requests at once. */
const chunkMax = 256 * 1024;

const insertFile = statement<{ id: number }>('insert_task_file', 'insert into task_files default values returning id');
const insertChunk = statement('insert_task_file_chunk', 'insert into task_file_chunks (file_id, position, content) values ($1, $2, $3)');
const readChunk = statement<{ content: Uint8Array }>(
  'read_task_file_chunk',
  'select content from task_file_chunks where file_id = $1 and position = $2',
);
const removeFile = statement('remove_task_file', 'delete from task_files where id = $1');

export async function newFile(em: Em): Promise<number> {
  const [file] = await insertFile(em, []);
  if (!file) throw new Error('inserting a file gave no row');
  return file.id;
}

/** Puts content at the end of a file of `position` chunks, and gives the number it has then. */
export async function append(em: Em, fileId: number, position: number, content: Buffer): Promise<number> {
  let next = position;
  for (let from = 0; from < content.length; from += chunkMax, next += 1) {
    await insertChunk(em, [fileId, next, content.subarray(from, from + chunkMax)]);
  }
  return next;
}

/** Everything of a file, a chunk at a time: each is a query of its own, so that a slow reader holds no connection. */
export async function* chunksOf(em: Em, fileId: number): AsyncGenerator<Buffer> {
  for (let position = 0; ; position += 1) {
    const [chunk] = await readChunk(em, [fileId, position]);
    if (!chunk) return;
    yield Buffer.from(chunk.content);
  }
}

/** A file for whoever was promised `bytes` of it: with fewer it ends in an error, never as if it were whole. */
export const streamOf = (em: Em, fileId: number, bytes: number): Readable =>
  Readable.from(whole(chunksOf(em, fileId), bytes), { objectMode: false });

async function* whole(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    yield chunk;
  }
  if (left !== 0) throw new Error(`a stored file lacks ${left} bytes`);
}

export const removeStoredFile = (em: Em, fileId: number): Promise<unknown> => removeFile(em, [fileId]);

/** Size and digest of what is really there. */
export async function measure(em: Em, fileId: number): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunksOf(em, fileId)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
