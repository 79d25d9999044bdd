import { readCsvRows } from './read-csv-rows.ts';
import { type FilePosition, type ImportFileRow, startOfFilePosition, type ImportFile } from './import-row-types-and-cell-normalization.ts';
import { readNdjsonRows } from './read-ndjson-rows.ts';

const renewalInterval = 500;

/**
 * Reads the rows of a stored file in order, chunk by chunk.
 * @param from position after which reading starts, which must be the end of a row
 */
export async function* readImportRows(file: ImportFile, from: FilePosition = startOfFilePosition): AsyncGenerator<ImportFileRow> {
  let rows = 0;
  for await (const record of file.format === 'csv' ? readCsvRows(file, from) : readNdjsonRows(file, from)) {
    yield record;
    rows += 1;
    if (rows % renewalInterval === 0) await file.renewLease();
  }
}
