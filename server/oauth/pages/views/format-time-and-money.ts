import { currencyExponent } from '@mandate/contract';
import type { PageSettings } from './page-layout-and-form-fields.ts';

type FormatSettings = Pick<PageSettings, 'messages'>;

/** Replaces spaces with no-break spaces, because a date or an amount must not continue on the next line. */
const unbreak = (text: string): string => text.replaceAll(' ', '\u00a0');

const timestampFormat = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hourCycle: 'h23' } as const;

/** Formats a timestamp for a page, in UTC. A line can break only between the date and the time. */
export function formatTimestamp({ messages }: FormatSettings, at: Date): string {
  const parts = new Intl.DateTimeFormat(messages.language.tag, timestampFormat).formatToParts(at);
  const text = parts.map(({ type, value }, index) =>
    type === 'literal' && parts[index + 1]?.type === 'hour' ? value.replaceAll('\u00a0', ' ') : unbreak(value),
  );
  return `${text.join('')}\u00a0UTC`;
}

/** Formats the day of a timestamp, in UTC. */
export const formatDate = ({ messages }: FormatSettings, at: Date): string =>
  unbreak(new Intl.DateTimeFormat(messages.language.tag, { dateStyle: 'medium', timeZone: 'UTC' }).format(at));

/** Formats an amount in minor units with its currency, such as `€1,250.00`. */
export function formatMoney({ messages }: FormatSettings, amount: number, currency: string): string {
  const digits = currencyExponent(currency);
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return unbreak(new Intl.NumberFormat(messages.language.tag, format).format(amount / 10 ** digits));
}
