import type { Response } from 'express';
import { type RawBuilder, sql } from 'kysely';
import { maxTotalCount } from '@mandate/contract';
import { roundedLimitSql, runDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { RunListQuery } from '../database/replica/read-routing.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { rejectReversedRange, totalCountFields } from '../http/response/list-parameters.ts';
import type { CursorPagination, KeysetPosition } from '../http/response/pagination.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';

type SortableRow = { readonly id: number; readonly createdAt: Date };

/** Payments, refunds or shipments that belong to orders. */
type Subresource<Entity extends SortableRow, Body> = {
  readonly table: 'payments' | 'refunds' | 'shipments';
  readonly statuses: readonly string[];
  /** The user whose orders are searched; `undefined` means all users. */
  readonly userId: number | undefined;
  /** A selective condition with its own index. */
  readonly narrowedBy?: RawBuilder<unknown> | undefined;
  readonly find: (em: EntityManager, ids: number[]) => Promise<Entity[]>;
  readonly toBody: (entity: Entity) => Body;
};

type ListQuery = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly include_total?: 'true' | 'false' | undefined;
  readonly order_id?: number | undefined;
  readonly status?: readonly string[] | undefined;
  readonly created_at_gte?: string | undefined;
  readonly created_at_lt?: string | undefined;
  readonly sort: 'created_at' | '-created_at';
};

type ListRequest = {
  readonly readList: RunListQuery;
  readonly pages: CursorPagination;
  readonly req: MatchedRequest;
  readonly res: Response;
  readonly query: ListQuery;
};

/** Returns the response with one page of the payments, refunds or shipments of all orders that the caller may see. */
export async function listOrderSubresources<Entity extends SortableRow, Body>(
  { readList, pages, req, res, query }: ListRequest,
  subresource: Subresource<Entity, Body>,
) {
  rejectReversedRange(query, 'created_at_gte', 'created_at_lt');
  const position = pages.decodeCursor(req, query);
  const rows = await readList(async (em) => {
    const ids = (await runDynamicQuery(em, idsQuery(subresource, query, position))).map(({ id }) => id);
    const entities = new Map((await subresource.find(em, ids)).map((entity) => [entity.id, entity]));
    return ids.flatMap((id) => entities.get(id) ?? []);
  });
  const page = pages.respondWithPage(req, res, query, rows, subresource.toBody, (row) => [row.createdAt.toISOString(), row.id]);
  const count = async (): Promise<number> => (await readList((em) => runDynamicQuery(em, countQuery(subresource, query))))[0]?.count ?? 0;
  return { status: 200 as const, body: { ...page, ...(await totalCountFields(query, count)) } };
}

type SubresourceFilter = Omit<Subresource<SortableRow, unknown>, 'find' | 'toBody'>;

/** Selects a page's ids in sort order. */
function idsQuery(subresource: SubresourceFilter, query: ListQuery, position: KeysetPosition | undefined): RawBuilder<{ id: number }> {
  const descending = query.sort === '-created_at';
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const after = position
    ? sql`(created_at, id) ${sql.raw(descending ? '<' : '>')} (${position[0]}::timestamptz, ${position[1]}::bigint)`
    : sql`true`;
  const page = sql`order by created_at ${direction}, id ${direction} limit ${roundedLimitSql(query.limit)}`;
  return sql`select id from ${matchingRows(subresource, query, after, page)} found ${page}`;
}

const countQuery = (subresource: SubresourceFilter, query: ListQuery): RawBuilder<{ count: number }> =>
  sql`select count(*) as count from (
        select 1 from ${matchingRows(subresource, query, sql`true`, sql``)} found limit ${sql.lit(maxTotalCount + 1)}) counted`;

/**
 * Selects the matching rows: by a selective condition (such as the order), otherwise per order of the given user, otherwise with one index
 * scan per status.
 */
function matchingRows(
  { table, statuses, userId, narrowedBy }: SubresourceFilter,
  { order_id: orderId, status, created_at_gte: from, created_at_lt: until }: ListQuery,
  after: RawBuilder<unknown>,
  page: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const select = sql`select id, created_at from ${sql.table(table)}`;
  const conditions = [after];
  if (orderId !== undefined) conditions.push(sql`order_id = ${orderId}`);
  if (narrowedBy) conditions.push(narrowedBy);
  if (from !== undefined) conditions.push(sql`created_at >= ${from}::timestamptz`);
  if (until !== undefined) conditions.push(sql`created_at < ${until}::timestamptz`);
  const where = sql.join(conditions, sql` and `);
  const hasStatus = status === undefined ? sql`true` : sql`status = any(${status}::text[])`;
  if (orderId !== undefined || narrowedBy) {
    const isOwn = sql`exists (select 1 from orders where orders.id = order_id and orders.user_id = ${userId})`;
    return sql`(${select} where ${where} and ${hasStatus} and ${userId === undefined ? sql`true` : isOwn} ${page})`;
  }
  if (userId !== undefined) {
    // `offset 0` forces an index lookup for each of the user's orders, regardless of the planner's estimates.
    return sql`(select subresource.* from orders cross join lateral (
      ${select} where order_id = orders.id and ${hasStatus} and ${where} offset 0) subresource where orders.user_id = ${userId})`;
  }
  return sql`(select subresource.* from unnest(${status ?? statuses}::text[]) as wanted (status) cross join lateral (
    ${select} where ${sql.table(table)}.status = wanted.status and ${where} ${page}) subresource)`;
}
