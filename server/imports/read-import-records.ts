import { readCsvRecords } from './read-csv-records.ts';
import { type FilePosition, type FileRecord, startOfFilePosition, type ImportFile } from './import-file-record.ts';
import { readNdjsonRecords } from './read-ndjson-records.ts';

const renewalInterval = 500;

/**
 * Reads the rows of a stored file in order, chunk by chunk.
 * @param from the end of the row after which reading continues
 */
export async function* readImportRecords(file: ImportFile, from: FilePosition = startOfFilePosition): AsyncGenerator<FileRecord> {
  let rows = 0;
  for await (const record of file.format === 'csv' ? readCsvRecords(file, from) : readNdjsonRecords(file, from)) {
    yield record;
    rows += 1;
    if (rows % renewalInterval === 0) await file.renewLease();
  }
}
