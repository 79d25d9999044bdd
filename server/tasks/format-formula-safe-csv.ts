import { stringify } from 'csv-stringify/sync';
import { neutralizeCsvFormulas } from './neutralize-and-restore-csv-formulas.ts';

export type CsvCell = string | number | null | Readonly<Record<string, string>>;

/**
 * Formats rows as CSV (RFC 4180 with CRLF). Cells with a quote, a separator or any kind of line break are quoted, and formulas are
 * neutralized. The server writes every CSV file with this function.
 */
export const formatFormulaSafeCsv = (rows: readonly (readonly CsvCell[])[]): string =>
  stringify(
    rows.map((row) => row.map((cell) => formatCell(cell))),
    {
      record_delimiter: 'windows',
      // With a custom record delimiter, csv-stringify would not quote a single CR or LF.
      quote_record_delimiter: true,
      quoted_match: /[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$/u,
    },
  );

function formatCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  return typeof cell === 'string' ? neutralizeCsvFormulas(cell) : asciiSpacedJson(cell);
}

/** Formats JSON with every separator and invisible character escaped, so that no part of it can be interpreted as the start of a cell. */
const asciiSpacedJson = (value: Readonly<Record<string, string>>): string =>
  JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, escapeUnits);

const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
