import { expect, test } from 'vitest';
import { parseDecimalToMinorUnits } from '../../../cli/contract-commands/parse-decimal-to-minor-units.ts';

test.each([
  ['12.05', 'EUR', 1205],
  [' 12 ', 'EUR', 1200],
  ['12', 'JPY', 12],
  ['1.2', 'KWD', 1200],
  ['90071992547409.91', 'USD', 9007199254740991],
  ['90071992547409.92', 'USD', undefined],
  ['12.055', 'EUR', undefined],
  ['1.5', 'JPY', undefined],
  ['-1', 'EUR', undefined],
  ['1,50', 'EUR', undefined],
  ['', 'EUR', undefined],
])('%j in %s is %s minor units', (text, currency, amount) => {
  expect(parseDecimalToMinorUnits(text, currency)).toBe(amount);
});
