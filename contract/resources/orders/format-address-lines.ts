import type { Order } from './orders.ts';

type Address = Omit<Order['delivery'], 'method'>;

/**
 * Returns the lines of a delivery address, beginning with the name of the recipient. The lines with the postal code, the city and the
 * region are in the order that the postal service of the country requires.
 */
export function formatAddressLines(address: Address, locale?: string): string[] {
  const { recipient_name: name, line1, line2, country, phone } = address;
  const lines = [name, line1, line2, ...formatPlaceLines(address), country && formatCountry(country, locale), phone];
  return lines.filter((line): line is string => line != null && line !== '');
}

const joinParts = (separator: string, ...parts: readonly (string | undefined)[]): string => parts.filter(Boolean).join(separator);

/**
 * Returns the lines with the postal code, the city and the region. This function does not use an address library, because such libraries
 * omit parts that a country does not use, although a customer may need them.
 */
function formatPlaceLines({ postal_code: code, city, region, country = '' }: Address): (string | undefined)[] {
  if (['GB', 'GG', 'IE', 'IM', 'JE'].includes(country)) return [city, region, code];
  if (['AU', 'CA'].includes(country)) return [joinParts(' ', city, region, code)];
  if (country === 'US') return [joinParts(' ', joinParts(', ', city, region), code)];
  return [joinParts(' ', code, city), region];
}

/** Returns the name of a country, or its code if the code is not assigned. */
const formatCountry = (code: string, locale: string | undefined): string =>
  new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' }).of(code) ?? code;
