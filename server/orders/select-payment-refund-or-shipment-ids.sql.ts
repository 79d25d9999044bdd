import { type RawBuilder, sql } from 'kysely';
import { maxCountedTotal } from '@mandate/contract';
import { countRowsUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { roundUpLimitAndAddOneSql, runPreparedDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import type { ListedUserAndClient } from './authorize-and-get-listed-user-and-client.ts';

/** Selects payments, refunds or shipments of orders. */
export type SubresourceFilter = ListedUserAndClient & {
  readonly table: 'payments' | 'refunds' | 'shipments';
  readonly statuses: readonly string[];
  /** A selective condition on an indexed column; ignored if the value is `undefined`. */
  readonly narrowedBy?: { readonly column: 'payment_id' | 'tracking_number'; readonly value: string | number | undefined };
};

export type SubresourceListQuery = {
  readonly limit: number;
  readonly order_id?: number | undefined;
  readonly status?: readonly string[] | undefined;
  readonly created_at_gte?: string | undefined;
  readonly created_at_lt?: string | undefined;
  readonly sort: 'created_at' | '-created_at';
};

// Written in SQL because MikroORM does not support lateral joins.
/** Returns the IDs of one page, in sort order. */
export async function selectPaymentRefundOrShipmentIds(
  em: EntityManager,
  subresource: SubresourceFilter,
  query: SubresourceListQuery,
  position: KeysetPosition | undefined,
): Promise<number[]> {
  const descending = query.sort === '-created_at';
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const after = position
    ? sql`(created_at, id) ${sql.raw(descending ? '<' : '>')} (${position[0]}::timestamptz, ${position[1]}::bigint)`
    : sql`true`;
  const page = sql`order by created_at ${direction}, id ${direction} limit ${roundUpLimitAndAddOneSql(query.limit)}`;
  const ids = sql<{ id: number }>`select id from ${matchingRows(subresource, query, after, page)} found ${page}`;
  return (await runPreparedDynamicQuery(em, ids)).map(({ id }) => id);
}

/** Counts the matching rows, up to `maxCountedTotal + 1`. */
export const countMatchingPaymentsRefundsOrShipments = (
  em: EntityManager,
  subresource: SubresourceFilter,
  query: SubresourceListQuery,
): Promise<number> =>
  countRowsUpToMaxPlusOne(em, sql`select 1 from ${matchingRows(subresource, query, sql`true`, sql``)} found`, maxCountedTotal);

/**
 * Selects the matching rows. Without a selective condition (such as the order ID), the query iterates over the orders of the given user or
 * client or, if neither is given, runs one index scan per status.
 */
function matchingRows(
  { table, statuses, userId, requiredClientId, narrowedBy }: SubresourceFilter,
  { order_id: orderId, status, created_at_gte: from, created_at_lt: until }: SubresourceListQuery,
  after: RawBuilder<unknown>,
  page: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const select = sql`select id, created_at from ${sql.table(table)}`;
  const conditions = [after];
  if (orderId !== undefined) conditions.push(sql`order_id = ${orderId}`);
  const isNarrowed = narrowedBy?.value !== undefined;
  if (isNarrowed) conditions.push(sql`${sql.ref(narrowedBy.column)} = ${narrowedBy.value}`);
  if (from !== undefined) conditions.push(sql`created_at >= ${from}::timestamptz`);
  if (until !== undefined) conditions.push(sql`created_at < ${until}::timestamptz`);
  const where = sql.join(conditions, sql` and `);
  const hasStatus = status === undefined ? sql`true` : sql`status = any(${status}::text[])`;
  const isRestricted = userId !== undefined || requiredClientId !== undefined;
  const ofOrders = sql.join(
    [
      ...(userId === undefined ? [] : [sql`orders.user_id = ${userId}`]),
      ...(requiredClientId === undefined ? [] : [sql`orders.client_id = ${requiredClientId}`]),
    ],
    sql` and `,
  );
  if (orderId !== undefined || isNarrowed) {
    const isAccessible = isRestricted ? sql`exists (select 1 from orders where orders.id = order_id and ${ofOrders})` : sql`true`;
    return sql`(${select} where ${where} and ${hasStatus} and ${isAccessible} ${page})`;
  }
  if (isRestricted) {
    // `offset 0` forces an index lookup for each of these orders, regardless of the planner's estimates.
    return sql`(select subresource.* from orders cross join lateral (
      ${select} where order_id = orders.id and ${hasStatus} and ${where} offset 0) subresource where ${ofOrders})`;
  }
  return sql`(select subresource.* from unnest(${status ?? statuses}::text[]) as wanted (status) cross join lateral (
    ${select} where ${sql.table(table)}.status = wanted.status and ${where} ${page}) subresource)`;
}
