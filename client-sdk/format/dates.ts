/**
 * Converts an API timestamp (RFC 3339) to a `Date`. Throws a `TypeError` for any other text, because an invalid `Date` would cause an error
 * only when it is used.
 */
export function dateOf(timestamp: string): Date {
  const date = new Date(timestamp);
  if (!/^\d{4}-\d\d-\d\dT/.test(timestamp) || Number.isNaN(date.getTime()))
    throw new TypeError(`${JSON.stringify(timestamp)} is not a timestamp such as 2026-11-20T12:00:00Z`);
  return date;
}

/** Options for `formatDate`. */
export type DateFormat = {
  readonly locale?: string | undefined;
  /** IANA time zone name, such as `Europe/Berlin` (default: the system time zone). */
  readonly timeZone?: string | undefined;
  readonly dateStyle?: 'full' | 'long' | 'medium' | 'short' | undefined;
  /** Style of the time (default: none, so that only the date is formatted). */
  readonly timeStyle?: 'full' | 'long' | 'medium' | 'short' | undefined;
};

/** Formats an API timestamp for a locale: `formatDate(order.created_at, { locale: 'de', timeStyle: 'short' })` is `20.11.2026, 13:00`. */
export function formatDate(timestamp: string, { locale, timeZone, dateStyle = 'medium', timeStyle }: DateFormat = {}): string {
  const options = { dateStyle, ...(timeStyle && { timeStyle }), ...(timeZone !== undefined && { timeZone }) };
  return new Intl.DateTimeFormat(locale, options).format(dateOf(timestamp));
}
