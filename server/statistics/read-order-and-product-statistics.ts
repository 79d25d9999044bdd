import type { OrderStatistics } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import {
  queryOrderSumsPerPeriodAndGroup,
  queryBestSellingLowStockAndUnsoldProducts,
  divideDaysIntoPeriods,
  type ProductStatisticsRow,
  type StatisticsDateRange,
} from './query-update-and-rebuild-statistics.ts';
import { dividePeriodsIntoRowRanges, type PeriodInSeconds, type StatisticsDimension } from './divide-periods-into-row-ranges.ts';
import { orderStatisticsFromRows, type OrderStatisticsWithoutNames } from './order-statistics-from-rows.ts';
import {
  indexScansByTimeOfDayFromRowRanges,
  indexScansFromRowRanges,
  indexScanForEachRowRange,
  type IndexScan,
} from './index-scans-from-row-ranges.ts';

export type OrderStatisticsQuery = StatisticsDateRange & {
  readonly groupBy: NonNullable<OrderStatistics['group_by']> | undefined;
  readonly currency: string;
  readonly limit: number;
};

/** There is one row for all orders at each time, so reading a few unneeded rows takes less time than another index scan. */
const maxUnneededRowsOfAllOrders = 8;

/** Reads the sums of each period and, with `groupBy`, those of the groups with the most revenue. */
export async function readOrderStatistics(em: EntityManager, query: OrderStatisticsQuery): Promise<OrderStatisticsWithoutNames> {
  const { groupBy, currency, limit } = query;
  const found = await divideDaysIntoPeriods(em, query);
  const { periods, previousPeriods } = found;
  const ofAll = dividePeriodsIntoRowRanges('all', [...periods, ...previousPeriods]);
  const ofGroups = groupBy && dividePeriodsIntoRowRanges(groupBy, [...periods, wholePeriod(previousPeriods)]);
  const rows = await queryOrderSumsPerPeriodAndGroup(em, found, {
    groupBy,
    currency,
    limit,
    scans: indexScansFromRowRanges(ofAll.ranges, maxUnneededRowsOfAllOrders),
    totalScans: groupBy ? scansOfPeriod(groupBy, wholePeriod(periods)) : [],
    groupScans: (groupBy === 'product' ? indexScansByTimeOfDayFromRowRanges : indexScansFromRowRanges)(ofGroups?.ranges ?? []),
  });
  return orderStatisticsFromRows(rows, found, { ofAll, ofGroups }, groupBy !== 'product' && groupBy !== 'category');
}

export type ProductStatisticsQuery = Omit<StatisticsDateRange, 'interval' | 'previousFrom'> & {
  readonly currency: string;
  readonly lowStock: number;
  readonly limit: number;
};

export async function readBestSellingLowStockAndUnsoldProducts(
  em: EntityManager,
  query: ProductStatisticsQuery,
): Promise<ProductStatisticsRow[]> {
  const { currency, lowStock, limit } = query;
  const { periods } = await divideDaysIntoPeriods(em, { ...query, interval: 'month', previousFrom: query.from });
  const period = wholePeriod(periods);
  return queryBestSellingLowStockAndUnsoldProducts(em, period, { currency, scans: scansOfPeriod('product', period), lowStock, limit });
}

const scansOfPeriod = (dimension: StatisticsDimension, period: PeriodInSeconds): IndexScan[] =>
  indexScanForEachRowRange(dividePeriodsIntoRowRanges(dimension, [period]).ranges);

const wholePeriod = (periods: readonly PeriodInSeconds[]): PeriodInSeconds => [periods[0]?.[0] ?? NaN, periods.at(-1)?.[1] ?? NaN];
