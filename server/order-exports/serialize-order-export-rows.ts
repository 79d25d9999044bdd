import type { OrderExportColumn } from '@mandate/contract';
import { type CsvCell, formatFormulaSafeCsv } from '../tasks/format-formula-safe-csv.ts';
import { orderExportCellReaders, type OrderExportRow } from './order-export-cell-readers.ts';

/** Serializes rows in the file format. If `first` is true, CSV output starts with the header. */
export function serializeOrderExportRows(
  format: 'csv' | 'ndjson',
  columns: readonly OrderExportColumn[],
  rows: readonly OrderExportRow[],
  first: boolean,
): Buffer {
  const text = format === 'csv' ? toCsv(columns, rows, first) : rows.map((row) => `${JSON.stringify(toObject(columns, row))}\n`).join('');
  return Buffer.from(text);
}

const toCsv = (columns: readonly OrderExportColumn[], rows: readonly OrderExportRow[], header: boolean): string =>
  formatFormulaSafeCsv([...(header ? [columns] : []), ...rows.map((row) => columns.map((name) => orderExportCellReaders[name](row)))]);

const toObject = (columns: readonly OrderExportColumn[], row: OrderExportRow): Record<string, CsvCell> =>
  Object.fromEntries(columns.map((name) => [name, orderExportCellReaders[name](row)]));
