import type { Order, OrderSummary, Payment, Refund, Shipment } from '@mandate/client-sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { apiClient, queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';

export type OrderWithEtag = { readonly order: Order; readonly etag: string | undefined };

/** Query for an order with its ETag, which updates send as `If-Match`. */
export const createOrderWithEtagQuery = (orderId: number | string) =>
  queryOptions({
    queryKey: [...queries.orders.get(orderId).queryKey, 'with etag'],
    queryFn: async ({ signal }): Promise<OrderWithEtag> => {
      const { data, headers } = await apiClient.orders.get(orderId, { signal }).withResponse();
      if (data === undefined) throw new Error('the order was not requested with If-None-Match');
      return { order: data, etag: headers.get('etag') ?? undefined };
    },
  });

/** Query for the order as a list entry. Unlike the order, the list entry contains the names of the customer and the application. */
export const createOrderSummaryQuery = (orderId: number) => queries.orders.list({ id: [orderId], include: ['customer', 'client'] });

export type OrderParts = {
  /** The order as a list entry, which contains the names of the customer and the application. */
  readonly summary: OrderSummary | undefined;
  readonly payments: readonly Payment[] | undefined;
  readonly refunds: readonly Refund[] | undefined;
  readonly shipments: readonly Shipment[] | undefined;
};

/** Returns the parts of an order that the user may see. */
export function useReadableOrderParts(orderId: number): OrderParts {
  const { can } = usePermissions();
  const limit = 100;
  const summary = useQuery(createOrderSummaryQuery(orderId));
  const payments = useQuery({ ...queries.payments.list(orderId, { limit }), enabled: can('payments.list') });
  const refunds = useQuery({ ...queries.refunds.list(orderId, { limit }), enabled: can('refunds.list') });
  const shipments = useQuery({ ...queries.shipments.list(orderId, { limit }), enabled: can('shipments.list') });
  return {
    summary: summary.data?.data[0],
    payments: payments.data?.data,
    refunds: refunds.data?.data,
    shipments: shipments.data?.data,
  };
}

/** Returns the paid amount that is neither refunded nor part of a pending refund, in minor units. */
export function getRefundableAmount(
  { total, refunded_total: refunded, payment_status: status }: Order,
  refunds: readonly Refund[] = [],
): number {
  if (status === 'unpaid') return 0;
  const pending = refunds.filter((refund) => refund.status === 'pending').reduce((sum, { amount }) => sum + amount, 0);
  return total - refunded - pending;
}

export const isShippable = ({ status, items }: Order): boolean =>
  (status === 'paid' || status === 'shipped') && items.some(({ quantity, shipped_quantity: shipped }) => quantity > shipped);

export const isCancelable = ({ status, fulfillment_status: fulfillment }: Order): boolean =>
  (status === 'pending' || status === 'paid') && fulfillment === 'unfulfilled';
