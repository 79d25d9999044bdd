import { secondsPerDay, type RowRange, type RowWidth } from './divide-periods-into-row-ranges.ts';

/** The widths of which several rows start on one day, in seconds. */
const widthsWithinDay: Partial<Record<RowWidth, number>> = { '15 minutes': 900, '1 hour': 3_600, '6 hours': 21_600 };

/**
 * Rows of one width that PostgreSQL reads in one index range. A row that starts at or after `bounds[i]` and before `bounds[i + 1]` belongs to
 * `parts[i]`, or to no part if this is 0. With `time_of_day`, only rows that start at this time in UTC are read.
 */
export type IndexScan = {
  readonly width: RowWidth;
  readonly time_of_day: string | null;
  /** In seconds since 1970-01-01 UTC. */
  readonly bounds: readonly number[];
  readonly parts: readonly number[];
};

/** Returns a scan for each range. */
export const indexScanForEachRowRange = (ranges: readonly RowRange[]): IndexScan[] =>
  ranges.map((range) => indexScanFromRanges([{ ...range, timeOfDay: null }]));

/**
 * Combines adjacent ranges of the same width into scans.
 * @param maxGapRows the number of rows that may lie between two ranges of the same scan, if there is one row for each time. Reading a few
 * unneeded rows takes less time than another scan.
 */
export const indexScansFromRowRanges = (ranges: readonly RowRange[], maxGapRows = 0): IndexScan[] =>
  combineRanges(
    ranges.map(({ width, start, end, part }) => ({ width, start, end, part, timeOfDay: null })),
    (width) => maxGapRows * (widthsWithinDay[width] ?? secondsPerDay),
  );

/**
 * Combines ranges into scans of rows that start at the same time of day. In an index by time of day, these are adjacent, so that the rows
 * near the ends of all days need few scans, although each scan also reads the rows of some days between the ranges.
 */
export const indexScansByTimeOfDayFromRowRanges = (ranges: readonly RowRange[]): IndexScan[] =>
  combineRanges(ranges.flatMap(splitByTimeOfDay), () => 10 * secondsPerDay);

/** `timeOfDay` is in seconds since midnight in UTC. */
type RangeAtTimeOfDay = RowRange & { readonly timeOfDay: number | null };

function splitByTimeOfDay(range: RowRange): RangeAtTimeOfDay[] {
  const width = widthsWithinDay[range.width];
  if (width === undefined) return [{ ...range, timeOfDay: 0 }];
  const count = Math.min(range.end - range.start, secondsPerDay) / width;
  return Array.from({ length: count }, (_, index) => ({ ...range, timeOfDay: (range.start + index * width) % secondsPerDay }));
}

/** @param maxGapOf returns the number of seconds that may lie between the end of a range and the start of the next range of the same scan */
function combineRanges(ranges: readonly RangeAtTimeOfDay[], maxGapOf: (width: RowWidth) => number): IndexScan[] {
  const scans: IndexScan[] = [];
  for (const group of Map.groupBy(ranges, ({ width, timeOfDay }) => `${width} ${timeOfDay}`).values()) {
    let combined: RangeAtTimeOfDay[] = [];
    for (const range of group.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
      const end = combined.at(-1)?.end ?? range.start;
      // A row belongs to one part of a scan, so that ranges that overlap need separate scans.
      if (range.start < end || range.start > end + maxGapOf(range.width)) {
        scans.push(indexScanFromRanges(combined));
        combined = [];
      }
      combined.push(range);
    }
    scans.push(indexScanFromRanges(combined));
  }
  return scans;
}

/** @param ranges of the same width and time of day, in ascending order */
function indexScanFromRanges(ranges: readonly RangeAtTimeOfDay[]): IndexScan {
  const [bounds, parts]: [number[], number[]] = [[], []];
  for (const { start, end, part } of ranges) {
    if (bounds.at(-1) === start) {
      bounds.pop();
      parts.pop();
    }
    bounds.push(start, end);
    parts.push(part, 0);
  }
  const [first] = ranges;
  if (first === undefined) throw new RangeError('a scan needs at least one range');
  const timeOfDay = first.timeOfDay === null ? null : new Date(first.timeOfDay * 1000).toISOString().slice(11, 16);
  return { width: first.width, time_of_day: timeOfDay, bounds, parts };
}
