import { formatAddressLines as formatLines } from '@mandate/contract/addresses';
import type { Delivery } from '../generated/resources.gen.ts';

/**
 * Returns the lines of a delivery address in the order that the postal service of its country requires, with the name of the country in the
 * language of the locale: `formatAddressLines(order.delivery, 'en')` is, for example,
 * `['Ann Lee', '1 High Street', 'Leeds', 'LS1 1AA', 'United Kingdom']`.
 */
export function formatAddressLines(address: Omit<Delivery, 'method'>, locale?: string): string[] {
  return formatLines(address, locale);
}
