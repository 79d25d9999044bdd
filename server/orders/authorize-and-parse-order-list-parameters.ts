import type { z } from 'zod';
import { type contract, maxOrdersWithItems } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { rejectReversedTimeRange } from '../http/response/time-range-and-total-count.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { OrderFilters, OrderSort } from './list-orders.sql.ts';
import { authorizeAndGetListedUserAndClient } from './authorize-and-get-listed-user-and-client.ts';

export type OrderListQuery = z.output<(typeof contract.orders.list)['query']>;
type OrderList = {
  readonly filters: OrderFilters;
  readonly sort: OrderSort;
  readonly withItems: boolean;
  /** Specifies which names the list includes. */
  readonly names: { readonly customer: boolean; readonly client: boolean };
};

/** Returns the filters and the sort order of a request for an order list. Throws an error if parameters contradict each other. */
export function authorizeAndParseOrderListParameters(principal: Principal, query: OrderListQuery): OrderList {
  rejectReversedTimeRange(query, 'created_at_gte', 'created_at_lt');
  rejectReversedTimeRange(query, 'updated_at_gte', 'updated_at_lt');
  const withItems = query.include?.includes('items') ?? false;
  if (withItems && query.limit > maxOrdersWithItems) {
    throw createInvalidRequestProblem({
      in: 'query',
      parameter: 'limit',
      code: 'out_of_range',
      detail: translatable`With \`include=items\`, a page can contain at most ${{ maximum: maxOrdersWithItems }} orders. Send \`limit=${{ limit: maxOrdersWithItems }}\` or a lower value.`,
    });
  }
  const names = { customer: query.include?.includes('customer') ?? false, client: query.include?.includes('client') ?? false };
  if ((names.customer || names.client) && !canUseScope(principal, 'orders.manage')) {
    throw createProblem('forbidden', {
      detail: '`include=customer` and `include=client` require the `orders.manage` scope and a staff account.',
    });
  }
  const filters = {
    ...authorizeAndGetListedUserAndClient(principal, query.user_id),
    ids: query.id,
    clientId: query.client_id,
    status: query.status,
    paymentStatus: query.payment_status,
    fulfillmentStatus: query.fulfillment_status,
    reference: query.reference,
    createdAtGte: query.created_at_gte,
    createdAtLt: query.created_at_lt,
    updatedAtGte: query.updated_at_gte,
    updatedAtLt: query.updated_at_lt,
  };
  return { filters, sort: sortFromQuery(query), withItems, names };
}

/**
 * A filter by update time requires that the list is sorted by update time. With any other sort, even a short period would require a scan of
 * all orders.
 */
function sortFromQuery({ sort, updated_at_gte: from, updated_at_lt: until }: OrderListQuery): OrderSort {
  const filtersByUpdate = from !== undefined || until !== undefined;
  if (filtersByUpdate && (sort === 'created_at' || sort === '-created_at')) {
    throw createInvalidRequestProblem({
      in: 'query',
      parameter: 'sort',
      code: 'conflicting_parameters',
      detail: 'With `updated_at_gte` or `updated_at_lt`, send `sort=updated_at` or `sort=-updated_at`, or omit `sort`.',
    });
  }
  switch (sort ?? (filtersByUpdate ? 'updated_at' : '-created_at')) {
    case 'created_at':
      return { by: 'created_at', descending: false };
    case '-created_at':
      return { by: 'created_at', descending: true };
    case 'updated_at':
      return { by: 'updated_at', descending: false };
    default:
      return { by: 'updated_at', descending: true };
  }
}
