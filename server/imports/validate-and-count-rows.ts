import { PermanentTaskError } from '../tasks/permanent-task-error.ts';
import type { ImportFileRow } from './import-row-types-and-cell-normalization.ts';

/**
 * Yields the rows of a file unchanged and returns their number. Throws if the file is truncated or lacks a required column. Runs before any
 * data is changed, so that an invalid file has no effect.
 * @param columns columns that must have a value in at least one row
 */
export async function* validateAndYieldRows(
  records: AsyncIterable<ImportFileRow>,
  columns: readonly string[],
): AsyncGenerator<ImportFileRow, number> {
  const missing = new Set(columns);
  let rows = 0;
  let last: ImportFileRow | undefined;
  for await (const record of records) {
    rows += 1;
    last = record;
    for (const column of missing) if (record.cells.has(column)) missing.delete(column);
    yield record;
  }
  if (last?.isCutOff) {
    throw new PermanentTaskError('truncated_file', `The file is truncated: it ends within line ${last.line}. Import the complete file.`);
  }
  const [first] = missing;
  if (rows > 0 && first !== undefined) {
    throw new PermanentTaskError(
      'missing_column',
      `The column ${JSON.stringify(first)} is missing, or is empty in every row. Specify the column to use instead.`,
    );
  }
  return rows;
}

/** Checks a file in the same way as `validateAndYieldRows`, but discards the rows and returns only their number. */
export async function validateAndCountRows(records: AsyncIterable<ImportFileRow>, columns: readonly string[]): Promise<number> {
  const rows = validateAndYieldRows(records, columns);
  for (;;) {
    const step = await rows.next();
    if (step.done) return step.value;
  }
}
