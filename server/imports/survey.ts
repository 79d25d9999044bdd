import { uploadRowsMax } from '@mandate/contract';
import { TaskFailure } from '../tasks/task-failure.ts';
import type { FileRecord } from './read-records.ts';

/**
 * Reads a file to its end before anything is done with it: one that breaks off, has too many rows or lacks a column changes nothing.
 * Gives the number of its rows.
 */
export async function survey(
  records: AsyncIterable<FileRecord>,
  columns: readonly string[],
  look: (record: FileRecord, at: number) => void = () => undefined,
): Promise<number> {
  const missing = new Set(columns);
  let rows = 0;
  for await (const record of records) {
    if (rows === uploadRowsMax) throw new TaskFailure('too_many_rows', `A file can have up to ${uploadRowsMax} rows.`);
    look(record, rows);
    rows += 1;
    for (const column of missing) if (record.cells?.has(column)) missing.delete(column);
  }
  const [first] = missing;
  if (rows > 0 && first !== undefined) {
    throw new TaskFailure('missing_column', `No row has anything in a column ${JSON.stringify(first)}. Say which column it is instead.`);
  }
  return rows;
}
