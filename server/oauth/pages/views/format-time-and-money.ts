import { currencyExponent } from '@mandate/contract';
import type { PageSettings } from './page-layout-and-form-fields.ts';

/** Formats a timestamp for a page, in UTC. */
export const formatTimestamp = ({ messages }: PageSettings, at: Date): string =>
  new Intl.DateTimeFormat(messages.language.tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hourCycle: 'h23' }).format(
    at,
  ) + ' UTC';

/** Formats the day of a timestamp, in UTC. */
export const formatDate = ({ messages }: PageSettings, at: Date): string =>
  new Intl.DateTimeFormat(messages.language.tag, { dateStyle: 'medium', timeZone: 'UTC' }).format(at);

/** Formats an amount in minor units with its currency, such as `€1,250.00`. */
export function formatMoney({ messages }: PageSettings, amount: number, currency: string): string {
  const digits = currencyExponent(currency);
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(messages.language.tag, format).format(amount / 10 ** digits);
}
