/** As PostgreSQL writes a moment when the session's time zone is UTC, which it is: `2026-11-20 10:00:00.12+00`. */
const usual = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00(?::00)?$/;

/** A timestamp as PostgreSQL writes it, in the form the API sends: RFC 3339 in UTC with milliseconds. */
export function instant(text: string): string {
  const [, day, time, fraction = ''] = usual.exec(text) ?? [];
  // the same as by way of a Date, which takes several times as long
  return day === undefined ? new Date(text).toISOString() : `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
}

export const instantOrNull = (text: string | null): string | null => (text === null ? null : instant(text));
