import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';

/** Sums as PostgreSQL returns them. The drivers use different types for large numbers. */
export type SumColumns = Record<'orders' | 'paid_orders' | 'items' | 'revenue' | 'refunds' | 'refunded', number | string>;
export type OrderStatisticsRow = SumColumns & {
  readonly part: 'period' | 'previous_period' | 'group' | 'previous_group' | 'group_period' | 'groups';
  readonly key: string | null;
  /** Number of the period, starting at 1; null for sums over all periods. */
  readonly period: number | null;
  /** Start of the period; null unless `part` is `period` or `previous_period`. */
  readonly starts_at: string | null;
  readonly ends_at: string | null;
};
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

export type OrderStatisticsParameters = {
  readonly groupBy: string | undefined;
  readonly currency: string;
  readonly timeZone: string;
  readonly interval: string;
  readonly from: string;
  readonly to: string;
  readonly previousFrom: string;
  readonly limit: number;
};

/** Returns the sums of all periods and groups from one snapshot of the database. */
export const callOrderStatisticsFunction = (em: EntityManager, of: OrderStatisticsParameters): Promise<OrderStatisticsRow[]> =>
  em
    .getKysely()
    .selectFrom((eb) =>
      eb
        .fn<OrderStatisticsRow>('mandate_order_statistics_v2', [
          eb.val(of.groupBy ?? null),
          eb.val(of.currency),
          eb.val(of.timeZone),
          eb.val(of.interval),
          eb.val(of.from),
          eb.val(of.to),
          eb.val(of.previousFrom),
          eb.val(of.limit),
        ])
        .as('s'),
    )
    .select([
      's.part',
      's.key',
      's.period',
      's.starts_at',
      's.ends_at',
      's.orders',
      's.paid_orders',
      's.items',
      's.revenue',
      's.refunds',
      's.refunded',
    ])
    .execute();

export type ProductStatisticsParameters = {
  readonly currency: string;
  readonly timeZone: string;
  readonly from: string;
  readonly to: string;
  readonly lowStock: number;
  readonly limit: number;
};

export const callProductStatisticsFunction = (em: EntityManager, of: ProductStatisticsParameters): Promise<ProductStatisticsRow[]> =>
  em
    .getKysely()
    .selectFrom((eb) =>
      eb
        .fn<ProductStatisticsRow>('mandate_product_statistics_v1', [
          eb.val(of.currency),
          eb.val(of.timeZone),
          eb.val(of.from),
          eb.val(of.to),
          eb.val(of.lowStock),
          eb.val(of.limit),
        ])
        .as('s'),
    )
    .select(['s.list', 's.product_id', 's.sku', 's.name', 's.category', 's.available', 's.items', 's.revenue'])
    .execute();

/** @param from first day of the first month @param to first day of the last month */
export const callApplicationStatisticsFunction = (
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
export async function findMainCurrency(em: EntityManager): Promise<string> {
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
