import type { Response } from 'express';
import type { Order, OrderCancellation, OrderCreate, OrderSummary, OrderUpdate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { recordEvent } from '../events/record-event.ts';
import { canUseScope } from '../http/middleware/authorize.ts';
import { respondWithNewEtag, respondWithEtag, checkIfMatch } from '../http/response/etag.ts';
import { enableCreatedEtag } from '../http/response/created-etag.ts';
import { isDryRun } from '../http/writes/dry-run.ts';
import { createIdempotently, createIdempotentlyInStatement } from '../http/writes/idempotency.ts';
import { totalCountFields } from '../http/response/list-parameters.ts';
import type { Principal } from '../http/request/principal.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { simulatePaymentCancellation, cancelOpenPaymentOfOrder } from './cancel-payment.ts';
import { assertOrderAccessible } from '../orders/order-access.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import { submitRefund } from '../refunds/submit-refund.ts';
import { cancelOrder } from './cancel-order.ts';
import { findOrder } from '../orders/find-order.ts';
import { parseOrderListQuery, type OrderListQuery } from '../orders/order-list-query.ts';
import { countOrders, listOrders } from '../orders/list-orders.ts';
import { type OrderRow, orderSummaryFromRow } from '../orders/order-rows.ts';
import { placeOrder } from '../orders/place-order.ts';
import { lockOrder } from '../orders/lock-order.ts';
import { updateOrder } from '../orders/update-order.ts';

type Versioned = { readonly id: number; readonly version: number };

/** How one API version represents orders and names their ETags. */
export type OrderRepresentation<Summary, FullOrder extends Summary & Versioned> = {
  readonly etagPrefix: string;
  readonly toSummary: (order: OrderSummary) => Summary;
  readonly toOrder: (order: Order) => FullOrder;
  /** Returns the delivery fields. */
  readonly toDelivery: (delivery: Order['delivery']) => Partial<Summary>;
};

type HandlerArgs = { readonly req: MatchedRequest; readonly res: Response };
type OrderHandlerArgs = HandlerArgs & { readonly params: { readonly order_id: number } };

/** Creates the order operation handlers, which all API versions share. */
export const createOrderHandlers = <Summary, FullOrder extends Summary & Versioned>(
  { em, readList, pages, taxMode, providers }: HandlerDependencies & PaymentHandlerDependencies,
  representation: OrderRepresentation<Summary, FullOrder>,
) => {
  const etagName = (id: number): string => `${representation.etagPrefix}-${id}`;
  const toItem = (row: OrderRow): Summary => representation.toSummary(orderSummaryFromRow(row));
  return {
    create: async ({ req, res }: HandlerArgs, body: OrderCreate) => {
      const buyer = { userId: resolveBuyerId(requirePrincipal(req), body), clientId: requirePrincipal(req).clientId };
      const options = { taxMode, toDelivery: representation.toDelivery };
      enableCreatedEtag(res, etagName);
      return createIdempotentlyInStatement<FullOrder>(em, req, res, (inner, claim) => placeOrder(inner, claim, options, buyer, body));
    },

    list: async ({ req, res }: HandlerArgs, query: OrderListQuery) => {
      const { filters, sort, withItems } = parseOrderListQuery(requirePrincipal(req), query);
      // Cursors are bound to these parameters: the effective sort, even when it is the default, but not `include`.
      // The value of `include` may differ between pages.
      const list = { ...query, sort: `${sort.descending ? '-' : ''}${sort.by}`, include: undefined };
      const position = pages.decodeCursor(req, list);
      const rows = await readList((from) => listOrders(from, filters, { sort, position, limit: query.limit, withItems }));
      const page = pages.respondWithPage(req, res, list, rows, toItem, (row) => [orderSummaryFromRow(row)[sort.by], row.id]);
      return {
        status: 200 as const,
        body: { ...page, ...(await totalCountFields(query, () => readList((from) => countOrders(from, filters)))) },
      };
    },

    get: async ({ params: { order_id: id }, req, res }: OrderHandlerArgs) =>
      respondWithEtag(req, res, etagName(id), representation.toOrder(await findOrder(em, requirePrincipal(req), id))),

    update: async ({ params: { order_id: id }, req, res }: OrderHandlerArgs, toChange: (delivery: Order['delivery']) => OrderUpdate) => {
      const updated = await em.transactional(async (inner) => {
        const locked = await lockOrder(inner, requirePrincipal(req), id);
        checkIfMatch(req, etagName(id), locked);
        const before = locked.version;
        await updateOrder(inner, requirePrincipal(req), locked, toChange(locked.delivery));
        const order = await findOrder(inner, requirePrincipal(req), id);
        if (order.version !== before) await recordEvent(inner, 'order.updated', order, order.user_id);
        return order;
      });
      return respondWithNewEtag(res, etagName(id), representation.toOrder(updated));
    },

    cancel: createCancelHandler({ em, providers }, representation.toOrder),
  };
};

const createCancelHandler =
  <FullOrder>(
    { em, providers }: Pick<HandlerDependencies & PaymentHandlerDependencies, 'em' | 'providers'>,
    toOrder: (order: Order) => FullOrder,
  ) =>
  async ({ params: { order_id: id }, req, res }: OrderHandlerArgs, body: OrderCancellation) => {
    const principal = requirePrincipal(req);
    await assertOrderAccessible(em, principal, id, 'orders.manage');
    if (!isDryRun(req)) await cancelOpenPaymentOfOrder(em, providers, id, new Date());
    let refundId: number | undefined;
    const effect = async (inner: EntityManager): Promise<FullOrder> => {
      if (isDryRun(req)) await simulatePaymentCancellation(inner, id);
      const canceled = await cancelOrder(inner, principal, id, body, new Date());
      refundId = canceled.refundId;
      return toOrder(canceled.order);
    };
    const response = await createIdempotently(em, req, res, effect, () => `/api/v1/orders/${id}`);
    if (refundId !== undefined && !isDryRun(req)) await submitRefund(em, providers, refundId);
    return response;
  };

function resolveBuyerId(principal: Principal, { user_id: userId, discount_total: discount }: OrderCreate): number {
  const own = principal.user?.id;
  if (discount !== undefined && !canUseScope(principal, 'orders.manage')) {
    throw createProblem('forbidden', { detail: 'Applying a discount requires the `orders.manage` scope and a staff account.' });
  }
  if (userId === undefined && own !== undefined) return own;
  if (!canUseScope(principal, 'orders.manage') && (userId !== own || userId === undefined)) {
    throw createProblem('forbidden', {
      detail: 'Placing an order for another user requires the `orders.manage` scope and a staff account.',
    });
  }
  if (userId !== undefined) return userId;
  throw createInvalidRequestProblem({
    in: 'body',
    pointer: '#/user_id',
    code: 'required',
    detail: 'This token does not act on behalf of a user: send the `user_id` of the customer.',
  });
}
