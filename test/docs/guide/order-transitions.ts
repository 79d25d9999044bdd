import { orderFulfillmentStatuses, orderStatuses, type Order as OrderBody } from '@mandate/contract';
import { Order } from '../../../server/orders/order-and-order-item.entity.ts';

type OrderStatus = OrderBody['status'];

export type OrderTransition = {
  readonly from: OrderStatus | 'new';
  readonly to: OrderStatus;
  /** Short description of the cause, for the diagram. */
  readonly label: string;
  readonly cause: string;
  readonly operations: readonly string[];
  readonly event: string;
};

/** The documented transitions, which `guide-tables.test.ts` compares with the result of `findPossibleTransitions`. */
export const orderTransitions: readonly OrderTransition[] = [
  {
    from: 'new',
    to: 'pending',
    label: 'order placed',
    cause: 'the order is placed',
    operations: ['orders.create'],
    event: 'order.created',
  },
  {
    from: 'pending',
    to: 'paid',
    label: 'payment succeeds',
    cause: 'a payment succeeds',
    operations: ['payments.create', 'payments.confirm'],
    event: 'order.paid',
  },
  {
    from: 'pending',
    to: 'canceled',
    label: 'canceled or expired',
    cause: 'the customer or staff cancel the order, or it is not paid before `expires_at`',
    operations: ['orders.cancel'],
    event: 'order.canceled',
  },
  {
    from: 'paid',
    to: 'canceled',
    label: 'canceled and refunded',
    cause: 'the customer or staff cancel the order before any part of it has been shipped; the payment is refunded',
    operations: ['orders.cancel'],
    event: 'order.canceled',
  },
  {
    from: 'paid',
    to: 'shipped',
    label: 'everything shipped',
    cause: 'the last part of the goods is shipped',
    operations: ['shipments.create', 'shipments.update'],
    event: 'order.shipped',
  },
  {
    from: 'shipped',
    to: 'delivered',
    label: 'everything delivered',
    cause: 'every shipment has been delivered',
    operations: ['shipments.create', 'shipments.update'],
    event: 'order.delivered',
  },
];

const now = new Date(0);
const changes: readonly ((order: Order) => void)[] = [
  (order) => order.markPaid(now),
  (order) => order.markPaidLate(now),
  (order) => order.cancel('customer', now),
  (order) => order.markShipped('nothing', now),
  (order) => order.markShipped('part', now),
  (order) => order.markShipped('all', now),
  (order) => order.markDelivered(now),
  (order) => order.markRefunded(1),
  (order) => order.extendReservation(now),
  (order) => order.shortenReservation(now),
];

/** Attempts each change in each state of the server's order entity, and returns every possible status change in the form `from to`. */
export function findPossibleTransitions(): string[] {
  const pairs = orderStatuses.flatMap((status) =>
    orderFulfillmentStatuses.flatMap((fulfillmentStatus) =>
      changes.flatMap((change) => {
        const order = Object.assign(new Order(), { status, fulfillmentStatus, paymentStatus: 'paid', total: 1, expiresAt: null });
        try {
          change(order);
        } catch {
          return []; // the order does not allow this change
        }
        return order.status === status ? [] : [`${status} ${order.status}`];
      }),
    ),
  );
  return [...new Set(pairs)].toSorted();
}

/** Returns the diagram of the transitions in Mermaid, which GitHub and most Markdown viewers render. */
export function formatOrderDiagram(): string {
  const lines = orderTransitions.map(({ from, to, label }) => `  ${from === 'new' ? '[*]' : from} --> ${to}: ${label}`);
  return ['stateDiagram-v2', ...lines].join('\n');
}
