import type { OrderExportColumn } from '@mandate/contract';
import { type CsvCell, csvText } from '../tasks/csv-text.ts';
import { cellOf, type Exported } from './export-columns.ts';

/** Serializes rows in the format of the file; `first` adds the CSV header. */
export function writeRows(
  format: 'csv' | 'ndjson',
  columns: readonly OrderExportColumn[],
  rows: readonly Exported[],
  first: boolean,
): Buffer {
  const text = format === 'csv' ? toCsv(columns, rows, first) : rows.map((row) => `${JSON.stringify(toObject(columns, row))}\n`).join('');
  return Buffer.from(text);
}

const toCsv = (columns: readonly OrderExportColumn[], rows: readonly Exported[], header: boolean): string =>
  csvText([...(header ? [columns] : []), ...rows.map((row) => columns.map((name) => cellOf[name](row)))]);

const toObject = (columns: readonly OrderExportColumn[], row: Exported): Record<string, CsvCell> =>
  Object.fromEntries(columns.map((name) => [name, cellOf[name](row)]));
