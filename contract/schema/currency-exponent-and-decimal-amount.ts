/**
 * Number of decimal places of each currency (ISO 4217); currencies that are not listed have two.
 * `Intl` is not used, because it follows CLDR, which differs from ISO 4217 for sixteen currencies in use.
 */
const exponents: Readonly<Record<string, number>> = {
  ...digits(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...digits(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...digits(4, 'CLF UYW'),
};

function digits(exponent: number, codes: string): Record<string, number> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, exponent]));
}

/** Returns the number of decimal places of `currency` (ISO 4217, upper case): 2 for `EUR`, 0 for `JPY`, 3 for `KWD`. */
export const currencyExponent = (currency: string): number => exponents[currency] ?? 2;

/** Formats `amount` minor units as an exact decimal string: `formatDecimalAmount(1205, 'EUR')` is `12.05`. */
export function formatDecimalAmount(amount: number, currency: string): string {
  const exponent = currencyExponent(currency);
  const padded = String(Math.abs(amount)).padStart(exponent + 1, '0');
  const whole = padded.slice(0, padded.length - exponent);
  const sign = amount < 0 ? '-' : '';
  return exponent === 0 ? sign + whole : `${sign}${whole}.${padded.slice(-exponent)}`;
}
