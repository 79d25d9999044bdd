import type { OrderStatistics } from '@mandate/contract';
import { timestampToRfc3339 } from '../database/time/timestamp-to-rfc3339.ts';
import type { OrderStatisticsRow, SumColumns } from './call-database-statistics-functions.ts';

type Sums = OrderStatistics['totals'];
type Group = OrderStatistics['groups'][number];
type GroupSums = Group['totals'];
type Period = OrderStatistics['periods'][number];
type PartsOfResponse = Pick<OrderStatistics, 'totals' | 'previous_totals' | 'periods' | 'previous_periods' | 'groups' | 'group_count'>;

/**
 * Builds the statistics in the response from the rows that the database returned.
 * @param hasOrderCounts whether groups include order and refund counts; false for groups by product or category
 */
export function orderStatisticsFromRows(
  rows: readonly OrderStatisticsRow[],
  hasOrderCounts: boolean,
  names: ReadonlyMap<string, string>,
): PartsOfResponse {
  const parts = Map.groupBy(rows, ({ part }) => part);
  const periods = (parts.get('period') ?? []).map(periodFromRow);
  const previousPeriods = (parts.get('previous_period') ?? []).map(periodFromRow);
  const toGroupSums = (row: SumColumns | undefined): GroupSums => groupSumsFromRow(row, hasOrderCounts);
  const previous = new Map((parts.get('previous_group') ?? []).map((row) => [row.key, row]));
  const rowsOfGroup = Map.groupBy(parts.get('group_period') ?? [], ({ key }) => key);
  const groups = (parts.get('group') ?? []).map((row): Group => {
    const byPeriod = new Map(rowsOfGroup.get(row.key)?.map((each) => [each.period, each]));
    return {
      key: row.key ?? '',
      name: names.get(row.key ?? '') ?? null,
      totals: toGroupSums(row),
      previous_totals: toGroupSums(previous.get(row.key)),
      periods: periods.map(({ starts_at, ends_at }, index) => ({ starts_at, ends_at, ...toGroupSums(byPeriod.get(index + 1)) })),
    };
  });
  return {
    totals: addSums(periods),
    previous_totals: addSums(previousPeriods),
    periods,
    previous_periods: previousPeriods,
    groups,
    group_count: Number(parts.get('groups')?.[0]?.orders ?? 0),
  };
}

const periodFromRow = (row: OrderStatisticsRow): Period => ({
  starts_at: timestampToText(row.starts_at),
  ends_at: timestampToText(row.ends_at),
  ...sumsFromRow(row),
});

/** Converts a timestamp, which the drivers return as a string or a `Date`, to an RFC 3339 string. */
const timestampToText = (value: string | Date | null): string =>
  value instanceof Date ? value.toISOString() : timestampToRfc3339(value ?? '');

function sumsFromRow(row: SumColumns | undefined): Sums {
  const [revenue, refunded] = [Number(row?.revenue ?? 0), Number(row?.refunded ?? 0)];
  return {
    orders: Number(row?.orders ?? 0),
    paid_orders: Number(row?.paid_orders ?? 0),
    items: Number(row?.items ?? 0),
    revenue,
    refunds: Number(row?.refunds ?? 0),
    refunded_total: refunded,
    net_revenue: revenue - refunded,
  };
}

function groupSumsFromRow(row: SumColumns | undefined, hasOrderCounts: boolean): GroupSums {
  const sums = sumsFromRow(row);
  if (hasOrderCounts) return sums;
  return { ...sums, orders: null, paid_orders: null, refunds: null, refunded_total: null, net_revenue: null };
}

function addSums(periods: readonly Sums[]): Sums {
  const total = (field: keyof Sums): number => periods.reduce((sum, period) => sum + period[field], 0);
  return {
    orders: total('orders'),
    paid_orders: total('paid_orders'),
    items: total('items'),
    revenue: total('revenue'),
    refunds: total('refunds'),
    refunded_total: total('refunded_total'),
    net_revenue: total('net_revenue'),
  };
}
