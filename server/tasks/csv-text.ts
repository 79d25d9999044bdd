import { stringify } from 'csv-stringify/sync';
import { neutralizeFormulas } from './csv-formulas.ts';

export type CsvCell = string | number | null | Readonly<Record<string, string>>;

/**
 * Rows as CSV (RFC 4180 with CRLF). Cells with a quote, a separator or a line break of any kind are quoted, and formulas are neutralized.
 * Every CSV file that the server writes is written here.
 */
export const csvText = (rows: readonly (readonly CsvCell[])[]): string =>
  stringify(
    rows.map((row) => row.map((cell) => textOfCell(cell))),
    {
      record_delimiter: 'windows',
      // With a record delimiter of its own the library would leave a single CR or LF without quotes.
      quote_record_delimiter: true,
      quoted_match: /[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$/u,
    },
  );

function textOfCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  return typeof cell === 'string' ? neutralizeFormulas(cell) : asciiSpacedJson(cell);
}

/** JSON in which every separator and invisible character is escaped: nothing in it can be taken for the start of a cell. */
const asciiSpacedJson = (value: Readonly<Record<string, string>>): string =>
  JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, escapeUnits);

const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
