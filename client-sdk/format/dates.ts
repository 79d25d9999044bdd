/** A moment of the API (RFC 3339) as a `Date`. Throws a `TypeError` for anything else: an invalid `Date` fails far from where it was made. */
export function dateOf(instant: string): Date {
  const date = new Date(instant);
  if (!/^\d{4}-\d\d-\d\dT/.test(instant) || Number.isNaN(date.getTime()))
    throw new TypeError(`${JSON.stringify(instant)} is not a moment such as 2026-11-20T12:00:00Z`);
  return date;
}

export type DateFormat = {
  readonly locale?: string | undefined;
  /** IANA name, such as `Europe/Berlin`; where the program runs unless said otherwise. */
  readonly timeZone?: string | undefined;
  readonly dateStyle?: 'full' | 'long' | 'medium' | 'short' | undefined;
  /** Without it, the day alone. */
  readonly timeStyle?: 'full' | 'long' | 'medium' | 'short' | undefined;
};

/** A moment of the API as people write it: `formatDate(order.created_at, { locale: 'de', timeStyle: 'short' })` is `20.11.2026, 13:00`. */
export function formatDate(instant: string, { locale, timeZone, dateStyle = 'medium', timeStyle }: DateFormat = {}): string {
  const options = { dateStyle, ...(timeStyle && { timeStyle }), ...(timeZone !== undefined && { timeZone }) };
  return new Intl.DateTimeFormat(locale, options).format(dateOf(instant));
}
