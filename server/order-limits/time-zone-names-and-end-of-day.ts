/** Time zone that is used if the customer's time zone is unknown. */
const defaultTimeZone = 'UTC';

const knownTimeZones: ReadonlySet<string> = new Set(Intl.supportedValuesOf('timeZone'));

/** Returns the name if it is the name of a known IANA time zone, and otherwise `UTC`. */
export const getKnownTimeZoneOrUtc = (name: string | undefined): string =>
  name !== undefined && knownTimeZones.has(name) ? name : defaultTimeZone;

/**
 * Returns the canonical form of a time zone name, or undefined if the name is not valid. Names that `Intl.supportedValuesOf` does not list
 * can be valid.
 */
export function canonicalizeTimeZoneName(name: string | undefined): string | undefined {
  if (name === undefined || !/^[A-Za-z][\w+/-]{1,63}$/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Returns the last millisecond of a calendar day (`YYYY-MM-DD`) in a time zone. */
export function getEndOfDayInTimeZone(day: string, timeZone: string): Date {
  const nextDayAsUtc = Date.parse(`${day}T00:00:00Z`) + 24 * 60 * 60 * 1000;
  // The UTC offset is calculated a second time, because daylight saving time can start or end between UTC midnight and the estimated time.
  const firstGuess = nextDayAsUtc - offsetMs(nextDayAsUtc, timeZone);
  return new Date(nextDayAsUtc - offsetMs(firstGuess, timeZone) - 1);
}

/** Returns the difference between local time and UTC, in milliseconds. */
function offsetMs(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(at);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(at / 1000) * 1000;
}
