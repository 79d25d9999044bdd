import { stringify } from 'csv-stringify/sync';
import type { OrderExportColumn } from '@mandate/contract';
import { type Cell, cellOf, type Exported } from './export-columns.ts';

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

/** RFC 4180: CRLF, quotes where they are needed. */
const csv = (columns: readonly OrderExportColumn[], rows: readonly Exported[], header: boolean): string =>
  stringify([...(header ? [columns] : []), ...rows.map((row) => columns.map((name) => text(cellOf[name](row))))], {
    record_delimiter: 'windows',
  });

const objectOf = (columns: readonly OrderExportColumn[], row: Exported): Record<string, Cell> =>
  Object.fromEntries(columns.map((name) => [name, cellOf[name](row)]));

function text(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return harmless(cell);
  return typeof cell === 'number' ? String(cell) : JSON.stringify(cell);
}

/** A spreadsheet would carry out what begins like this: what a customer typed must stay text. */
const harmless = (value: string): string => (/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
