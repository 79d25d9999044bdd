import type { Response } from 'express';
import type { RunListQuery } from '../database/replica/primary-only-list-query-runner.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { rejectReversedTimeRange, createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import type { CursorPaginator } from '../http/response/pagination.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import {
  countMatchingPaymentsRefundsOrShipments,
  selectPaymentRefundOrShipmentIds,
  type SubresourceFilter,
  type SubresourceListQuery,
} from './select-payment-refund-or-shipment-ids.sql.ts';

type SortableRow = { readonly id: number; readonly createdAt: Date };

/** A kind of order subresource: payments, refunds or shipments. */
type Subresource<Entity extends SortableRow, Body> = SubresourceFilter & {
  readonly find: (em: EntityManager, ids: number[]) => Promise<Entity[]>;
  readonly toBody: (entity: Entity) => Body;
};

type ListQuery = SubresourceListQuery & {
  readonly cursor?: string | undefined;
  readonly include_total?: 'true' | 'false' | undefined;
};

type ListRequest = {
  readonly readList: RunListQuery;
  readonly pages: CursorPaginator;
  readonly req: MatchedRequest;
  readonly res: Response;
  readonly query: ListQuery;
};

/** Responds with one page of payments, refunds or shipments of all orders that the caller may see. */
export async function respondWithPaymentsRefundsOrShipments<Entity extends SortableRow, Body>(
  { readList, pages, req, res, query }: ListRequest,
  subresource: Subresource<Entity, Body>,
) {
  rejectReversedTimeRange(query, 'created_at_gte', 'created_at_lt');
  const position = pages.decodeCursor(req, query);
  const rows = await readList(async (em) => {
    const ids = await selectPaymentRefundOrShipmentIds(em, subresource, query, position);
    const entities = new Map((await subresource.find(em, ids)).map((entity) => [entity.id, entity]));
    return ids.flatMap((id) => entities.get(id) ?? []);
  });
  const page = pages.respondWithPage(req, res, query, rows, subresource.toBody, (row) => [row.createdAt.toISOString(), row.id]);
  const count = (): Promise<number> => readList((em) => countMatchingPaymentsRefundsOrShipments(em, subresource, query));
  return { status: 200 as const, body: { ...page, ...(await createTotalCountFields(query, count)) } };
}
