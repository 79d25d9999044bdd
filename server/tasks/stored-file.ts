import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Em } from '../database/orm.ts';
import { laterStatement, statement } from '../database/statement.ts';

/**
 * Maximum size of a chunk, which is a row. As base64 it fits into one read from the socket, so that the driver copies it only once, and
 * into the young generation of the heap: larger chunks leave up to 64 MB of garbage behind before V8 collects it.
 */
const chunkMax = 32 * 1024;

const insertFile = statement<{ id: number }>('insert_task_file', 'insert into task_files default values returning id');
// As base64, which Node converts at once: the embedded database converts bytes one by one, with a hundred times their memory.
const insertChunk = laterStatement(
  'insert_task_file_chunk',
  `insert into task_file_chunks (file_id, position, content) values ($1, $2, decode($3, 'base64'))`,
);
const readChunk = statement<{ content: string }>(
  'read_task_file_chunk',
  `select encode(content, 'base64') as content from task_file_chunks where file_id = $1 and position = $2`,
);
// octet_length reads the length of a value that is stored apart, not the value itself.
const findChunk = statement<{ position: number; start: number }>(
  'find_task_file_chunk',
  `select position, start from (
     select position, (sum(octet_length(content)) over (order by position) - octet_length(content))::bigint as start
       from task_file_chunks where file_id = $1) chunks
    where start <= $2 order by position desc limit 1`,
);
const readSize = statement<{ bytes: number }>(
  'read_task_file_size',
  'select coalesce(sum(octet_length(content)), 0)::bigint as bytes from task_file_chunks where file_id = $1',
);
const removeChunks = statement<{ position: number }>(
  'remove_task_file_chunks',
  `delete from task_file_chunks where file_id = $1
      and position in (select position from task_file_chunks where file_id = $1 order by position limit 200)
   returning position`,
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
    await insertChunk(em, [fileId, next, content.toString('base64', from, from + chunkMax)]);
  }
  return next;
}

/**
 * Reads a file from a byte on, a chunk at a time. Each chunk is a query of its own, so that a slow reader holds no connection.
 * @param from offset of the first byte to read
 */
export async function* chunksOf(em: Em, fileId: number, from = 0): AsyncGenerator<Buffer> {
  const [first] = from === 0 ? [{ position: 0, start: 0 }] : await findChunk(em, [fileId, from]);
  if (!first) return;
  let skipped = from - first.start;
  for (let { position } = first; ; position += 1, skipped = 0) {
    const [chunk] = await readChunk(em, [fileId, position]);
    if (!chunk) return;
    yield Buffer.from(chunk.content, 'base64').subarray(skipped);
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

export async function sizeOfStoredFile(em: Em, fileId: number): Promise<number> {
  const [size] = await readSize(em, [fileId]);
  return size?.bytes ?? 0;
}

/** Removes a file in small statements: a single one over a large file would exceed the time limit of a statement. */
export async function removeStoredFile(em: Em, fileId: number): Promise<void> {
  while ((await removeChunks(em, [fileId])).length > 0);
  await removeFile(em, [fileId]);
}

/**
 * Size and digest of what is really there.
 * @param keep called after each chunk
 */
export async function measure(em: Em, fileId: number, keep: () => Promise<void>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunksOf(em, fileId)) {
    hash.update(chunk);
    bytes += chunk.length;
    await keep();
  }
  return { bytes, sha256: hash.digest('hex') };
}
