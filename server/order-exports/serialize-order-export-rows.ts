import type { OrderExportColumn } from '@mandate/contract';
import { type CsvCell, formatCsv } from '../tasks/format-csv.ts';
import { orderExportCellReaders, type ExportRow } from './order-export-cell-readers.ts';

/** Serializes rows in the file format. If `first` is true, adds the CSV header. */
export function serializeOrderExportRows(
  format: 'csv' | 'ndjson',
  columns: readonly OrderExportColumn[],
  rows: readonly ExportRow[],
  first: boolean,
): Buffer {
  const text = format === 'csv' ? toCsv(columns, rows, first) : rows.map((row) => `${JSON.stringify(toObject(columns, row))}\n`).join('');
  return Buffer.from(text);
}

const toCsv = (columns: readonly OrderExportColumn[], rows: readonly ExportRow[], header: boolean): string =>
  formatCsv([...(header ? [columns] : []), ...rows.map((row) => columns.map((name) => orderExportCellReaders[name](row)))]);

const toObject = (columns: readonly OrderExportColumn[], row: ExportRow): Record<string, CsvCell> =>
  Object.fromEntries(columns.map((name) => [name, orderExportCellReaders[name](row)]));
