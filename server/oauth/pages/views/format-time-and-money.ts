import { currencyExponent } from '@mandate/contract';
import type { PageSettings } from './page-layout-and-form-fields.ts';

type FormatSettings = Pick<PageSettings, 'messages' | 'timeZone'>;

/** Replaces spaces with no-break spaces, so that a date or an amount stays on one line. */
const unbreak = (text: string): string => text.replaceAll(' ', '\u00a0');

const timestampFormat = { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' } as const;

/**
 * Formats a timestamp in the user's time zone. If the time zone is unknown, formats the timestamp in UTC and appends `UTC`. A line can
 * break only between the date and the time.
 */
export function formatTimestamp({ messages, timeZone }: FormatSettings, at: Date): string {
  const format = new Intl.DateTimeFormat(messages.language.tag, { ...timestampFormat, timeZone: timeZone ?? 'UTC' });
  const parts = format.formatToParts(at);
  const text = parts.map(({ type, value }, index) =>
    type === 'literal' && parts[index + 1]?.type === 'hour' ? value.replaceAll('\u00a0', ' ') : unbreak(value),
  );
  return timeZone === undefined ? `${text.join('')}\u00a0UTC` : text.join('');
}

/** Formats the day of a timestamp in the user's time zone or, if the time zone is unknown, in UTC. */
export const formatDateInUserTimeZone = ({ messages, timeZone = 'UTC' }: FormatSettings, at: Date): string =>
  unbreak(new Intl.DateTimeFormat(messages.language.tag, { dateStyle: 'medium', timeZone }).format(at));

/** Formats an amount in minor units with its currency, such as `€1,250.00`. */
export function formatMoney({ messages }: FormatSettings, amount: number, currency: string): string {
  const digits = currencyExponent(currency);
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return unbreak(new Intl.NumberFormat(messages.language.tag, format).format(amount / 10 ** digits));
}
