import { defineEntity, p } from '@mikro-orm/core';
import {
  type Order as OrderBody,
  orderCancelReasons,
  orderFulfillmentStatuses,
  orderStatuses,
  orderPaymentStatuses,
  taxModes,
} from '@mandate/contract';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { Product } from '../products/product-stock-and-adjustment.entity.ts';
import { User } from '../users/user.entity.ts';

/** Each order status with its usual fulfillment status, as `fulfillment/status`. */
const usualPairs = ['unfulfilled/pending', 'unfulfilled/paid', 'unfulfilled/canceled', 'shipped/shipped', 'delivered/delivered'];
export const commonFulfillmentAndStatusPairs: ReadonlySet<string> = new Set(usualPairs);
export const isUncommonFulfillmentAndStatusPairSql = `(fulfillment_status || '/' || status) not in (${usualPairs.map((pair) => `'${pair}'`).join(', ')})`;

const schema = defineEntity({
  name: 'Order',
  tableName: 'orders',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    user: () => p.manyToOne(User).ref().deleteRule('no action').updateRule('no action'),
    /** The client that placed the order. */
    clientId: p.text().nullable(),
    status: p.enum(orderStatuses),
    paymentStatus: p.enum(orderPaymentStatuses).default('unpaid'),
    fulfillmentStatus: p.enum(orderFulfillmentStatuses).default('unfulfilled'),
    cancelReason: p.enum(orderCancelReasons).nullable(),
    currency: p.character().length(3),
    taxMode: p.enum(taxModes).default('inclusive'),
    subtotal: p.bigint('number').check('subtotal >= 0'),
    discountTotal: p.bigint('number').default(0).check('discount_total >= 0 and discount_total <= subtotal'),
    shippingTotal: p.bigint('number').check('shipping_total >= 0'),
    taxTotal: p.bigint('number').check('tax_total >= 0'),
    total: p.bigint('number').check('total >= 0 and total <= 9007199254740991'),
    refundedTotal: p.bigint('number').default(0).check('refunded_total >= 0 and refunded_total <= total'),
    itemCount: p.integer().check('item_count >= 1 and item_count <= 2000'),
    delivery: p.json<OrderBody['delivery']>(),
    reference: p.text().nullable().check('length(reference) <= 64'),
    note: p.text().nullable().check('length(note) <= 1000'),
    metadata: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    version: p.integer().version(),
    expiresAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p
      .datetime(3)
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
    paidAt: p.datetime(3).nullable(),
    shippedAt: p.datetime(3).nullable(),
    deliveredAt: p.datetime(3).nullable(),
    canceledAt: p.datetime(3).nullable(),
  },
  checks: [
    { name: 'orders_unpaid', expression: `payment_status <> 'unpaid' or status in ('pending', 'canceled')` },
    { name: 'orders_total_inclusive', expression: `tax_mode <> 'inclusive' or total = subtotal - discount_total + shipping_total` },
    {
      name: 'orders_total_exclusive',
      expression: `tax_mode <> 'exclusive' or total = subtotal - discount_total + shipping_total + tax_total`,
    },
  ],
  triggers: [
    {
      name: 'record_statistics',
      timing: 'before',
      events: ['insert', 'update', 'delete'],
      expression:
        'create trigger record_statistics before insert or update or delete on orders for each row execute function record_order_statistics()',
    },
  ],
  // Every list runs one index scan per status, so that its plan does not depend on the distribution of statuses, which changes over time.
  indexes: [
    { name: 'orders_status_created', properties: ['status', 'createdAt', 'id'] },
    { name: 'orders_user_status_created', properties: ['user', 'status', 'createdAt', 'id'] },
    // This index is for lists filtered by payment status. The index excludes unpaid orders, so that inserting a new order usually adds no
    // entry. Lists of unpaid orders use the status index, because only pending and canceled orders can be unpaid. The index is on one
    // expression that combines both statuses, so that no plan uses an index on only one of the statuses and filters by the other.
    {
      name: 'orders_both_statuses_created',
      expression: `create index orders_both_statuses_created on orders ((payment_status || '/' || status), created_at, id) where payment_status <> 'unpaid'`,
    },
    {
      name: 'orders_unusual_fulfillment_created',
      expression: `create index orders_unusual_fulfillment_created on orders ((fulfillment_status || '/' || status), created_at, id) where ${isUncommonFulfillmentAndStatusPairSql}`,
    },
    { name: 'orders_client_status_created', properties: ['clientId', 'status', 'createdAt', 'id'] },
    { name: 'orders_updated', properties: ['updatedAt', 'id'] },
    { name: 'orders_expiry', properties: ['expiresAt'], where: `status = 'pending'` },
    { name: 'orders_reference', properties: ['reference'], where: 'reference is not null' },
  ],
});

type CancelReason = (typeof orderCancelReasons)[number];

/** An order. Only the methods of this class change the status, the payment status and the fulfillment status. */
export class Order extends schema.class {
  markPaid(now: Date): void {
    if (this.status !== 'pending') throw invalidTransition(this, 'paid');
    this.status = 'paid';
    this.paymentStatus = 'paid';
    this.paidAt = now;
    this.expiresAt = null;
  }

  /** Cancels the order if nothing has been shipped. The caller must put the order's goods back into stock. */
  cancel(reason: CancelReason, now: Date): void {
    const cancelable = this.status === 'pending' || (this.status === 'paid' && this.fulfillmentStatus === 'unfulfilled');
    if (!cancelable) throw invalidTransition(this, 'canceled');
    this.status = 'canceled';
    this.cancelReason = reason;
    this.canceledAt = now;
    this.expiresAt = null;
  }

  /** Records a payment that arrived after the cancellation; the payment will be refunded. */
  markPaidLate(now: Date): void {
    if (this.status !== 'canceled') throw invalidTransition(this, 'paid late');
    this.paymentStatus = 'paid';
    this.paidAt = now;
  }

  /** Extends the reservation to at least this time, for a payment that takes a long time. */
  extendReservation(until: Date): void {
    if (this.status === 'pending' && this.expiresAt && this.expiresAt < until) this.expiresAt = until;
  }

  /** Shortens the reservation so that it ends no later than this time. */
  shortenReservation(until: Date): void {
    if (this.status === 'pending' && this.expiresAt && this.expiresAt > until) this.expiresAt = until;
  }

  /** Sets the fulfillment status. Undelivered goods that were returned do not count as shipped, but the status remains `shipped`. */
  markShipped(shippedPart: 'nothing' | 'part' | 'all', now: Date): void {
    if (this.status === 'canceled' || this.status === 'delivered') return;
    if (this.status === 'pending') throw invalidTransition(this, 'shipped');
    this.fulfillmentStatus = ({ nothing: 'unfulfilled', part: 'partial', all: 'shipped' } as const)[shippedPart];
    if (shippedPart !== 'all' || this.status === 'shipped') return;
    this.status = 'shipped';
    this.shippedAt = now;
  }

  markDelivered(now: Date): void {
    if (this.status !== 'shipped' || this.fulfillmentStatus !== 'shipped') throw invalidTransition(this, 'delivered');
    this.status = 'delivered';
    this.fulfillmentStatus = 'delivered';
    this.deliveredAt = now;
  }

  /** Sets the total amount refunded so far. A refund never changes the status or the fulfillment status. */
  markRefunded(refundedTotal: number): void {
    this.refundedTotal = refundedTotal;
    this.paymentStatus = refundedTotal >= this.total ? 'refunded' : 'partially_refunded';
  }
}
schema.setClass(Order);

// This function is not a private method, because MikroORM creates entities without calling the constructor.
const invalidTransition = ({ status, fulfillmentStatus }: Order, next: string): Problem =>
  createProblem('invalid_transition', {
    detail: translatable`The order has the status ${{ status }} (${{ fulfillmentStatus }}), which cannot be changed to ${{ next }}.`,
  });

export const OrderItem = defineEntity({
  name: 'OrderItem',
  tableName: 'order_items',
  properties: {
    order: () => p.manyToOne(Order).primary().ref().deleteRule('no action').updateRule('no action'),
    line: p.integer().primary(),
    product: () => p.manyToOne(Product).ref().deleteRule('no action').updateRule('no action'),
    sku: p.text(),
    name: p.text(),
    unitPrice: p.bigint('number'),
    quantity: p.integer().check('quantity >= 1 and quantity <= 100000'),
    shippedQuantity: p.integer().default(0),
    restockedQuantity: p.integer().default(0),
    taxRateBps: p.integer(),
    tax: p.bigint('number'),
    total: p.bigint('number'),
  },
  checks: [
    { name: 'order_items_shipped', expression: 'shipped_quantity >= 0 and shipped_quantity <= quantity' },
    { name: 'order_items_restocked', expression: 'restocked_quantity >= 0 and restocked_quantity <= quantity' },
  ],
  triggers: [
    {
      name: 'record_inserted_statistics',
      timing: 'after',
      events: ['insert'],
      expression:
        'create trigger record_inserted_statistics after insert on order_items referencing new table as changed_lines for each statement execute function record_order_line_statistics()',
    },
    {
      name: 'record_deleted_statistics',
      timing: 'after',
      events: ['delete'],
      expression:
        'create trigger record_deleted_statistics after delete on order_items referencing old table as changed_lines for each statement execute function record_order_line_statistics()',
    },
    {
      name: 'record_updated_statistics',
      timing: 'after',
      events: ['update'],
      expression:
        'create trigger record_updated_statistics after update of order_id, product_id, quantity, total on order_items for each row execute function record_changed_order_line_statistics()',
    },
  ],
  indexes: [{ name: 'order_items_product', properties: ['product', 'order'] }],
});
