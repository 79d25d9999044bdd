import type { Request, Response } from 'express';
import type { Order, OrderCancellation, OrderCreate, OrderSummary, OrderUpdate } from '@mandate/contract';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import {
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
  rejectIfMatchMismatch,
} from '../http/response/etag-and-conditional-requests.ts';
import { enableEtagOfCreatedResource } from '../http/response/etag-of-created-resource.ts';
import { isDryRunRequest } from '../http/writes/dry-run.ts';
import { createResourceIdempotently, createResourceIdempotentlyInStatement } from '../http/writes/idempotency.ts';
import { createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import { getRequestContext, requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { assertOrderActionAllowed } from '../order-limits/assert-order-action-allowed.ts';
import { includeCustomerAndClientNames } from './include-customer-and-client-names.ts';
import { cancelPaymentInDryRun, cancelOrderPaymentAtProvider } from './cancel-payment-at-provider.ts';
import { assertOrderAccessible } from '../orders/check-order-access-and-build-filters.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import { submitOrPollRefund } from '../refunds/submit-or-poll-refund.ts';
import { cancelOrderAndCreateRefund } from './cancel-order-and-create-refund.ts';
import { findOrderOrThrow } from '../orders/find-order.ts';
import { authorizeAndParseOrderListParameters, type OrderListQuery } from '../orders/authorize-and-parse-order-list-parameters.ts';
import { addTextSearchToOrderFilters } from '../orders/add-text-search-to-order-filters.ts';
import { countOrders, listOrders } from '../orders/list-orders.sql.ts';
import { type OrderRow, orderSummaryFromRow } from '../orders/order-from-row.ts';
import { placeOrder } from '../orders/price-and-place-order.ts';
import { placeOrderFromQuote } from './place-order-from-quote.ts';
import { authorizeAndResolveBuyerAndOrderInput } from './authorize-and-resolve-buyer-and-order-input.ts';
import { lockAccessibleOrder } from '../orders/lock-accessible-order.ts';
import { updateOrder } from '../orders/update-order.ts';

type Versioned = { readonly id: number; readonly version: number };

/** Functions that convert orders to the representation of an API version, and the prefix of order ETags in this version. */
export type OrderRepresentation<Summary, FullOrder extends Summary & Versioned> = {
  readonly etagPrefix: string;
  readonly toSummary: (order: OrderSummary) => Summary;
  readonly toOrder: (order: Order) => FullOrder;
  /** Returns the delivery fields in the representation of this API version. */
  readonly toDelivery: (delivery: Order['delivery']) => Partial<Summary>;
};

/** Dependencies of the order handlers that all API versions share. */
type OrderHandlerDependencies<Summary, FullOrder extends Summary & Versioned> = HandlerDependencies &
  PaymentHandlerDependencies & { readonly representation: OrderRepresentation<Summary, FullOrder> };

type OrdersRequest = { readonly req: MatchedRequest & Pick<Request, 'ip' | 'headers'>; readonly res: Response };
type OrderRequest = OrdersRequest & { readonly params: { readonly order_id: number } };

export async function handleCreateOrder<Summary, FullOrder extends Summary & Versioned>(
  { em, taxMode, representation }: OrderHandlerDependencies<Summary, FullOrder>,
  { req, res }: OrdersRequest,
  body: OrderCreate,
) {
  const principal = requirePrincipal(req);
  const { clientId, grantId = null, orderAuthorization } = principal;
  const { userId, input } = await authorizeAndResolveBuyerAndOrderInput(em, principal, body);
  const buyer = { userId, clientId, grantId, isLimited: orderAuthorization !== undefined };
  const options = { taxMode, toDelivery: representation.toDelivery };
  enableEtagOfCreatedResource(res, (id) => etagName(representation, id));
  return createResourceIdempotentlyInStatement<FullOrder>(em, req, res, (inner, claim) =>
    input.quoteId === undefined
      ? placeOrder(inner, claim, options, buyer, input)
      : placeOrderFromQuote(inner, claim, options, buyer, { ...input, quoteId: input.quoteId }, getClientAddressAndUserAgent(req)),
  );
}

export async function handleListOrders<Summary, FullOrder extends Summary & Versioned>(
  { readList, pages, representation }: OrderHandlerDependencies<Summary, FullOrder>,
  { req, res }: OrdersRequest,
  query: OrderListQuery,
) {
  const { filters, sort, withItems, names } = authorizeAndParseOrderListParameters(requirePrincipal(req), query);
  // Cursors are bound to these parameters, including the effective sort (even if it is the default), but not to `include`. The value of
  // `include` can differ between pages.
  const list = { ...query, sort: `${sort.descending ? '-' : ''}${sort.by}`, include: undefined };
  const position = pages.decodeCursor(req, list);
  const rows = await readList(async (from) => {
    const found = await listOrders(from, await addTextSearchToOrderFilters(from, filters, query.q), {
      sort,
      position,
      limit: query.limit,
      withItems,
    });
    return includeCustomerAndClientNames(from, found, names);
  });
  const count = (): Promise<number> =>
    readList(async (from) => countOrders(from, await addTextSearchToOrderFilters(from, filters, query.q)));
  const toItem = (row: OrderRow): Summary => representation.toSummary(orderSummaryFromRow(row));
  const page = pages.respondWithPage(req, res, list, rows, toItem, (row) => [orderSummaryFromRow(row)[sort.by], row.id]);
  return {
    status: 200 as const,
    body: { ...page, ...(await createTotalCountFields(query, count)) },
  };
}

export async function handleGetOrder<Summary, FullOrder extends Summary & Versioned>(
  { em, representation }: OrderHandlerDependencies<Summary, FullOrder>,
  { params: { order_id: id }, req, res }: OrderRequest,
) {
  const order = await findOrderOrThrow(em, requirePrincipal(req), id, getRequestContext(req).speculativeRead);
  return respondWithEtagOrNotModified(req, res, etagName(representation, id), representation.toOrder(order));
}

/** @param toChange returns the update for an order, given its current delivery fields */
export async function handleUpdateOrder<Summary, FullOrder extends Summary & Versioned>(
  { em, representation }: OrderHandlerDependencies<Summary, FullOrder>,
  { params: { order_id: id }, req, res }: OrderRequest,
  toChange: (delivery: Order['delivery']) => OrderUpdate,
) {
  const updated = await em.transactional(async (inner) => {
    const locked = await lockAccessibleOrder(inner, requirePrincipal(req), id);
    assertOrderActionAllowed(requirePrincipal(req), 'place', new Date());
    rejectIfMatchMismatch(req, etagName(representation, id), locked);
    const before = locked.version;
    await updateOrder(inner, requirePrincipal(req), locked, toChange(locked.delivery));
    const order = await findOrderOrThrow(inner, requirePrincipal(req), id);
    if (order.version !== before) await recordEvent(inner, 'order.updated', order, order.user_id);
    return order;
  });
  return respondWithEtagOfChangedResource(res, etagName(representation, id), representation.toOrder(updated));
}

export async function handleCancelOrder<Summary, FullOrder extends Summary & Versioned>(
  { em, providers, representation }: OrderHandlerDependencies<Summary, FullOrder>,
  { params: { order_id: id }, req, res }: OrderRequest,
  body: OrderCancellation,
) {
  const principal = requirePrincipal(req);
  await assertOrderAccessible(em, principal, id, 'orders.manage');
  assertOrderActionAllowed(principal, 'cancel', new Date());
  if (!isDryRunRequest(req)) await cancelOrderPaymentAtProvider(em, providers, id, new Date());
  let refundId: number | undefined;
  const effect = async (inner: EntityManager): Promise<FullOrder> => {
    if (isDryRunRequest(req)) await cancelPaymentInDryRun(inner, id);
    const canceled = await cancelOrderAndCreateRefund(inner, principal, id, body, new Date());
    refundId = canceled.refundId;
    return representation.toOrder(canceled.order);
  };
  const response = await createResourceIdempotently(em, req, res, effect, () => `/api/v1/orders/${id}`);
  if (refundId !== undefined && !isDryRunRequest(req)) await submitOrPollRefund(em, providers, refundId);
  return response;
}

const etagName = ({ etagPrefix }: { readonly etagPrefix: string }, id: number): string => `${etagPrefix}-${id}`;
