import { type RawBuilder, sql } from 'kysely';
import { orderStatuses, totalCountMax } from '@mandate/contract';
import { rowsFor, rowsOf } from '../database/list-query.ts';
import type { Em } from '../database/orm.ts';
import type { Position } from '../http/pages.ts';
import { orderColumns, type OrderRow } from './order-rows.ts';

export type OrderFilters = {
  /** Whose orders; `undefined` for everybody's. */
  readonly userId: number | undefined;
  readonly status?: readonly string[] | undefined;
  readonly paymentStatus?: readonly string[] | undefined;
  readonly reference?: string | undefined;
  readonly createdAtGte?: string | undefined;
  readonly createdAtLt?: string | undefined;
};

/**
 * Orders, more than `limit` where there are more. One index scan for each status (and each payment status, when there is such a filter), every one
 * stopping as early as the page does: how many orders there are, and how their statuses age, makes no difference.
 */
export async function listOrders(em: Em, ...list: Parameters<typeof ordersQuery>): Promise<readonly OrderRow[]> {
  return rowsOf(em, ordersQuery(...list), 'even');
}

/** The question alone, for whoever wants to see how the database answers it. */
export function ordersQuery(
  filters: OrderFilters,
  descending: boolean,
  position: Position | undefined,
  limit: number,
): RawBuilder<OrderRow> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  // The cursor lies within the period, and takes the place of the bound on its side: an index scan begins at only one of the two.
  const conditions = conditionsOf(position ? { ...filters, [descending ? 'createdAtLt' : 'createdAtGte']: undefined } : filters);
  if (position)
    conditions.push(sql`(created_at, id) ${sql.raw(descending ? '<' : '>')} (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const page = sql`order by created_at ${direction}, id ${direction} limit ${rowsFor(limit)}`;
  return sql<OrderRow>`
    select ${sql.raw(orderColumns)} from ${source(filters, conditions, page)} o order by o.created_at ${direction}, o.id ${direction} limit ${rowsFor(limit)}`;
}

function source(filters: OrderFilters, conditions: RawBuilder<unknown>[], page: RawBuilder<unknown>): RawBuilder<unknown> {
  const { status = orderStatuses, paymentStatus, reference } = filters;
  const where = sql.join(conditions, sql` and `);
  // A reference has few orders: they are found by its own index, and sorted.
  if (reference !== undefined) {
    const paid = paymentStatus === undefined ? sql`true` : sql`payment_status = any(${paymentStatus}::text[])`;
    return sql`(select * from orders where status = any(${status}::text[]) and ${paid} and ${where} ${page})`;
  }
  const perStatus = (statuses: readonly string[], more: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select o.* from unnest(${statuses === orderStatuses ? everyStatus : sql`${statuses}::text[]`}) as wanted (status)
     cross join lateral (select * from orders where orders.status = wanted.status and ${more} and ${where} ${page}) o`;
  if (paymentStatus === undefined) return sql`(${perStatus(status, sql`true`)})`;
  // Unpaid is the rule where it is possible at all; everything else has an index of both statuses.
  const paid = paymentStatus.filter((name) => name !== 'unpaid').flatMap((name) => status.map((other) => `${name}/${other}`));
  const parts = [
    ...(paymentStatus.includes('unpaid') ? [perStatus(status.filter(canBeUnpaid), sql`payment_status = 'unpaid'`)] : []),
    sql`select o.* from unnest(${paid}::text[]) as wanted (both_statuses)
      cross join lateral (
        select * from orders where payment_status || '/' || status = wanted.both_statuses and payment_status <> 'unpaid' and ${where} ${page}) o`,
  ];
  return sql`(${sql.join(parts, sql` union all `)})`;
}

/** Part of the text, because most lists are of all. */
const everyStatus = sql.raw(`'{${orderStatuses.join()}}'::text[]`);

const canBeUnpaid = (status: string): boolean => status === 'pending' || status === 'canceled';

/** How many orders match, up to where counting stops: one more than it counts to means more than that. */
export async function countOrders(em: Em, filters: OrderFilters, countedMax: number = totalCountMax): Promise<number> {
  const conditions = conditionsOf(filters);
  if (filters.paymentStatus !== undefined) conditions.push(sql`payment_status = any(${filters.paymentStatus}::text[])`);
  const query = sql<{ count: number }>`
    select count(*) as count from (
      select 1 from orders where status = any(${filters.status ?? orderStatuses}::text[]) and ${sql.join(conditions, sql` and `)}
       limit ${sql.lit(countedMax + 1)}) counted`;
  const rows = await rowsOf(em, query);
  return rows[0]?.count ?? 0;
}

function conditionsOf({ userId, reference, createdAtGte, createdAtLt }: OrderFilters): RawBuilder<unknown>[] {
  const conditions = [sql`true`];
  if (userId !== undefined) conditions.push(sql`user_id = ${userId}`);
  if (reference !== undefined) conditions.push(sql`reference = ${reference}`);
  if (createdAtGte !== undefined) conditions.push(sql`created_at >= ${createdAtGte}::timestamptz`);
  if (createdAtLt !== undefined) conditions.push(sql`created_at < ${createdAtLt}::timestamptz`);
  return conditions;
}
