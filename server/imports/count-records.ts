import { TaskFailure } from '../tasks/task-failure.ts';
import type { FileRecord } from './file-record.ts';

/**
 * Checks every row of a file before anything is changed: a file that is cut off or lacks a column changes nothing. Passes the rows on,
 * and returns their number.
 * @param columns columns that at least one row must have a value in
 */
export async function* surveyed(records: AsyncIterable<FileRecord>, columns: readonly string[]): AsyncGenerator<FileRecord, number> {
  const missing = new Set(columns);
  let rows = 0;
  let last: FileRecord | undefined;
  for await (const record of records) {
    rows += 1;
    last = record;
    for (const column of missing) if (record.cells.has(column)) missing.delete(column);
    yield record;
  }
  if (last?.isCutOff) {
    throw new TaskFailure('truncated_file', `The file ends within line ${last.line}: it was cut off. Import the complete file.`);
  }
  const [first] = missing;
  if (rows > 0 && first !== undefined) {
    throw new TaskFailure('missing_column', `No row has anything in a column ${JSON.stringify(first)}. Say which column it is instead.`);
  }
  return rows;
}

/** The same for a file whose rows do not belong together; returns their number. */
export async function survey(records: AsyncIterable<FileRecord>, columns: readonly string[]): Promise<number> {
  const rows = surveyed(records, columns);
  for (;;) {
    const step = await rows.next();
    if (step.done) return step.value;
  }
}
