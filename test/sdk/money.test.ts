import { expect, test } from 'vitest';
import { formatMoney } from '@mandate/client-sdk';

test.each([
  [1205, 'EUR', 'en', '€12.05'],
  [5, 'GBP', 'en', '£0.05'],
  [500, 'JPY', 'en', '¥500'],
  [1234, 'KWD', 'en', 'KWD 1.234'],
  [-1205, 'EUR', 'en', '-€12.05'],
  // Intl alone would format HUF without decimals and lose the last digit of the largest amount.
  [1205, 'HUF', 'en', 'HUF 12.05'],
  [9007199254740991, 'USD', 'en', '$90,071,992,547,409.91'],
  [1205, 'EUR', 'de', '12,05 €'],
])('%i %s in %s is %s', (amount, currency, locale, text) => {
  expect(formatMoney(amount, currency, locale).replaceAll(/\s/g, ' ')).toBe(text);
});
