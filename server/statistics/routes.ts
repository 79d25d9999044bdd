import { initServer } from '@ts-rest/express';
import { contract, type OrderStatistics, type ProductStatistics } from '@mandate/contract';
import { findApplicationAndApiKeyNames } from '../api-keys/find-application-and-api-key-names.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { rejectReversedTimeRange } from '../http/response/time-range-and-total-count.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { assertPrincipalCanAccessAllOrders } from '../http/request/assert-principal-can-access-all-orders.ts';
import { Product } from '../products/product-stock-and-adjustment.entity.ts';
import { calendarMonthPeriodFromDate } from '../usage/calendar-month-period-from-date.ts';
import {
  queryStatisticsPerClientApplication,
  findCurrencyWithMostOrders,
  type ProductStatisticsRow,
} from './query-update-and-rebuild-statistics.ts';
import { readOrderStatistics, readBestSellingLowStockAndUnsoldProducts } from './read-order-and-product-statistics.ts';
import { firstDayOfPreviousPeriod, createUnknownTimeZoneErrorHandler, resolveStatisticsPeriod } from './resolve-statistics-period.ts';

export const statisticsRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.stats, {
    orders: async (request) => handleGetOrderStatistics(dependencies, withAccessToAllOrders(request)),
    products: async (request) => handleGetProductStatistics(dependencies, withAccessToAllOrders(request)),
    applications: async (request) => handleGetApplicationStatistics(dependencies, withAccessToAllOrders(request)),
  });

function withAccessToAllOrders<Request extends { readonly req: MatchedRequest }>(request: Request): Request {
  assertPrincipalCanAccessAllOrders(requirePrincipal(request.req), 'see statistics for all orders');
  return request;
}

const handleGetOrderStatistics: RouteHandler<typeof contract.stats.orders, HandlerDependencies> = async ({ readList }, { query }) => {
  const { interval, time_zone: timeZone, group_by: groupBy, limit } = query;
  const days = resolveStatisticsPeriod(query, interval);
  const previousFrom = firstDayOfPreviousPeriod(days);
  const body = await readList(async (em) => {
    const currency = query.currency ?? (await findCurrencyWithMostOrders(em));
    const parameters = { ...days, previousFrom, interval, timeZone, currency, groupBy, limit };
    const statistics = await readOrderStatistics(em, parameters).catch(createUnknownTimeZoneErrorHandler(timeZone));
    const names = await findGroupNames(
      em,
      groupBy,
      statistics.groups.map(({ key }) => key),
    );
    const groups = statistics.groups.map(({ key, ...sums }) => ({ key, name: names.get(key) ?? null, ...sums }));
    return { currency, ...statistics, groups };
  });
  return {
    status: 200,
    body: { ...body, ...days, time_zone: timeZone, interval, group_by: groupBy ?? null, previous_from: previousFrom },
  };
};

/** Returns the names of products, applications and API keys by group key. */
async function findGroupNames(
  em: EntityManager,
  groupBy: OrderStatistics['group_by'] | undefined,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (groupBy === 'product') {
    const named = { fields: ['id', 'name'], disableIdentityMap: true } as const;
    const products = await em.find(Product, { id: { $in: keys.map(Number) } }, named);
    return new Map(products.map(({ id, name }) => [String(id), name]));
  }
  return groupBy === 'application' ? findApplicationAndApiKeyNames(em, keys) : new Map();
}

const handleGetProductStatistics: RouteHandler<typeof contract.stats.products, HandlerDependencies> = async ({ readList }, { query }) => {
  const { time_zone: timeZone, low_stock: lowStock, limit } = query;
  const days = resolveStatisticsPeriod(query, 'day');
  const { currency, rows } = await readList(async (em) => {
    const chosen = query.currency ?? (await findCurrencyWithMostOrders(em));
    const parameters = { ...days, timeZone, currency: chosen, lowStock, limit };
    return {
      currency: chosen,
      rows: await readBestSellingLowStockAndUnsoldProducts(em, parameters).catch(createUnknownTimeZoneErrorHandler(timeZone)),
    };
  });
  const listed = (list: ProductStatisticsRow['list']) => rows.filter((row) => row.list === list).map(productSalesFromRow);
  return {
    status: 200,
    body: {
      currency,
      time_zone: timeZone,
      ...days,
      best_sellers: listed('best_sellers'),
      running_low: listed('running_low'),
      not_sold: listed('not_sold'),
    },
  };
};

const productSalesFromRow = (row: ProductStatisticsRow): ProductStatistics['best_sellers'][number] => ({
  product_id: Number(row.product_id),
  sku: row.sku,
  name: row.name,
  category: row.category,
  available: row.available,
  items: Number(row.items),
  revenue: Number(row.revenue),
});

const handleGetApplicationStatistics: RouteHandler<typeof contract.stats.applications, HandlerDependencies> = async (
  { readList },
  { query },
) => {
  const to = query.to ?? calendarMonthPeriodFromDate(new Date()).name;
  const months = { from: query.from ?? to, to };
  rejectReversedTimeRange(months, 'from', 'to');
  const { currency, rows } = await readList(async (em) => {
    const chosen = query.currency ?? (await findCurrencyWithMostOrders(em));
    const days = { from: `${months.from}-01`, to: `${months.to}-01` };
    return { currency: chosen, rows: await queryStatisticsPerClientApplication(em, chosen, days, query.limit) };
  });
  const applications = rows.map((row) => ({
    client_id: row.client_id,
    name: row.name,
    requests: Number(row.requests),
    errors: Number(row.errors),
    orders: Number(row.orders),
    paid_orders: Number(row.paid_orders),
    revenue: Number(row.revenue),
  }));
  return { status: 200, body: { currency, ...months, applications } };
};
