const secondsPerHour = 3_600;
export const secondsPerDay = 24 * secondsPerHour;

/** Start and end (exclusive) in seconds since 1970-01-01 UTC. */
export type PeriodInSeconds = readonly [start: number, end: number];
export type StatisticsDimension = 'all' | 'status' | 'application' | 'product' | 'category';

/** Widths of the rows in `order_statistics`, from narrow to wide. Each row covers whole rows of the previous width. */
const allWidths = ['15 minutes', '1 hour', '6 hours', 'day', '5 days', 'month'] as const;
export type RowWidth = (typeof allWidths)[number];
/** A product is rarely sold more than once an hour, so its rows for hours would need as much space as those for 15 minutes. */
const productWidths = allWidths.filter((width) => width !== '1 hour');

/**
 * Rows of `order_statistics` that have the same width. They are added to the part of the result with the number `part` or, if this number is
 * negative, subtracted from it.
 */
export type RowRange = { readonly width: RowWidth; readonly start: number; readonly end: number; readonly part: number };
export type SignedPart = { readonly part: number; readonly sign: 1 | -1 };
export type RowRangesOfPeriods = {
  readonly ranges: readonly RowRange[];
  /** The parts that are added to or subtracted from each period. The first part of a period has the period's number, which starts at 1. */
  readonly partsOfPeriods: readonly (readonly SignedPart[])[];
  readonly partCount: number;
};

/** A period that starts (sign 1) or ends (sign -1) at a time. `level` is the index of the width of the rows between its rounded ends. */
type PeriodAtEnd = SignedPart & { readonly level: number };
/** The start or end of periods, rounded to each width. */
type PeriodEnd = { readonly rounded: readonly number[]; readonly periods: PeriodAtEnd[] };

/**
 * Divides periods into rows of `order_statistics`. Both ends of a period are rounded to the nearest start of a wider row as long as this
 * reduces the number of rows, and the rows between an end and its rounded value are added or subtracted. If one period ends where another
 * one starts, the rows near this time form a part that is read once, added to one period, and subtracted from the other.
 */
export function dividePeriodsIntoRowRanges(dimension: StatisticsDimension, periods: readonly PeriodInSeconds[]): RowRangesOfPeriods {
  const widths = dimension === 'product' ? productWidths : allWidths;
  const ranges: RowRange[] = [];
  const ends = new Map<number, PeriodEnd>();
  const partsOfPeriods: SignedPart[][] = [];
  for (const [index, [start, end]] of periods.entries()) {
    const part = index + 1;
    const [first, last] = [findOrAddEnd(ends, start, widths), findOrAddEnd(ends, end, widths)];
    const level = findLevelWithFewestRows(first, last);
    first.periods.push({ part, sign: 1, level });
    last.periods.push({ part, sign: -1, level });
    ranges.push(...rangeBetween(widths[level], roundedTo(level, first), roundedTo(level, last), part));
    partsOfPeriods.push([{ part, sign: 1 }]);
  }
  let partCount = periods.length;
  for (const end of ends.values()) {
    for (const { fromLevel, toLevel, users } of groupLevelsByUsers(end.periods)) {
      const [user] = users;
      // Only rows that several periods use need a part of their own.
      const part = user !== undefined && users.length === 1 ? user.sign * user.part : partCount + 1;
      const rows = widths
        .slice(fromLevel, toLevel)
        .flatMap((width, step) => rangeBetween(width, roundedTo(fromLevel + step, end), roundedTo(fromLevel + step + 1, end), part));
      ranges.push(...rows);
      if (rows.length === 0 || users.length === 1) continue;
      partCount = part;
      for (const { part: period, sign } of users) partsOfPeriods[period - 1]?.push({ part, sign });
    }
  }
  return { ranges, partsOfPeriods, partCount };
}

function findOrAddEnd(ends: Map<number, PeriodEnd>, time: number, widths: readonly RowWidth[]): PeriodEnd {
  const found = ends.get(time);
  if (found !== undefined) return found;
  const rounded: number[] = [];
  for (const width of widths) rounded.push(roundToWidth[width](rounded.at(-1) ?? time));
  const end = { rounded, periods: [] };
  ends.set(time, end);
  return end;
}

const roundedTo = (level: number, { rounded }: PeriodEnd): number => rounded[level] ?? NaN;

/** Returns the first level at which rounding both ends to the next width would not reduce the time that narrow rows cover. */
function findLevelWithFewestRows(first: PeriodEnd, last: PeriodEnd): number {
  const roundedDistance = (end: PeriodEnd, level: number): number => Math.abs(roundedTo(level, end) - roundedTo(level + 1, end));
  const widest = first.rounded.length - 1;
  const isShort = (level: number): boolean =>
    roundedTo(level, last) - roundedTo(level, first) <= roundedDistance(first, level) + roundedDistance(last, level);
  let level = 0;
  while (level < widest && !isShort(level)) level += 1;
  return level;
}

/** Returns an empty list if both times are equal. If `to` is before `from`, the rows are subtracted. */
function rangeBetween(width: RowWidth | undefined, from: number, to: number, part: number): RowRange[] {
  if (width === undefined || from === to) return [];
  return [from < to ? { width, start: from, end: to, part } : { width, start: to, end: from, part: -part }];
}

type LevelsWithUsers = { readonly fromLevel: number; readonly toLevel: number; readonly users: readonly PeriodAtEnd[] };

/** A period uses the rows of all levels before its own. Returns the levels whose rows are used by the same periods. */
function groupLevelsByUsers(periods: readonly PeriodAtEnd[]): LevelsWithUsers[] {
  const levels = [...new Set(periods.map(({ level }) => level))].toSorted((a, b) => a - b);
  return levels.map((toLevel, index) => ({
    fromLevel: levels[index - 1] ?? 0,
    toLevel,
    users: periods.filter(({ level }) => level >= toLevel),
  }));
}

const roundTo =
  (widthSeconds: number) =>
  (time: number): number =>
    Math.floor((time + widthSeconds / 2) / widthSeconds) * widthSeconds;

/** Rows for five days start on the 1st, 6th, 11th, 16th, 21st and 26th of a month. */
function startOfFiveDays(time: number): number {
  const date = new Date(time * 1000);
  const day = 1 + 5 * Math.min(Math.floor((date.getUTCDate() - 1) / 5), 5);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day) / 1000;
}

function startOfMonth(time: number): number {
  const date = new Date(time * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000;
}

/** Functions that round a time, which is already rounded to the previous width, to the nearest start of a row. */
const roundToWidth: Readonly<Record<RowWidth, (time: number) => number>> = {
  '15 minutes': (time) => time,
  '1 hour': roundTo(secondsPerHour),
  '6 hours': roundTo(6 * secondsPerHour),
  day: roundTo(secondsPerDay),
  '5 days': (time) => startOfFiveDays(time + 2 * secondsPerDay),
  month: (time) => startOfMonth(time + 15 * secondsPerDay),
};
