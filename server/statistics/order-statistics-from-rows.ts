import type { OrderStatistics } from '@mandate/contract';
import type { PartSumsRow, StatisticsPeriods, SumColumn } from './query-update-and-rebuild-statistics.ts';
import type { RowRangesOfPeriods, PeriodInSeconds, SignedPart } from './divide-periods-into-row-ranges.ts';

type Sums = OrderStatistics['totals'];
type Group = OrderStatistics['groups'][number];
type GroupSums = Group['totals'];
type Period = OrderStatistics['periods'][number];
type SumsOfAllOrders = Pick<OrderStatistics, 'totals' | 'previous_totals' | 'periods' | 'previous_periods'>;
export type OrderStatisticsWithoutNames = SumsOfAllOrders & {
  readonly groups: readonly Omit<Group, 'name'>[];
  readonly group_count: number;
};
type PeriodsOfRows = {
  /** The periods, and then the previous periods. */
  readonly ofAll: RowRangesOfPeriods;
  /** The periods, and then the whole previous period; undefined without groups. */
  readonly ofGroups: RowRangesOfPeriods | undefined;
};

/**
 * Calculates the sums of each period from the sums of its parts.
 * @param hasOrderCounts whether groups include order and refund counts; false for groups by product or category
 */
export function orderStatisticsFromRows(
  [rowOfAll, ...rowsOfGroups]: readonly PartSumsRow[],
  found: StatisticsPeriods,
  { ofAll, ofGroups }: PeriodsOfRows,
  hasOrderCounts: boolean,
): OrderStatisticsWithoutNames {
  const count = found.periods.length;
  const times = timesFromPeriods([...found.periods, ...found.previousPeriods]);
  const sumsOfAll = sumsOfPeriods(rowOfAll, ofAll);
  const all = times.map((each, index) => ({ ...each, ...(sumsOfAll[index] ?? noSums) }));
  const [periods, previousPeriods] = [all.slice(0, count), all.slice(count)];
  const toGroupSums = (sums: Sums = noSums): GroupSums => (hasOrderCounts ? sums : withoutOrderCounts(sums));
  const groups = rowsOfGroups.map((row) => {
    const sumsOfGroup = sumsOfPeriods(row, ofGroups);
    return {
      key: row.key ?? '',
      totals: toGroupSums(addSums(sumsOfGroup.slice(0, count))),
      previous_totals: toGroupSums(sumsOfGroup[count]),
      periods: times.slice(0, count).map((each, index) => ({ ...each, ...toGroupSums(sumsOfGroup[index]) })),
    };
  });
  return {
    totals: addSums(periods),
    previous_totals: addSums(previousPeriods),
    periods,
    previous_periods: previousPeriods,
    groups,
    group_count: Number(rowsOfGroups[0]?.group_count ?? 0),
  };
}

type Times = Pick<Period, 'starts_at' | 'ends_at'>;

function timesFromPeriods(periods: readonly PeriodInSeconds[]): Times[] {
  // Most periods start when another one ends.
  const texts = new Map<number, string>();
  for (const time of periods.flat()) if (!texts.has(time)) texts.set(time, new Date(time * 1000).toISOString());
  return periods.map(([start, end]) => ({ starts_at: texts.get(start) ?? '', ends_at: texts.get(end) ?? '' }));
}

function sumsOfPeriods(row: PartSumsRow | undefined, { partsOfPeriods, partCount }: RowRangesOfPeriods = noPeriods): Sums[] {
  const sumOf = (column: SumColumn): ((parts: readonly SignedPart[]) => number) => {
    const values = row?.[column];
    if (!values) return () => 0;
    const sumsOfParts = new Float64Array(partCount + 1);
    row.parts?.forEach((part, index) => {
      const number = Math.abs(part);
      sumsOfParts[number] = (sumsOfParts[number] ?? 0) + Math.sign(part) * (values[index] ?? 0);
    });
    return (parts) => {
      let sum = 0;
      for (const { part, sign } of parts) sum += sign * (sumsOfParts[part] ?? 0);
      return sum;
    };
  };
  const [orders, paidOrders, items] = [sumOf('orders'), sumOf('paid_orders'), sumOf('items')];
  const [revenueOf, refunds, refundedOf] = [sumOf('revenue'), sumOf('refunds'), sumOf('refunded')];
  return partsOfPeriods.map((parts) => {
    const [revenue, refunded] = [revenueOf(parts), refundedOf(parts)];
    return {
      orders: orders(parts),
      paid_orders: paidOrders(parts),
      items: items(parts),
      revenue,
      refunds: refunds(parts),
      refunded_total: refunded,
      net_revenue: revenue - refunded,
    };
  });
}

const noPeriods: RowRangesOfPeriods = { ranges: [], partsOfPeriods: [], partCount: 0 };
const noSums: Sums = { orders: 0, paid_orders: 0, items: 0, revenue: 0, refunds: 0, refunded_total: 0, net_revenue: 0 };

/** One order can belong to several groups by product or category, so that these have no counts of orders. */
const withoutOrderCounts = ({ items, revenue }: Sums): GroupSums => ({
  orders: null,
  paid_orders: null,
  items,
  revenue,
  refunds: null,
  refunded_total: null,
  net_revenue: null,
});

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
