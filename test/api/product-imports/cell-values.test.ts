import { expect, test } from 'vitest';
import { normalizeImportCells, type ImportFileRow } from '../../../server/imports/import-row-types-and-cell-normalization.ts';
import { parseAmountCell, parseIntegerCell } from '../../../server/imports/parse-import-cells-and-validate-row.ts';
import { validateAndCountRows } from '../../../server/imports/validate-and-count-rows.ts';

test.each([
  ['0', 0],
  ['7', 7],
  ['-7', -7],
  ['1234567890123456', 1_234_567_890_123_456],
])('the cell %s is the integer %i', (text, value) => {
  expect(parseIntegerCell(text)).toBe(value);
});

test.each(['', '-', '-0', '00', '07', '+7', '1.0', '1e3', ' 7', '7 ', '0x7', '12345678901234567', undefined])(
  'the cell %j is not an integer and remains unchanged for the validation',
  (text) => {
    expect(parseIntegerCell(text)).toBe(text);
  },
);

test.each([
  ['2.55', 'EUR', 255],
  ['2.550', 'EUR', 255],
  ['2.5', 'EUR', 250],
  ['2', 'EUR', 200],
  ['-2.55', 'EUR', -255],
  ['0.07', 'EUR', 7],
  ['007', 'EUR', 700],
  ['300', 'JPY', 300],
  ['300.00', 'JPY', 300],
  ['1.234', 'KWD', 1_234],
  ['2.5', undefined, 250],
  ['123456789012345', 'JPY', 123_456_789_012_345],
  ['1.000000000', 'EUR', 100],
])('the decimal amount %s in %s is %i minor units', (text, currency, value) => {
  expect(parseAmountCell(text, 'decimal', currency)).toBe(value);
});

test.each<[string | undefined, string]>([
  ['2.555', 'EUR'],
  ['300.01', 'JPY'],
  ['2.', 'EUR'],
  ['.5', 'EUR'],
  ['+2', 'EUR'],
  ['2,50', 'EUR'],
  ['1e2', 'EUR'],
  ['x2.50', 'EUR'],
  ['2.50x', 'EUR'],
  ['1234567890123456', 'JPY'],
  ['1.0000000000', 'EUR'],
  ['', 'EUR'],
  [undefined, 'EUR'],
])('the decimal amount %j in %s remains unchanged for the validation', (text, currency) => {
  expect(parseAmountCell(text, 'decimal', currency)).toBe(text);
});

test('an amount in minor units is read as an integer', () => {
  expect([parseAmountCell('255', 'minor', 'EUR'), parseAmountCell('2.55', 'minor', 'EUR')]).toEqual([255, '2.55']);
});

test('cells are trimmed, and empty cells are omitted', () => {
  const row = normalizeImportCells([
    ['sku', ' A 1\t'],
    ['name', ' '],
    ['note', ''],
    ['price', '5'],
  ]);
  expect(row).toEqual({
    cells: new Map([
      ['sku', 'A 1'],
      ['price', '5'],
    ]),
  });
  expect('error' in row).toBe(false);
});

test('a row with U+0000 is an error, and has the cells without this character', () => {
  expect(
    normalizeImportCells([
      ['sku', 'A\0'],
      ['price', '5'],
    ]),
  ).toEqual({
    cells: new Map([['price', '5']]),
    error: 'The row contains the character U+0000, which is not allowed.',
  });
  expect(normalizeImportCells([['sku', 'A\0']], 'Another error.')).toEqual({ cells: new Map(), error: 'Another error.' });
});

async function* records(...rows: readonly Partial<ImportFileRow>[]): AsyncGenerator<ImportFileRow> {
  for (const [index, row] of rows.entries()) {
    const line = index + 2;
    yield await Promise.resolve({ line, cells: new Map<string, string>(), end: { bytes: line * 10, lines: line }, ...row });
  }
}

test('the rows of a file are counted if each required column has a value in some row', async () => {
  const file = records({ cells: new Map([['sku', 'A']]) }, { cells: new Map([['price', '5']]) }, {});
  expect(await validateAndCountRows(file, ['sku', 'price'])).toBe(3);
  expect(await validateAndCountRows(records(), ['sku'])).toBe(0);
});

test('a file without a value in a required column is rejected with the first such column', async () => {
  const file = records({ cells: new Map([['sku', 'A']]) });
  await expect(validateAndCountRows(file, ['sku', 'price', 'name'])).rejects.toMatchObject({
    code: 'missing_column',
    message: 'The column "price" is missing, or is empty in every row. Specify the column to use instead.',
  });
});

test('a file that ends within its last row is rejected, even if a column is also missing', async () => {
  await expect(validateAndCountRows(records({}, { isCutOff: true }), ['sku'])).rejects.toMatchObject({
    code: 'truncated_file',
    message: 'The file is truncated: it ends within line 3. Import the complete file.',
  });
  expect(await validateAndCountRows(records({ isCutOff: true }, { isCutOff: false }), [])).toBe(2);
});
