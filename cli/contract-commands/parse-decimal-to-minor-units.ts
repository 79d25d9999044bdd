import { currencyExponent } from '@mandate/client-sdk';

/**
 * Converts an amount such as `12.05` to minor units: `parseDecimalToMinorUnits('12.05', 'EUR')` returns 1205. Returns `undefined` if the
 * text is not an amount or has more decimal places than the currency.
 */
export function parseDecimalToMinorUnits(text: string, currency: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  const digits = currencyExponent(currency);
  if (whole === undefined || fraction.length > digits) return undefined;
  const amount = Number(whole + fraction.padEnd(digits, '0'));
  return Number.isSafeInteger(amount) ? amount : undefined;
}
