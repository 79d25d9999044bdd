import { expect, test } from 'vitest';
import { formatMoney, parseAmount } from '@mandate/client-sdk';

test.each([
  [1205, 'EUR', 'en', '€12.05'],
  [5, 'GBP', 'en', '£0.05'],
  [500, 'JPY', 'en', '¥500'],
  [1234, 'KWD', 'en', 'KWD 1.234'],
  [-1205, 'EUR', 'en', '-€12.05'],
  // Intl alone would give a forint no decimals, and the last digit of the largest amount away.
  [1205, 'HUF', 'en', 'HUF 12.05'],
  [9007199254740991, 'USD', 'en', '$90,071,992,547,409.91'],
  [1205, 'EUR', 'de', '12,05 €'],
])('%i %s in %s is %s', (amount, currency, locale, text) => {
  expect(formatMoney(amount, currency, locale).replaceAll(/\s/g, ' ')).toBe(text);
});

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
  expect(parseAmount(text, currency)).toBe(amount);
});
