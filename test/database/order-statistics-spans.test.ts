import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { createMigratedDatabase } from '../support/services/database.ts';

let db: Database;
beforeAll(async () => {
  db = await createMigratedDatabase();
});
afterAll(() => db.close());

const quarterMs = 15 * 60_000;
/** Lengths in quarter-hours. The tests do not limit the number of rows for months. */
const widths = { '15 minutes': 1, '1 hour': 4, '6 hours': 24, day: 96, '5 days': 480, month: Infinity } as const;
type Span = {
  readonly width: keyof typeof widths;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly sign: number;
  readonly whole: boolean;
};

const toIso = (quarter: number): string => new Date(quarter * quarterMs).toISOString();

/** Reads the rows of a period on a connection whose time zone has daylight saving time, which must not affect the result. */
const readSpans = (dimension: string, from: number, to: number): Promise<Span[]> =>
  db.em.fork().transactional(async (em) => {
    await em.execute(`set local time zone 'America/New_York'`);
    return em.execute<Span[]>(
      `select s.width, (extract(epoch from s.starts_at) * 1000)::float8 as starts_at, (extract(epoch from s.ends_at) * 1000)::float8 as ends_at,
              s.sign, s.starts_at = order_statistics_start(s.width, s.starts_at) and s.ends_at = order_statistics_start(s.width, s.ends_at) as whole
         from order_statistics_spans(?, array[?::timestamptz], array[?::timestamptz]) s`,
      [dimension, toIso(from), toIso(to)],
    );
  });

/**
 * For each moment, adds up the signs of the spans that contain it. Returns the times at which this sum changes, each with the amount of the
 * change.
 */
function changesOfCount(spans: readonly Span[]): Record<string, number> {
  const changes = spans.flatMap(({ starts_at, ends_at, sign }) => [[starts_at, sign] as const, [ends_at, -sign] as const]);
  const sums = Map.groupBy(changes, ([at]) => Number(at) / quarterMs);
  const sumOf = (each: readonly (readonly [unknown, number])[]): number => each.reduce((sum, [, sign]) => sum + sign, 0);
  return Object.fromEntries([...sums].map(([at, each]) => [at, sumOf(each)] as const).filter(([, sum]) => sum !== 0));
}

const quarter = fc.integer({ min: Date.parse('1980-01-01T00:00Z') / quarterMs, max: Date.parse('2050-01-01T00:00Z') / quarterMs });
const length = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 200_000 }));
const dimension = fc.constantFrom('all', 'status', 'product', 'category', 'application');

test('the rows for a period contain each moment of the period once, and no other', async () => {
  const containsEachMomentOnce = async (of: string, from: number, count: number): Promise<void> => {
    const spans = await readSpans(of, from, from + count);
    expect(changesOfCount(spans)).toEqual({ [from]: 1, [from + count]: -1 });
    expect(spans.filter(({ whole }) => !whole)).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(dimension, quarter, length, containsEachMomentOnce), { numRuns: 200 });
});

test('only a few rows of each width are read, except rows for months', async () => {
  const readsFewRows = async (of: string, from: number, count: number): Promise<void> => {
    const max = { '15 minutes': of === 'product' ? 24 : 4, '1 hour': 6, '6 hours': 4, day: 6, '5 days': 6, month: Infinity };
    const spans = await readSpans(of, from, from + count);
    const rows = Map.groupBy(spans, ({ width }) => width);
    for (const [width, each] of rows) {
      const quarters = each.reduce((sum, { starts_at, ends_at }) => sum + (Number(ends_at) - Number(starts_at)) / quarterMs, 0);
      expect(quarters / widths[width], width).toBeLessThanOrEqual(max[width]);
    }
  };
  await fc.assert(fc.asyncProperty(dimension, quarter, length, readsFewRows), { numRuns: 200 });
});
