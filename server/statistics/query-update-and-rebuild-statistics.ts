import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { PeriodInSeconds, StatisticsDimension } from './divide-periods-into-row-ranges.ts';
import type { IndexScan } from './index-scans-from-row-ranges.ts';

/**
 * The sums of the parts of periods, for all orders or for a group. Each sum has the same index as the number of its part. The sum is
 * subtracted from the part if the number is negative.
 */
export type PartSumsRow = {
  /** null for the sums of all orders */
  readonly key: string | null;
  readonly group_count: number | string | null;
  /** null if there are no sums */
  readonly parts: readonly number[] | null;
} & Readonly<Record<SumColumn, readonly number[] | null>>;
export type SumColumn = 'orders' | 'paid_orders' | 'items' | 'revenue' | 'refunds' | 'refunded';
export type ProductStatisticsRow = {
  readonly list: 'best_sellers' | 'running_low' | 'not_sold';
  readonly product_id: number | string;
  readonly sku: string;
  readonly name: string;
  readonly category: string;
  readonly available: number | null;
  readonly items: number | string;
  readonly revenue: number | string;
};
export type ApplicationStatisticsRow = {
  readonly client_id: string;
  readonly name: string | null;
} & Readonly<Record<'requests' | 'errors' | 'orders' | 'paid_orders' | 'revenue', number | string>>;

export type StatisticsPeriods = { readonly periods: readonly PeriodInSeconds[]; readonly previousPeriods: readonly PeriodInSeconds[] };
export type StatisticsDateRange = {
  readonly timeZone: string;
  readonly interval: string;
  readonly from: string;
  readonly to: string;
  readonly previousFrom: string;
};

/** Divides local days into periods. The result depends only on PostgreSQL's data about time zones. */
export const divideDaysIntoPeriods = (em: EntityManager, of: StatisticsDateRange): Promise<StatisticsPeriods> =>
  em
    .getKysely()
    .selectFrom((eb) =>
      eb
        .fn<{ periods: PeriodInSeconds[]; previous_periods: PeriodInSeconds[] }>('mandate_statistics_periods_v1', [
          eb.val(of.interval),
          eb.val(of.timeZone),
          eb.val(of.from),
          eb.val(of.to),
          eb.val(of.previousFrom),
        ])
        .as('p'),
    )
    .select(['p.periods', 'p.previous_periods as previousPeriods'])
    .executeTakeFirstOrThrow();

export type OrderStatisticsParameters = {
  readonly groupBy: Exclude<StatisticsDimension, 'all'> | undefined;
  readonly currency: string;
  readonly limit: number;
  readonly scans: readonly IndexScan[];
  readonly totalScans: readonly IndexScan[];
  readonly groupScans: readonly IndexScan[];
};

/** Returns the sums of all periods and groups from one snapshot of the database. */
export function queryOrderSumsPerPeriodAndGroup(
  em: EntityManager,
  { periods, previousPeriods }: StatisticsPeriods,
  of: OrderStatisticsParameters,
): Promise<PartSumsRow[]> {
  const allPeriods = [...periods, ...previousPeriods];
  return em
    .getKysely()
    .selectFrom((eb) =>
      eb
        .fn<PartSumsRow>('mandate_order_statistics_v3', [
          eb.val(of.groupBy ?? null),
          eb.val(of.currency),
          eb.val(of.limit),
          eb.val(allPeriods.map(([start]) => start)),
          eb.val(allPeriods.map(([, end]) => end)),
          eb.val(periods.length),
          eb.val(JSON.stringify(of.scans)),
          eb.val(JSON.stringify(of.totalScans)),
          eb.val(JSON.stringify(of.groupScans)),
        ])
        .as('s'),
    )
    .select(['s.key', 's.group_count', 's.parts', 's.orders', 's.paid_orders', 's.items', 's.revenue', 's.refunds', 's.refunded'])
    .execute();
}

export type ProductStatisticsParameters = {
  readonly currency: string;
  readonly scans: readonly IndexScan[];
  readonly lowStock: number;
  readonly limit: number;
};

export const queryBestSellingLowStockAndUnsoldProducts = (
  em: EntityManager,
  [start, end]: PeriodInSeconds,
  of: ProductStatisticsParameters,
): Promise<ProductStatisticsRow[]> =>
  em
    .getKysely()
    .selectFrom((eb) =>
      eb
        .fn<ProductStatisticsRow>('mandate_product_statistics_v2', [
          eb.val(of.currency),
          eb.val(start),
          eb.val(end),
          eb.val(JSON.stringify(of.scans)),
          eb.val(of.lowStock),
          eb.val(of.limit),
        ])
        .as('s'),
    )
    .select(['s.list', 's.product_id', 's.sku', 's.name', 's.category', 's.available', 's.items', 's.revenue'])
    .execute();

/** @param from first day of the first month @param to first day of the last month */
export const queryStatisticsPerClientApplication = (
  em: EntityManager,
  currency: string,
  { from, to }: { readonly from: string; readonly to: string },
  limit: number,
): Promise<ApplicationStatisticsRow[]> =>
  em
    .getKysely()
    .selectFrom((eb) =>
      eb
        .fn<ApplicationStatisticsRow>('mandate_application_statistics_v1', [eb.val(currency), eb.val(from), eb.val(to), eb.val(limit)])
        .as('s'),
    )
    .select(['s.client_id', 's.name', 's.requests', 's.errors', 's.orders', 's.paid_orders', 's.revenue'])
    .execute();

/** Returns the currency with the most orders. */
export async function findCurrencyWithMostOrders(em: EntityManager): Promise<string> {
  const found = await em
    .getKysely()
    .selectNoFrom((eb) => eb.fn<string>('mandate_main_currency_v1').as('currency'))
    .executeTakeFirstOrThrow();
  return found.currency;
}

/** Adds a batch of recorded changes to the sums and returns the number of these changes. */
export async function addRecordedChangesToOrderStatistics(em: EntityManager, batchMax = 5_000): Promise<number> {
  const { count } = await em
    .getKysely()
    .selectNoFrom((eb) => eb.fn<number>('mandate_fold_order_statistics_v1', [eb.val(batchMax)]).as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Recalculates all sums from the orders and returns the number of rows. Orders can be placed and changed during the calculation. */
export async function rebuildOrderStatistics(em: EntityManager): Promise<number> {
  const { count } = await em
    .getKysely()
    .selectNoFrom((eb) => eb.fn<number | string>('mandate_rebuild_order_statistics_v1').as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
