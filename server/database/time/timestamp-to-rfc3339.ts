/** PostgreSQL's text format of a timestamp in a UTC session: `2026-11-20 10:00:00.12+00`. */
const utcTimestampPattern = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00(?::00)?$/;

/** Converts PostgreSQL's text format to the API format (RFC 3339 in UTC with milliseconds). */
export function timestampToRfc3339(text: string): string {
  const [, day, time, fraction = ''] = utcTimestampPattern.exec(text) ?? [];
  // Produces the same result as `Date`, in a fraction of the time.
  return day === undefined ? new Date(text).toISOString() : `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
}

export const timestampToRfc3339OrNull = (text: string | null): string | null => (text === null ? null : timestampToRfc3339(text));
