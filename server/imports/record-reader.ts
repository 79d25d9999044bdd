import { csvRecords } from './csv-records.ts';
import { type FilePosition, type FileRecord, startOfFile, type StoredFile } from './file-record.ts';
import { ndjsonRecords } from './ndjson-records.ts';

const renewalInterval = 500;

/**
 * Reads the rows of a stored file in order, chunk by chunk.
 * @param from the end of an earlier row to continue after
 */
export async function* readRecords(file: StoredFile, from: FilePosition = startOfFile): AsyncGenerator<FileRecord> {
  let rows = 0;
  for await (const record of file.format === 'csv' ? csvRecords(file, from) : ndjsonRecords(file, from)) {
    yield record;
    rows += 1;
    if (rows % renewalInterval === 0) await file.renewLease();
  }
}
