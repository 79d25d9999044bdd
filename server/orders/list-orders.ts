import { type RawBuilder, sql } from 'kysely';
import { orderStatuses, totalCountMax } from '@mandate/contract';
import { rowsFor, rowsOf } from '../database/queries/dynamic-query.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import type { Position } from '../http/response/pagination.ts';
import { orderColumns, orderItemsSql, type OrderRow } from './order-rows.ts';
import { unusualFulfillmentSql, usualFulfillment } from './order.entity.ts';

export type OrderFilters = {
  /** Whose orders; `undefined` for everybody's. */
  readonly userId: number | undefined;
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

/** Which page, and what is on it. */
export type OrderPage = {
  readonly sort: OrderSort;
  readonly position: Position | undefined;
  readonly limit: number;
  /** Whether each order has its lines. */
  readonly withItems?: boolean;
};

/**
 * Orders, more than `limit` where there are more. One index scan for each status (and each payment status, when there is such a filter), every one
 * stopping as early as the page does: how many orders there are, and how their statuses age, makes no difference.
 */
export const listOrders = (em: Em, filters: OrderFilters, page: OrderPage): Promise<readonly OrderRow[]> =>
  rowsOf(em, ordersQuery(filters, page), isAlwaysCheap(filters, page) ? 'even' : 'any');

/** Whether an index finds every row of the page. Two of these filters share no index: one of them is applied row by row. */
function isAlwaysCheap({ userId, clientId, paymentStatus, fulfillmentStatus }: OrderFilters, { sort, withItems }: OrderPage): boolean {
  const filters = [userId, clientId, paymentStatus, fulfillmentStatus].filter((filter) => filter !== undefined);
  return !withItems && sort.by === 'created_at' && filters.length <= 1;
}

/** The question alone, for whoever wants to see how the database answers it. */
export function ordersQuery(filters: OrderFilters, { sort, position, limit, withItems = false }: OrderPage): RawBuilder<OrderRow> {
  const [column, direction] = [sql.ref(sort.by), sql.raw(sort.descending ? 'desc' : 'asc')];
  // The cursor lies within the period, and takes the place of the bound on its side: an index scan begins at only one of the two.
  const conditions = conditionsOf(position ? { ...filters, [boundOf(sort)]: undefined } : filters);
  if (position)
    conditions.push(sql`(${column}, id) ${sql.raw(sort.descending ? '<' : '>')} (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const page = sql`order by ${column} ${direction}, id ${direction} limit ${rowsFor(limit)}`;
  const columns = sql.raw(withItems ? `${orderColumns}, ${orderItemsSql} as items` : orderColumns);
  return sql<OrderRow>`
    select ${columns} from ${source(filters, sort, conditions, page)} o order by o.${column} ${direction}, o.id ${direction} limit ${rowsFor(limit)}`;
}

const bounds = {
  created_at: { descending: 'createdAtLt', ascending: 'createdAtGte' },
  updated_at: { descending: 'updatedAtLt', ascending: 'updatedAtGte' },
} as const;
const boundOf = ({ by, descending }: OrderSort): keyof OrderFilters => bounds[by][descending ? 'descending' : 'ascending'];

function source(filters: OrderFilters, sort: OrderSort, conditions: RawBuilder<unknown>[], page: RawBuilder<unknown>): RawBuilder<unknown> {
  const { userId, ids, reference, status = orderStatuses, paymentStatus, fulfillmentStatus } = filters;
  const where = sql.join(conditions, sql` and `);
  const matchesStatuses = statusConditions(filters);
  // A few identifiers or a reference have few orders: they are found by their own index, and sorted.
  if (ids !== undefined || reference !== undefined) return sql`(select * from orders where ${matchesStatuses} and ${where} ${page})`;
  if (sort.by === 'updated_at') {
    // `offset 0` keeps the planner from reading the changes of all customers in their order until there are enough of this one
    const orders = userId === undefined ? sql`orders` : sql`(select * from orders where user_id = ${userId} offset 0) orders`;
    return sql`(select * from ${orders} where ${matchesStatuses} and ${where} ${page})`;
  }
  const perStatus = (statuses: readonly string[], more: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select o.* from unnest(${statuses === orderStatuses ? everyStatus : sql`${statuses}::text[]`}) as wanted (status)
     cross join lateral (select * from orders where orders.status = wanted.status and ${more} and ${where} ${page}) o`;
  if (userId !== undefined) return sql`(${perStatus(status, statusConditions({ paymentStatus, fulfillmentStatus }))})`;
  if (paymentStatus !== undefined) {
    const fulfilled = statusConditions({ fulfillmentStatus });
    // Unpaid is the rule where it is possible at all; everything else has an index of both statuses.
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

/** Each status has one usual fulfillment status, which the index of the status finds; other pairs are rare and have their own index. */
function byFulfillment(
  status: readonly string[],
  fulfillmentStatus: readonly string[],
  where: RawBuilder<unknown>,
  page: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const pairs = fulfillmentStatus.flatMap((name) => status.map((other) => [name, other] as const));
  const isUsual = ([name, other]: (typeof pairs)[number]): boolean => usualFulfillment.has(`${name}/${other}`);
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
        where fulfillment_status || '/' || status = wanted.both_statuses and ${sql.raw(unusualFulfillmentSql)} and ${where} ${page}) o)`;
}

/** Part of the text, because most lists are of all. */
const everyStatus = sql.raw(`'{${orderStatuses.join()}}'::text[]`);

const canBeUnpaid = (status: string): boolean => status === 'pending' || status === 'canceled';

/** How many orders match, up to where counting stops: one more than it counts to means more than that. */
export async function countOrders(em: Em, filters: OrderFilters, countedMax: number = totalCountMax): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count from (
      select 1 from orders where ${statusConditions({ ...filters, status: filters.status ?? orderStatuses })} and ${sql.join(conditionsOf(filters), sql` and `)}
       limit ${sql.lit(countedMax + 1)}) counted`;
  const rows = await rowsOf(em, query);
  return rows[0]?.count ?? 0;
}

/** Conditions that `source` turns into index scans where it can. */
function statusConditions({ status, paymentStatus, fulfillmentStatus }: Partial<OrderFilters>): RawBuilder<unknown> {
  const conditions = [sql`true`];
  if (status !== undefined) conditions.push(sql`status = any(${status}::text[])`);
  if (paymentStatus !== undefined) conditions.push(sql`payment_status = any(${paymentStatus}::text[])`);
  if (fulfillmentStatus !== undefined) conditions.push(sql`fulfillment_status = any(${fulfillmentStatus}::text[])`);
  return sql.join(conditions, sql` and `);
}

function conditionsOf(filters: OrderFilters): RawBuilder<unknown>[] {
  const { userId, ids, clientId, reference, createdAtGte, createdAtLt, updatedAtGte, updatedAtLt } = filters;
  const conditions = [sql`true`];
  if (userId !== undefined) conditions.push(sql`user_id = ${userId}`);
  if (ids !== undefined) conditions.push(sql`id = any(${ids}::bigint[])`);
  if (clientId !== undefined) conditions.push(sql`client_id = ${clientId}`);
  if (reference !== undefined) conditions.push(sql`reference = ${reference}`);
  if (createdAtGte !== undefined) conditions.push(sql`created_at >= ${createdAtGte}::timestamptz`);
  if (createdAtLt !== undefined) conditions.push(sql`created_at < ${createdAtLt}::timestamptz`);
  if (updatedAtGte !== undefined) conditions.push(sql`updated_at >= ${updatedAtGte}::timestamptz`);
  if (updatedAtLt !== undefined) conditions.push(sql`updated_at < ${updatedAtLt}::timestamptz`);
  return conditions;
}
