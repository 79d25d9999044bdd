import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import type { Shop } from '../../support/shop/with-shop.ts';

const fields = ['orders', 'paid_orders', 'items', 'revenue', 'refunds', 'refunded_total'] as const;
type Sums = Record<(typeof fields)[number], number>;
type Contribution = Partial<Sums> & {
  readonly at: number;
  readonly status?: string;
  readonly application?: string;
  product?: string;
  category?: string;
};

/** Reads the amounts that each order, line and refund contributes to the statistics. */
export async function readContributionsToStatistics(em: EntityManager, currency: string): Promise<Contribution[]> {
  const milliseconds = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
  const orders = await em.execute<JsonBody[]>(
    `select status, coalesce(client_id, '') as application, total::float8 as total, ${milliseconds('created_at')} as created, ${milliseconds('paid_at')} as paid,
            (select sum(quantity) from order_items where order_id = o.id)::int as units from orders o where currency = ?`,
    [currency],
  );
  const lines = await em.execute<JsonBody[]>(
    `select i.product_id::text as product, p.category, i.quantity, i.total::float8 as total, ${milliseconds('o.paid_at')} as paid
       from order_items i join orders o on o.id = i.order_id join products p on p.id = i.product_id where o.currency = ? and o.paid_at is not null`,
    [currency],
  );
  const refunds = await em.execute<JsonBody[]>(
    `select o.status, coalesce(o.client_id, '') as application, r.amount::float8 as amount, ${milliseconds('r.created_at')} as at
       from refunds r join orders o on o.id = r.order_id join payments p on p.id = r.payment_id
      where o.currency = ? and r.status = 'succeeded' and not p.surplus`,
    [currency],
  );
  return [
    ...orders.map(({ status, application, created }) => ({ at: created, status, application, orders: 1 })),
    ...orders
      .filter(({ paid }) => paid !== null)
      .map(({ status, application, paid, total, units }) => ({
        at: paid,
        status,
        application,
        paid_orders: 1,
        revenue: total,
        items: units,
      })),
    ...lines.map(({ product, category, quantity, total, paid }) => ({ at: paid, product, category, items: quantity, revenue: total })),
    ...refunds.map(({ status, application, amount, at }) => ({ at, status, application, refunds: 1, refunded_total: amount })),
  ];
}

const add = (contributions: readonly Contribution[], timesZero: readonly string[] = []): Record<string, number | null> =>
  Object.fromEntries(
    fields.map((field) => [field, timesZero.includes(field) ? null : contributions.reduce((sum, each) => sum + (each[field] ?? 0), 0)]),
  );
const pick = (sums: JsonBody): Record<string, number | null> => Object.fromEntries(fields.map((field) => [field, sums[field]]));

const dayFormats = new Map<string, Intl.DateTimeFormat>();
function localDay(at: number, timeZone: string): string {
  const format = dayFormats.get(timeZone) ?? new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' });
  dayFormats.set(timeZone, format);
  return format.format(at);
}

/** Returns the local day, week or month of a timestamp. */
function localPeriod(at: number, timeZone: string, interval: string): string {
  const day = localDay(at, timeZone);
  if (interval === 'month') return day.slice(0, 7);
  if (interval === 'day') return day;
  const weekday = (new Date(day).getUTCDay() + 6) % 7;
  return new Date(Date.parse(day) - weekday * 86_400_000).toISOString().slice(0, 10);
}

const within = (contributions: readonly Contribution[], starts: string, ends: string): Contribution[] =>
  contributions.filter(({ at }) => at >= Date.parse(starts) && at < Date.parse(ends));

export type StatisticsCase = {
  readonly timeZone: string;
  readonly interval: keyof typeof maxDays;
  readonly from: string;
  readonly to: string;
  readonly groupBy?: 'status' | 'application' | 'product' | 'category';
};
export const statisticsCases: readonly StatisticsCase[] = [
  { timeZone: 'Europe/Berlin', interval: 'day', from: '2025-03-01', to: '2025-11-30', groupBy: 'status' },
  { timeZone: 'America/Havana', interval: 'day', from: '2025-02-15', to: '2025-11-20', groupBy: 'product' },
  { timeZone: 'America/Havana', interval: 'hour', from: '2025-10-31', to: '2025-11-03', groupBy: 'application' },
  { timeZone: 'Australia/Lord_Howe', interval: 'hour', from: '2025-04-04', to: '2025-04-07', groupBy: 'category' },
  { timeZone: 'Asia/Kathmandu', interval: 'week', from: '2025-02-05', to: '2025-11-29', groupBy: 'category' },
  { timeZone: 'America/St_Johns', interval: 'month', from: '2025-07-01', to: '2025-11-30', groupBy: 'application' },
  { timeZone: 'UTC', interval: 'month', from: '2025-06-15', to: '2025-11-30', groupBy: 'product' },
];

const timeZones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
];
const maxDays = { hour: 6, day: 70, week: 250, month: 300 } as const;
const dayAfter = (day: string, count: number): string => new Date(Date.parse(day) + count * 86_400_000).toISOString().slice(0, 10);

/**
 * Generates periods that start on any day and have any length, so that the server reads stored sums of all kinds, from 15 minutes to a
 * month.
 */
export const randomStatisticsCase: fc.Arbitrary<StatisticsCase> = fc
  .record({
    timeZone: fc.constantFrom(...timeZones),
    interval: fc.constantFrom('hour', 'day', 'week', 'month'),
    groupBy: fc.constantFrom('status', 'application', 'product', 'category'),
    firstDay: fc.nat({ max: 280 }),
    days: fc.nat({ max: 300 }),
  })
  .map(({ timeZone, interval, groupBy, firstDay, days }) => {
    const from = dayAfter('2025-02-01', firstDay);
    return { timeZone, interval, groupBy, from, to: dayAfter(from, days % maxDays[interval]) };
  });

/** Expects the response to equal the sums of the contributions. */
export async function compareWithSums(
  shop: Shop,
  contributions: readonly Contribution[],
  { timeZone, interval, from, to, groupBy }: StatisticsCase,
): Promise<void> {
  const query = new URLSearchParams({
    currency: 'EUR',
    time_zone: timeZone,
    interval,
    from,
    to,
    limit: '20',
    ...(groupBy && { group_by: groupBy }),
  });
  const { status, body } = await shop.callApi('GET', `/api/v1/statistics/orders?${query.toString()}`, { token: shop.token });
  expect([status, body]).toEqual([200, expect.anything()]);
  const isInRange = ({ at }: Contribution): boolean => localDay(at, timeZone) >= from && localDay(at, timeZone) <= to;
  const isInPrevious = ({ at }: Contribution): boolean => localDay(at, timeZone) >= body.previous_from && localDay(at, timeZone) < from;
  const ofOrders = contributions.filter(({ status: name }) => name !== undefined);
  const inRange = ofOrders.filter(isInRange);
  expect(pick(body.totals)).toEqual(add(inRange));
  expect(pick(body.previous_totals)).toEqual(add(ofOrders.filter(isInPrevious)));
  const periodsOf = (list: JsonBody[], candidates: readonly Contribution[]) =>
    list.forEach((period, index) => {
      expect(period.starts_at).toBe(index === 0 ? period.starts_at : list[index - 1]?.ends_at);
      const key = localPeriod(Date.parse(period.starts_at), timeZone, interval);
      const expected =
        interval === 'hour'
          ? within(candidates, period.starts_at, period.ends_at)
          : candidates.filter(({ at }) => localPeriod(at, timeZone, interval) === key);
      expect([period.starts_at, pick(period)]).toEqual([period.starts_at, add(expected)]);
    });
  periodsOf(body.periods, inRange);
  periodsOf(body.previous_periods, ofOrders.filter(isInPrevious));
  expect(localDay(Date.parse(body.periods[0].starts_at), timeZone)).toBe(from);
  if (!groupBy) return;
  const unknown = groupBy === 'product' || groupBy === 'category' ? ['orders', 'paid_orders', 'refunds', 'refunded_total'] : [];
  const grouped = Map.groupBy(
    contributions.filter((each) => each[groupBy] !== undefined && isInRange(each)),
    (each) => each[groupBy],
  );
  expect(body.group_count).toBe(grouped.size);
  expect(new Set(body.groups.map(({ key }: JsonBody) => key))).toEqual(new Set(grouped.keys()));
  for (const group of body.groups) {
    const members = grouped.get(group.key) ?? [];
    expect([group.key, pick(group.totals)]).toEqual([group.key, add(members, unknown)]);
    const before = contributions.filter((each) => each[groupBy] === group.key && isInPrevious(each));
    expect([group.key, pick(group.previous_totals)]).toEqual([group.key, add(before, unknown)]);
    for (const period of group.periods)
      expect([period.starts_at, pick(period)]).toEqual([period.starts_at, add(within(members, period.starts_at, period.ends_at), unknown)]);
  }
}
