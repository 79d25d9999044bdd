import { prepareDeferredStatement, prepareStatement } from '../database/queries/prepared-statement.ts';

// SQL, because content is passed as base64, which Node converts natively.
// PGlite converts binary values byte by byte, which takes a hundred times their memory.
export const insertFileChunk = prepareDeferredStatement(
  'insert_task_file_chunk',
  `insert into task_file_chunks (file_id, position, content) values ($1, $2, decode($3, 'base64'))`,
);
export const readFileChunk = prepareStatement<{ content: string }>(
  'read_task_file_chunk',
  `select encode(content, 'base64') as content from task_file_chunks where file_id = $1 and position = $2`,
);
// SQL, because MikroORM has no window functions. octet_length reads the length of an out-of-line (TOAST) value without reading the value.
export const findFileChunkAtOffset = prepareStatement<{ position: number; start: number }>(
  'find_task_file_chunk',
  `select position, start from (
     select position, (sum(octet_length(content)) over (order by position) - octet_length(content))::bigint as start
       from task_file_chunks where file_id = $1) chunks
    where start <= $2 order by position desc limit 1`,
);
// SQL, because MikroORM has no aggregate other than a count.
export const sumFileChunkSizes = prepareStatement<{ bytes: number }>(
  'read_task_file_size',
  'select coalesce(sum(octet_length(content)), 0)::bigint as bytes from task_file_chunks where file_id = $1',
);
