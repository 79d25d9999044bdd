import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { taxModes, type Quote as QuoteBody } from '@mandate/contract';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { Product } from '../products/product-stock-and-adjustment.entity.ts';
import { User } from '../users/user.entity.ts';

/**
 * A line of a quote. The line stores the number of units that were available when the quote was created, so that the quote never changes.
 */
export type QuotedLine = QuoteBody['items'][number];

/**
 * The price of an order that has not been placed yet. The status is not stored. A quote is converted if it has an order, canceled if it has
 * a cancellation time, and otherwise open until it expires.
 */
export const Quote = defineEntity({
  name: 'Quote',
  tableName: 'quotes',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    user: () => p.manyToOne(User).ref().deleteRule('no action').updateRule('no action'),
    /** The client that requested the quote. */
    clientId: p.text(),
    /** The grant that authorized the quote request; null if no grant authorized it. */
    grantId: p.text().nullable(),
    currency: p.character().length(3),
    taxMode: p.enum(taxModes),
    subtotal: p.bigint('number').check('subtotal >= 0'),
    discountTotal: p.bigint('number').check('discount_total >= 0 and discount_total <= subtotal'),
    shippingTotal: p.bigint('number').check('shipping_total >= 0'),
    taxTotal: p.bigint('number').check('tax_total >= 0'),
    total: p.bigint('number').check('total >= 0 and total <= 9007199254740991'),
    items: p.json<QuotedLine[]>(),
    itemCount: p.integer().formula(({ items }) => `jsonb_array_length(${items})`),
    /** Whether enough units of every product were available when the quote was created. */
    isAvailable: p.boolean().formula(({ items }) => `not ${items} @> '[{"is_available": false}]'`),
    delivery: p.json<QuoteBody['delivery']>(),
    reference: p.text().nullable().check('length(reference) <= 64'),
    note: p.text().nullable().check('length(note) <= 1000'),
    metadata: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    /** Whether stock is reserved for the quote until the quote expires or is converted or canceled. */
    hold: p.boolean(),
    /** Result of checking the order against the grant's limits when the quote was created; null if the grant had no limits. */
    limits: p.json<NonNullable<QuoteBody['limits']>>().nullable(),
    order: () => p.oneToOne(Order).ref().nullable().unique().deleteRule('no action').updateRule('no action'),
    /** The client that placed the order from this quote. */
    orderClientId: p
      .text()
      .nullable()
      .formula(({ order }) => `(select o.client_id from orders o where o.id = ${order})`),
    version: p.integer().version(),
    expiresAt: p.datetime(3),
    convertedAt: p.datetime(3).nullable(),
    canceledAt: p.datetime(3).nullable(),
    /** Time at which the expiration event was recorded and the reserved stock was released. */
    expirationReportedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p
      .datetime(3)
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
  checks: [
    { name: 'quotes_converted', expression: '(order_id is null) = (converted_at is null)' },
    { name: 'quotes_ended_once', expression: 'num_nonnulls(order_id, canceled_at, expiration_reported_at) <= 1' },
  ],
  indexes: [
    { name: 'quotes_created', properties: ['createdAt', 'id'] },
    { name: 'quotes_user_created', properties: ['user', 'createdAt', 'id'] },
    { name: 'quotes_client_created', properties: ['clientId', 'createdAt', 'id'] },
    {
      name: 'quotes_expiration',
      properties: ['expiresAt'],
      where: 'order_id is null and canceled_at is null and expiration_reported_at is null',
    },
    { name: 'quotes_deletion', properties: ['expiresAt'], where: 'order_id is null' },
  ],
});
export type QuoteEntity = InferEntity<typeof Quote>;

/** Units of a product that a quote has reserved. The row is deleted when the units are released or become part of an order. */
export const QuoteReservation = defineEntity({
  name: 'QuoteReservation',
  tableName: 'quote_reservations',
  properties: {
    quote: p.manyToOne(Quote).mapToPk().primary().deleteRule('cascade').updateRule('no action'),
    product: p.manyToOne(Product).mapToPk().primary().deleteRule('no action').updateRule('no action'),
    quantity: p.integer().check('quantity >= 1'),
  },
  indexes: [{ name: 'quote_reservations_product', properties: ['product'] }],
});
