import { prepareDeferredWrite, prepareStatement } from '../database/queries/prepared-statement.ts';

// Written in SQL because content is passed as base64, which Node converts natively.
// PGlite converts binary values byte by byte, which takes a hundred times as much memory as the values themselves.
export const insertFileChunk = prepareDeferredWrite(
  'insert_task_file_chunk',
  `insert into task_file_chunks (file_id, position, content) values ($1, $2, decode($3, 'base64'))`,
);
// Written in SQL because content is returned as base64, which Node converts natively.
export const readFileChunkAsBase64 = prepareStatement<{ content: string }>(
  'read_task_file_chunk',
  `select encode(content, 'base64') as content from task_file_chunks where file_id = $1 and position = $2`,
);
// Written in SQL because MikroORM does not support window functions. octet_length reads the length of an out-of-line (TOAST) value without
// reading the value.
/**
 * Finds the last chunk that starts at or before an offset. `start` is the offset of the chunk's first byte; `until` is the offset of the
 * next chunk.
 */
export const findFileChunkAtOffset = prepareStatement<{ position: number; start: number; until: number }>(
  'find_task_file_chunk',
  `select position, start, until from (
     select position, (sum(bytes) over (order by position) - bytes)::bigint as start, (sum(bytes) over (order by position))::bigint as until
       from (select position, octet_length(content) as bytes from task_file_chunks where file_id = $1) sizes) chunks
    where start <= $2 order by position desc limit 1`,
);
