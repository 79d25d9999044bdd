import type { Response } from 'express';
import type { Order, OrderCancellation, OrderCreate, OrderSummary, OrderUpdate } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { recordEvent } from '../events/record-event.ts';
import { may } from '../http/middleware/authorize.ts';
import { changed, found, requireMatch } from '../http/response/etag.ts';
import { returnCreatedEtag } from '../http/response/created-etag.ts';
import { isDryRun } from '../http/writes/dry-run.ts';
import { once, onceInStatement } from '../http/writes/idempotency.ts';
import { total } from '../http/response/list-parameters.ts';
import type { Principal } from '../http/request/principal.ts';
import { invalidRequest, problem } from '../http/problem-details/problem.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import type { RoutedRequest } from '../http/request/matched-route.ts';
import { assumePaymentCanceled, cancelPaymentOf } from './cancel-payment.ts';
import { requireOrder } from '../orders/order-access.ts';
import type { PaymentDeps } from '../payments/providers/payment-provider.ts';
import { askForRefund } from '../refunds/submit-refund.ts';
import { cancelOrder } from './cancel-order.ts';
import { findOrder } from '../orders/find-order.ts';
import { orderListFromQuery, type OrderListQuery } from '../orders/order-list-query.ts';
import { countOrders, listOrders } from '../orders/list-orders.ts';
import { type OrderRow, toOrderSummary } from '../orders/order-rows.ts';
import { placeOrder } from '../orders/place-order.ts';
import { lockOrder } from '../orders/lock-order.ts';
import { updateOrder } from '../orders/update-order.ts';

type Numbered = { readonly id: number; readonly version: number };

/** How a version of the API writes an order, and names its ETag. */
export type OrderForm<Summary, Whole extends Summary & Numbered> = {
  readonly tag: string;
  readonly summary: (order: OrderSummary) => Summary;
  readonly whole: (order: Order) => Whole;
  /** What it says of the delivery. */
  readonly wordsOf: (delivery: Order['delivery']) => Partial<Summary>;
};

type Asked = { readonly req: RoutedRequest; readonly res: Response };
type OfOrder = Asked & { readonly params: { readonly order_id: number } };

/** What the operations on orders do, in every version alike. */
export const orderHandlers = <Summary, Whole extends Summary & Numbered>(
  { em, readList, pages, taxMode, providers }: ResourceDeps & PaymentDeps,
  form: OrderForm<Summary, Whole>,
) => {
  const tagOf = (id: number): string => `${form.tag}-${id}`;
  const toItem = (row: OrderRow): Summary => form.summary(toOrderSummary(row));
  return {
    create: async ({ req, res }: Asked, body: OrderCreate) => {
      const buyer = { userId: buyerOf(principalOf(req), body), clientId: principalOf(req).clientId };
      const terms = { taxMode, wordsOf: form.wordsOf };
      returnCreatedEtag(res, tagOf);
      return onceInStatement<Whole>(em, req, res, (inner, claim) => placeOrder(inner, claim, terms, buyer, body));
    },

    list: async ({ req, res }: Asked, query: OrderListQuery) => {
      const { filters, sort, withItems } = orderListFromQuery(principalOf(req), query);
      // What its cursors belong to: the default sort is a sort like any other, and lines may be included on some pages only.
      const list = { ...query, sort: `${sort.descending ? '-' : ''}${sort.by}`, include: undefined };
      const position = pages.positionOf(req, list);
      const rows = await readList((from) => listOrders(from, filters, { sort, position, limit: query.limit, withItems }));
      const page = pages.answer(req, res, list, rows, toItem, (row) => [toOrderSummary(row)[sort.by], row.id]);
      return { status: 200 as const, body: { ...page, ...(await total(query, () => readList((from) => countOrders(from, filters)))) } };
    },

    get: async ({ params: { order_id: id }, req, res }: OfOrder) =>
      found(req, res, tagOf(id), form.whole(await findOrder(em, principalOf(req), id))),

    update: async ({ params: { order_id: id }, req, res }: OfOrder, changeOf: (delivery: Order['delivery']) => OrderUpdate) => {
      const updated = await em.transactional(async (inner) => {
        const locked = await lockOrder(inner, principalOf(req), id);
        requireMatch(req, tagOf(id), locked);
        const before = locked.version;
        await updateOrder(inner, principalOf(req), locked, changeOf(locked.delivery));
        const order = await findOrder(inner, principalOf(req), id);
        if (order.version !== before) await recordEvent(inner, 'order.updated', order, order.user_id);
        return order;
      });
      return changed(res, tagOf(id), form.whole(updated));
    },

    cancel: cancelHandler({ em, providers }, form.whole),
  };
};

const cancelHandler =
  <Whole>({ em, providers }: Pick<ResourceDeps & PaymentDeps, 'em' | 'providers'>, whole: (order: Order) => Whole) =>
  async ({ params: { order_id: id }, req, res }: OfOrder, body: OrderCancellation) => {
    const principal = principalOf(req);
    await requireOrder(em, principal, id, 'orders.manage');
    if (!isDryRun(req)) await cancelPaymentOf(em, providers, id, new Date());
    let refundId: number | undefined;
    const effect = async (inner: Em): Promise<Whole> => {
      if (isDryRun(req)) await assumePaymentCanceled(inner, id);
      const canceled = await cancelOrder(inner, principal, id, body, new Date());
      refundId = canceled.refundId;
      return whole(canceled.order);
    };
    const answer = await once(em, req, res, effect, () => `/api/v1/orders/${id}`);
    if (refundId !== undefined && !isDryRun(req)) await askForRefund(em, providers, refundId);
    return answer;
  };

function buyerOf(principal: Principal, { user_id: userId, discount_total: discount }: OrderCreate): number {
  const own = principal.user?.id;
  if (discount !== undefined && !may(principal, 'orders.manage')) {
    throw problem('forbidden', { detail: 'Giving a discount needs `orders.manage` and a member of staff.' });
  }
  if (userId === undefined && own !== undefined) return own;
  if (!may(principal, 'orders.manage') && (userId !== own || userId === undefined)) {
    throw problem('forbidden', { detail: 'Placing an order for somebody else needs `orders.manage` and a member of staff.' });
  }
  if (userId !== undefined) return userId;
  throw invalidRequest({
    in: 'body',
    pointer: '#/user_id',
    code: 'required',
    detail: 'This token acts for no person: say whose order it is.',
  });
}
