/** Tests that the rows of `order_statistics` that the server reads for periods cover each period exactly once. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  dividePeriodsIntoRowRanges,
  type RowRangesOfPeriods,
  type PeriodInSeconds,
  type RowWidth,
  type StatisticsDimension,
} from '../../../server/statistics/divide-periods-into-row-ranges.ts';
import {
  indexScansByTimeOfDayFromRowRanges,
  indexScansFromRowRanges,
  indexScanForEachRowRange,
  type IndexScan,
} from '../../../server/statistics/index-scans-from-row-ranges.ts';

const quarterHour = 900;
const secondsPerDay = 96 * quarterHour;
/** Lengths in seconds. The tests do not limit the number of rows for months. */
const widthSeconds = {
  '15 minutes': quarterHour,
  '1 hour': 4 * quarterHour,
  '6 hours': 24 * quarterHour,
  day: secondsPerDay,
  '5 days': 5 * secondsPerDay,
  month: Infinity,
} as const;

/** Returns whether a row of the given width can start at the given time. */
function isStartOfRow(width: RowWidth, time: number): boolean {
  const midnight = time % secondsPerDay === 0;
  const day = new Date(time * 1000).getUTCDate();
  if (width === 'month') return midnight && day === 1;
  if (width === '5 days') return midnight && day % 5 === 1 && day < 31;
  return time % widthSeconds[width] === 0;
}

type SignedTime = readonly [start: number, end: number, sign: number];

/** Returns the times that the rows of each period cover, with 1 for rows that are added and -1 for rows that are subtracted. */
function timesOfPeriods(
  { partsOfPeriods }: RowRangesOfPeriods,
  rows: readonly (readonly [start: number, end: number, part: number])[],
): SignedTime[][] {
  const rowsOfParts = Map.groupBy(rows, ([, , part]) => Math.abs(part));
  return partsOfPeriods.map((parts) =>
    parts.flatMap(({ part, sign }) =>
      (rowsOfParts.get(part) ?? []).map(([start, end, signedPart]) => [start, end, sign * Math.sign(signedPart)] as const),
    ),
  );
}

/**
 * Adds up, for each point in time, the signs of the rows that contain the point. Returns the times at which this sum changes, each with the
 * amount of the change.
 */
function changesOfCount(times: readonly SignedTime[]): [number, number][] {
  const changes = Map.groupBy(
    times.flatMap(([start, end, sign]) => [[start, sign] as const, [end, -sign] as const]),
    ([at]) => at,
  );
  return [...changes]
    .map(([at, each]): [number, number] => [at, each.reduce((sum, [, sign]) => sum + sign, 0)])
    .filter(([, sum]) => sum !== 0)
    .toSorted(([a], [b]) => a - b);
}

/** Returns the rows that each scan reads, in the order of the scans, with the part to which each row belongs. */
function rowsOfScans(scans: readonly IndexScan[]): (readonly [start: number, end: number, part: number])[] {
  return scans.flatMap(({ width, time_of_day: timeOfDay, bounds, parts }) => {
    return bounds.slice(1).flatMap((end, index) => {
      const [start = NaN, part = NaN] = [bounds[index], parts[index]];
      if (part === 0) return [];
      if (timeOfDay === null || width === 'day' || width === '5 days' || width === 'month') return [[start, end, part] as const];
      const seconds = widthSeconds[width];
      const starts = Array.from({ length: Math.ceil((end - start) / seconds) }, (_, n) => start + n * seconds);
      return starts
        .filter((at) => new Date(at * 1000).toISOString().slice(11, 16) === timeOfDay)
        .map((at) => [at, at + seconds, part] as const);
    });
  });
}

const secondsOf = (day: string): number => Date.parse(day) / 1000;
const quarter = fc.integer({ min: secondsOf('1980-01-01') / quarterHour, max: secondsOf('2050-01-01') / quarterHour });
const length = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 200_000 }));
const dimension = fc.constantFrom<StatisticsDimension>('all', 'status', 'product', 'category', 'application');
/**
 * A sequence of adjacent periods of almost equal length, such as days around a clock change, and a period that ends where the sequence
 * begins. The first period of the sequence may be shorter.
 */
const adjacentPeriods = fc
  .record({
    first: quarter,
    lengths: fc
      .constantFrom(4, 96, 7 * 96, 30 * 96)
      .chain((usual) => fc.array(fc.constantFrom(usual, usual, usual - 2, usual + 4), { minLength: 1, maxLength: 40 })),
    shortened: fc.integer({ min: 0, max: 600 }),
    before: length,
  })
  .map(({ first, lengths, shortened, before }) => {
    let start = first * quarterHour;
    const periods = lengths.map((count, index): PeriodInSeconds => {
      const period = [start, start + Math.max(index === 0 ? count - shortened : count, 0) * quarterHour] as const;
      [, start] = period;
      return period;
    });
    return [...periods, [(first - before) * quarterHour, first * quarterHour] as const];
  });

const expectedChanges = ([start, end]: PeriodInSeconds): [number, number][] =>
  start === end
    ? []
    : [
        [start, 1],
        [end, -1],
      ];

test('the rows for each period contain each moment of the period once, and no other', () => {
  const containEachMomentOnce = (of: StatisticsDimension, periods: readonly PeriodInSeconds[]): void => {
    const divided = dividePeriodsIntoRowRanges(of, periods);
    const rows = divided.ranges.map(({ start, end, part }) => [start, end, part] as const);
    const expected = periods.map(expectedChanges);
    const { ranges } = divided;
    const read = [
      indexScansFromRowRanges(ranges),
      indexScansFromRowRanges(ranges, 8),
      indexScansByTimeOfDayFromRowRanges(ranges),
      indexScanForEachRowRange(ranges),
    ];
    for (const each of [rows, ...read.map(rowsOfScans)]) expect(timesOfPeriods(divided, each).map(changesOfCount)).toEqual(expected);
    const partial = ranges.filter(({ width, start, end }) => !isStartOfRow(width, start) || !isStartOfRow(width, end));
    expect(partial).toEqual([]);
  };
  fc.assert(fc.property(dimension, adjacentPeriods, containEachMomentOnce), { numRuns: 500 });
});

test('only a few rows of each width are read, except rows for months', () => {
  const readsFewRows = (of: StatisticsDimension, from: number, count: number): void => {
    const max = { '15 minutes': of === 'product' ? 24 : 4, '1 hour': 6, '6 hours': 4, day: 6, '5 days': 6, month: Infinity };
    const { ranges } = dividePeriodsIntoRowRanges(of, [[from * quarterHour, (from + count) * quarterHour]]);
    for (const [width, each] of Map.groupBy(ranges, (range) => range.width)) {
      const total = each.reduce((sum, { start, end }) => sum + end - start, 0);
      expect(total / widthSeconds[width], width).toBeLessThanOrEqual(max[width]);
    }
  };
  fc.assert(fc.property(dimension, quarter, length, readsFewRows), { numRuns: 500 });
});

test('the rows near the common end of two periods are read once', () => {
  const day = (number: number): PeriodInSeconds => [
    secondsOf('2026-01-01') + number * secondsPerDay + 5 * 3_600,
    secondsOf('2026-01-01') + (number + 1) * secondsPerDay + 5 * 3_600,
  ];
  const { ranges } = dividePeriodsIntoRowRanges('all', [day(10), day(11), day(12)]);
  const rows = ranges.map(({ width, start, end }) => `${width} ${start} ${end}`);
  expect(new Set(rows).size).toBe(rows.length);
});
