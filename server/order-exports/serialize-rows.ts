import type { OrderExportColumn } from '@mandate/contract';
import { type CsvCell, csvText } from '../tasks/csv-text.ts';
import { cellOf, type Exported } from './export-columns.ts';

/** Rows in the format of the file; `first` also writes what stands above them. */
export function writeRows(
  format: 'csv' | 'ndjson',
  columns: readonly OrderExportColumn[],
  rows: readonly Exported[],
  first: boolean,
): Buffer {
  const written = format === 'csv' ? csv(columns, rows, first) : rows.map((row) => `${JSON.stringify(objectOf(columns, row))}\n`).join('');
  return Buffer.from(written);
}

const csv = (columns: readonly OrderExportColumn[], rows: readonly Exported[], header: boolean): string =>
  csvText([...(header ? [columns] : []), ...rows.map((row) => columns.map((name) => cellOf[name](row)))]);

const objectOf = (columns: readonly OrderExportColumn[], row: Exported): Record<string, CsvCell> =>
  Object.fromEntries(columns.map((name) => [name, cellOf[name](row)]));
