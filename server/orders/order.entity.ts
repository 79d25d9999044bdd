import { defineEntity, p } from '@mikro-orm/core';
import { type Order as OrderBody, cancelReasons, fulfillmentStatuses, orderStatuses, paymentStatuses, taxModes } from '@mandate/contract';
import { problem, type Problem } from '../http/problem-details/problem.ts';
import { Product } from '../products/product.entity.ts';
import { User } from '../users/user.entity.ts';

/** Fulfillment status and status that usually go together, as `unfulfilled/pending`: one pair for each status. */
const usualPairs = ['unfulfilled/pending', 'unfulfilled/paid', 'unfulfilled/canceled', 'shipped/shipped', 'delivered/delivered'];
export const usualFulfillment: ReadonlySet<string> = new Set(usualPairs);
export const unusualFulfillmentSql = `(fulfillment_status || '/' || status) not in (${usualPairs.map((pair) => `'${pair}'`).join(', ')})`;

const schema = defineEntity({
  name: 'Order',
  tableName: 'orders',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    user: () => p.manyToOne(User).ref().deleteRule('no action').updateRule('no action'),
    /** The application that placed it. */
    clientId: p.text().nullable(),
    status: p.enum(orderStatuses),
    paymentStatus: p.enum(paymentStatuses).default('unpaid'),
    fulfillmentStatus: p.enum(fulfillmentStatuses).default('unfulfilled'),
    cancelReason: p.enum(cancelReasons).nullable(),
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
  // Every list is one index scan per status, so that its plan does not depend on how statuses age.
  indexes: [
    { name: 'orders_status_created', properties: ['status', 'createdAt', 'id'] },
    { name: 'orders_user_status_created', properties: ['user', 'status', 'createdAt', 'id'] },
    // Staff ask for it; a new order is unpaid as a rule, and costs nothing here. Only what is pending or canceled can be unpaid.
    // One value of both statuses, so that no plan can fall back to the index of one and filter by the other.
    {
      name: 'orders_both_statuses_created',
      expression: `create index orders_both_statuses_created on orders ((payment_status || '/' || status), created_at, id) where payment_status <> 'unpaid'`,
    },
    {
      name: 'orders_unusual_fulfillment_created',
      expression: `create index orders_unusual_fulfillment_created on orders ((fulfillment_status || '/' || status), created_at, id) where ${unusualFulfillmentSql}`,
    },
    { name: 'orders_client_status_created', properties: ['clientId', 'status', 'createdAt', 'id'] },
    { name: 'orders_updated', properties: ['updatedAt', 'id'] },
    { name: 'orders_expiry', properties: ['expiresAt'], where: `status = 'pending'` },
    { name: 'orders_reference', properties: ['reference'], where: 'reference is not null' },
  ],
});

type CancelReason = (typeof cancelReasons)[number];

/** Where the goods stand, and the money and the parcels beside it. Nobody sets these from outside. */
export class Order extends schema.class {
  markPaid(now: Date): void {
    if (this.status !== 'pending') throw impossible(this, 'paid');
    this.status = 'paid';
    this.paymentStatus = 'paid';
    this.paidAt = now;
    this.expiresAt = null;
  }

  /** Until something is shipped. Its goods go back into stock, which is not done here. */
  cancel(reason: CancelReason, now: Date): void {
    const cancelable = this.status === 'pending' || (this.status === 'paid' && this.fulfillmentStatus === 'unfulfilled');
    if (!cancelable) throw impossible(this, 'canceled');
    this.status = 'canceled';
    this.cancelReason = reason;
    this.canceledAt = now;
    this.expiresAt = null;
  }

  /** Money for an order that was given up in the meantime: it goes back, but it did arrive. */
  markPaidLate(now: Date): void {
    if (this.status !== 'canceled') throw impossible(this, 'paid late');
    this.paymentStatus = 'paid';
    this.paidAt = now;
  }

  /** Keeps the goods longer for a payment that takes long. */
  holdAtLeast(until: Date): void {
    if (this.status === 'pending' && this.expiresAt && this.expiresAt < until) this.expiresAt = until;
  }

  holdAtMost(until: Date): void {
    if (this.status === 'pending' && this.expiresAt && this.expiresAt > until) this.expiresAt = until;
  }

  /** How much of it has left. What left and came back undelivered has not: the order stays shipped, until it is shipped again. */
  markShipped(left: 'nothing' | 'part' | 'all', now: Date): void {
    if (this.status === 'canceled' || this.status === 'delivered') return;
    if (this.status === 'pending') throw impossible(this, 'shipped');
    this.fulfillmentStatus = ({ nothing: 'unfulfilled', part: 'partial', all: 'shipped' } as const)[left];
    if (left !== 'all' || this.status === 'shipped') return;
    this.status = 'shipped';
    this.shippedAt = now;
  }

  markDelivered(now: Date): void {
    if (this.status !== 'shipped' || this.fulfillmentStatus !== 'shipped') throw impossible(this, 'delivered');
    this.status = 'delivered';
    this.fulfillmentStatus = 'delivered';
    this.deliveredAt = now;
  }

  /** What was paid back so far, in all. A refund never changes where the goods stand. */
  markRefunded(refundedTotal: number): void {
    this.refundedTotal = refundedTotal;
    this.paymentStatus = refundedTotal >= this.total ? 'refunded' : 'partially_refunded';
  }
}
schema.setClass(Order);

// Not a private method: the ORM makes entities without their constructor.
const impossible = ({ status, fulfillmentStatus }: Order, next: string): Problem =>
  problem('invalid_transition', { detail: `The order is ${status} (${fulfillmentStatus}); it cannot become ${next}.` });

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
  indexes: [{ name: 'order_items_product', properties: ['product', 'order'] }],
});
