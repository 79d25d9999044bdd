import { type RawBuilder, sql } from 'kysely';
import { orderStatuses, maxCountedTotal } from '@mandate/contract';
import { countRowsUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { roundUpLimitAndAddOneSql, runPreparedDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import type { ListedUserAndClient } from './authorize-and-get-listed-user-and-client.ts';
import { orderColumnsSql, orderItemsAsJsonSql, type OrderRow } from './order-from-row.ts';
import { isUncommonFulfillmentAndStatusPairSql, commonFulfillmentAndStatusPairs } from './order-and-order-item.entity.ts';

export type OrderFilters = ListedUserAndClient & {
  readonly ids?: readonly number[] | undefined;
  readonly clientId?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly paymentStatus?: readonly string[] | undefined;
  readonly fulfillmentStatus?: readonly string[] | undefined;
  readonly reference?: string | undefined;
  readonly createdAtGte?: string | undefined;
  readonly createdAtLt?: string | undefined;
  readonly updatedAtGte?: string | undefined;
  readonly updatedAtLt?: string | undefined;
};

export type OrderSort = { readonly by: 'created_at' | 'updated_at'; readonly descending: boolean };

/** Parameters for one page of orders. */
export type OrderPageOptions = {
  readonly sort: OrderSort;
  readonly position: KeysetPosition | undefined;
  readonly limit: number;
  /** Whether each order includes its lines. */
  readonly withItems?: boolean;
};

// Written in SQL because the plan is cached and does not depend on the distribution of statuses (see the `list-orders` benchmark).
/**
 * Returns the matching orders; more than `limit` rows indicate a next page. The query runs one index scan per status or, if the list is
 * filtered by payment status, per combination of both statuses. Each scan stops after one page. The cost of a list therefore depends
 * neither on the number of orders nor on the distribution of statuses, which changes as orders age.
 */
export const listOrders = (em: EntityManager, filters: OrderFilters, page: OrderPageOptions): Promise<readonly OrderRow[]> =>
  runPreparedDynamicQuery(em, buildListOrdersQuery(filters, page), isFullyIndexed(filters, page) ? 'even' : 'any');

/**
 * Returns whether an index scan returns exactly the rows of the page. Apart from the status, each index covers at most one filter, so a
 * second filter would be applied row by row.
 */
function isFullyIndexed(
  { userId, requiredClientId, clientId, paymentStatus, fulfillmentStatus }: OrderFilters,
  { sort, withItems }: OrderPageOptions,
): boolean {
  const filters = [userId, requiredClientId, clientId, paymentStatus, fulfillmentStatus].filter((filter) => filter !== undefined);
  return !withItems && sort.by === 'created_at' && filters.length <= 1;
}

/** Builds the list query; exported for tests that inspect its plan. */
export function buildListOrdersQuery(
  filters: OrderFilters,
  { sort, position, limit, withItems = false }: OrderPageOptions,
): RawBuilder<OrderRow> {
  const [column, direction] = [sql.ref(sort.by), sql.raw(sort.descending ? 'desc' : 'asc')];
  // The cursor is within the period and replaces one bound of the period, because an index scan can start at only one position.
  const conditions = filterConditions(position ? { ...filters, [boundReplacedByCursor(sort)]: undefined } : filters);
  if (position)
    conditions.push(sql`(${column}, id) ${sql.raw(sort.descending ? '<' : '>')} (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const page = sql`order by ${column} ${direction}, id ${direction} limit ${roundUpLimitAndAddOneSql(limit)}`;
  const columns = sql.raw(withItems ? `${orderColumnsSql}, ${orderItemsAsJsonSql} as items` : orderColumnsSql);
  return sql<OrderRow>`
    select ${columns} from ${matchingOrders(filters, sort, conditions, page)} o order by o.${column} ${direction}, o.id ${direction} limit ${roundUpLimitAndAddOneSql(limit)}`;
}

const bounds = {
  created_at: { descending: 'createdAtLt', ascending: 'createdAtGte' },
  updated_at: { descending: 'updatedAtLt', ascending: 'updatedAtGte' },
} as const;
const boundReplacedByCursor = ({ by, descending }: OrderSort): keyof OrderFilters => bounds[by][descending ? 'descending' : 'ascending'];

function matchingOrders(
  filters: OrderFilters,
  sort: OrderSort,
  conditions: RawBuilder<unknown>[],
  page: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { userId, ids, reference, status = orderStatuses, paymentStatus, fulfillmentStatus } = filters;
  const where = sql.join(conditions, sql` and `);
  const matchesStatuses = statusConditions(filters);
  // A filter by ID or reference matches few orders, which are found with a separate index and then sorted.
  if (ids !== undefined || reference !== undefined) return sql`(select * from orders where ${matchesStatuses} and ${where} ${page})`;
  if (sort.by === 'updated_at') {
    // Without `offset 0`, PostgreSQL might scan all users' changes in time order until it has found enough rows for this user.
    const orders = userId === undefined ? sql`orders` : sql`(select * from orders where user_id = ${userId} offset 0) orders`;
    return sql`(select * from ${orders} where ${matchesStatuses} and ${where} ${page})`;
  }
  const perStatus = (statuses: readonly string[], more: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select o.* from unnest(${statuses === orderStatuses ? allStatusesSql : sql`${statuses}::text[]`}) as wanted (status)
     cross join lateral (select * from orders where orders.status = wanted.status and ${more} and ${where} ${page}) o`;
  if (userId !== undefined) return sql`(${perStatus(status, statusConditions({ paymentStatus, fulfillmentStatus }))})`;
  if (paymentStatus !== undefined) {
    const fulfilled = statusConditions({ fulfillmentStatus });
    // Most orders with a status that permits `unpaid` are unpaid, so `unpaid` uses the status index. Other payment statuses use the
    // composite index.
    const paid = paymentStatus.filter((name) => name !== 'unpaid').flatMap((name) => status.map((other) => `${name}/${other}`));
    const parts = [
      ...(paymentStatus.includes('unpaid') ? [perStatus(status.filter(canBeUnpaid), sql`payment_status = 'unpaid' and ${fulfilled}`)] : []),
      sql`select o.* from unnest(${paid}::text[]) as wanted (both_statuses)
        cross join lateral (
          select * from orders
           where payment_status || '/' || status = wanted.both_statuses and payment_status <> 'unpaid' and ${fulfilled} and ${where} ${page}) o`,
    ];
    return sql`(${sql.join(parts, sql` union all `)})`;
  }
  if (fulfillmentStatus !== undefined) return byFulfillment(status, fulfillmentStatus, where, page);
  return sql`(${perStatus(status, sql`true`)})`;
}

/**
 * Selects orders by fulfillment status. The status index finds orders whose fulfillment status is the usual one for their status; a
 * separate index finds all other combinations, which are rare.
 */
function byFulfillment(
  status: readonly string[],
  fulfillmentStatus: readonly string[],
  where: RawBuilder<unknown>,
  page: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const pairs = fulfillmentStatus.flatMap((name) => status.map((other) => [name, other] as const));
  const isUsual = ([name, other]: (typeof pairs)[number]): boolean => commonFulfillmentAndStatusPairs.has(`${name}/${other}`);
  const usual = pairs.filter(isUsual);
  const unusual = pairs.filter((pair) => !isUsual(pair)).map((pair) => pair.join('/'));
  return sql`(
    select o.* from unnest(${usual.map(([name]) => name)}::text[], ${usual.map(([, other]) => other)}::text[]) as wanted (fulfillment_status, status)
     cross join lateral (
       select * from orders
        where orders.status = wanted.status and orders.fulfillment_status = wanted.fulfillment_status and ${where} ${page}) o
    union all
    select o.* from unnest(${unusual}::text[]) as wanted (both_statuses)
     cross join lateral (
       select * from orders
        where fulfillment_status || '/' || status = wanted.both_statuses and ${sql.raw(isUncommonFulfillmentAndStatusPairSql)} and ${where} ${page}) o)`;
}

/** The statuses are embedded as a literal, because most lists include all statuses. */
const allStatusesSql = sql.raw(`'{${orderStatuses.join()}}'::text[]`);

const canBeUnpaid = (status: string): boolean => status === 'pending' || status === 'canceled';

/** Counts the matching orders. The result `countedMax + 1` means that there are more than `countedMax` orders. */
export function countOrders(em: EntityManager, filters: OrderFilters, countedMax: number = maxCountedTotal): Promise<number> {
  const statuses = statusConditions({ ...filters, status: filters.status ?? orderStatuses });
  return countRowsUpToMaxPlusOne(
    em,
    sql`select 1 from orders where ${statuses} and ${sql.join(filterConditions(filters), sql` and `)}`,
    countedMax,
  );
}

/** Builds the status conditions; `matchingOrders` replaces them with index scans where possible. */
function statusConditions({ status, paymentStatus, fulfillmentStatus }: Partial<OrderFilters>): RawBuilder<unknown> {
  const conditions = [sql`true`];
  if (status !== undefined) conditions.push(sql`status = any(${status}::text[])`);
  if (paymentStatus !== undefined) conditions.push(sql`payment_status = any(${paymentStatus}::text[])`);
  if (fulfillmentStatus !== undefined) conditions.push(sql`fulfillment_status = any(${fulfillmentStatus}::text[])`);
  return sql.join(conditions, sql` and `);
}

function filterConditions(filters: OrderFilters): RawBuilder<unknown>[] {
  const { userId, requiredClientId, ids, clientId, reference, createdAtGte, createdAtLt, updatedAtGte, updatedAtLt } = filters;
  const conditions = [sql`true`];
  if (userId !== undefined) conditions.push(sql`user_id = ${userId}`);
  if (requiredClientId !== undefined) conditions.push(sql`client_id = ${requiredClientId}`);
  if (ids !== undefined) conditions.push(sql`id = any(${ids}::bigint[])`);
  if (clientId !== undefined) conditions.push(sql`client_id = ${clientId}`);
  if (reference !== undefined) conditions.push(sql`reference = ${reference}`);
  if (createdAtGte !== undefined) conditions.push(sql`created_at >= ${createdAtGte}::timestamptz`);
  if (createdAtLt !== undefined) conditions.push(sql`created_at < ${createdAtLt}::timestamptz`);
  if (updatedAtGte !== undefined) conditions.push(sql`updated_at >= ${updatedAtGte}::timestamptz`);
  if (updatedAtLt !== undefined) conditions.push(sql`updated_at < ${updatedAtLt}::timestamptz`);
  return conditions;
}
