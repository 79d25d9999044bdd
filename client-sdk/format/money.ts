import { currencyExponent as exponentOf, formatDecimalAmount } from '@mandate/contract/currencies';

/** Formats `amount` minor units for a locale: `formatMoney(1205, 'EUR', 'de')` is `12,05 €`. Amounts up to 2^53-1 are formatted exactly. */
export function formatMoney(amount: number, currency: string, locale?: string): string {
  const digits = currencyExponent(currency);
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // Uses a decimal string, because a division would lose the last digit of large amounts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decimalAmount returns only plain decimals
  return format.format(formatDecimalAmount(amount, currency) as Intl.StringNumericLiteral);
}

/** Returns the number of decimal places of a currency (ISO 4217): 2 for EUR, 0 for JPY. */
export function currencyExponent(currency: string): number {
  return exponentOf(currency);
}
