import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { deliveryMethodCode } from './delivery-methods.ts';
import { id, pathId, urlId, urlIdList } from '../../schema/ids.ts';
import { amount, currency, price } from '../../schema/money.ts';
import { commaList, page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, guarded, withBody, withCursor, withIdempotencyKey, withIfMatch } from '../../protocol/problems.ts';
import { describedBy, dryRunQuery, idempotencyHeaders, ifMatchHeaders, ifNoneMatchHeaders } from '../../protocol/route-metadata.ts';
import { instant, instantInput, line, metadata, metadataPatch, storedLine, text } from '../../schema/text.ts';

const c = initContract();

export const orderProblems = {
  out_of_stock: { status: 409, title: 'Not enough in stock' },
  price_changed: { status: 409, title: 'The price has changed' },
  product_unavailable: { status: 409, title: 'A product is not for sale' },
} as const;

const fails = failuresOf({ ...commonProblems, ...orderProblems });

export const orderStatuses = ['pending', 'paid', 'shipped', 'delivered', 'canceled'] as const;
export const paymentStatuses = ['unpaid', 'paid', 'partially_refunded', 'refunded'] as const;
export const fulfillmentStatuses = ['unfulfilled', 'partial', 'shipped', 'delivered'] as const;
export const cancelReasons = ['customer', 'staff', 'payment_expired', 'payment_failed', 'fraud', 'out_of_stock'] as const;
export const taxModes = ['inclusive', 'exclusive'] as const;
/** Lines of one order, and units of one line. */
export const orderLinesMax = 2_000;
export const quantityMax = 100_000;

const quantity = z.number().int().min(1).max(quantityMax);
const country = z.string().regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 code of two letters such as DE');

export const orderItem = component(
  'OrderItem',
  z.object({
    line: z.number().int().min(1).max(orderLinesMax).describe('Position in the order, from 1.'),
    product_id: id,
    sku: z.string().describe('As it was when the order was placed.'),
    name: z.string().describe('As it was when the order was placed.'),
    unit_price: price.describe('As it was when the order was placed, in minor units.'),
    quantity,
    shipped_quantity: z.number().int().min(0).max(quantityMax),
    restocked_quantity: z.number().int().min(0).max(quantityMax),
    tax_rate_bps: z.number().int().min(0).max(10_000),
    tax: amount,
    total: amount.describe('`unit_price` times `quantity`.'),
  }),
);

const deliveryFields = (oneLine: typeof line | typeof storedLine) => ({
  method: deliveryMethodCode.describe('Code of the delivery method.'),
  recipient_name: oneLine(200),
  phone: oneLine(32).optional(),
  line1: oneLine(200).optional().describe('Street and number; required when the method needs an address.'),
  line2: oneLine(200).optional(),
  city: oneLine(100).optional().describe('Required when the method needs an address.'),
  region: oneLine(100).optional(),
  postal_code: oneLine(20).optional(),
  country: country.optional().describe('ISO 3166-1 alpha-2; required when the method needs an address.'),
});

export const deliveryInput = component('DeliveryInput', z.object(deliveryFields(line)).strict());
export const delivery = component('Delivery', z.object(deliveryFields(storedLine)));

const orderFields = {
  id,
  user_id: id.describe('The customer.'),
  client_id: z.string().nullable().describe('The application that placed the order.'),
  status: z.enum(orderStatuses).describe('Where the goods stand.'),
  payment_status: z.enum(paymentStatuses).describe('Where the money stands.'),
  fulfillment_status: z.enum(fulfillmentStatuses).describe('Where the parcels stand.'),
  cancel_reason: z.enum(cancelReasons).nullable(),
  currency,
  tax_mode: z.enum(taxModes).describe('Whether prices contain the tax.'),
  subtotal: amount.describe('Sum of the lines.'),
  discount_total: amount,
  shipping_total: amount.describe('Price of the delivery.'),
  tax_total: amount,
  total: amount.describe('What the customer pays, in minor units of `currency`.'),
  refunded_total: amount,
  item_count: z.number().int().min(1).max(orderLinesMax).describe('How many lines the order has.'),
  delivery,
  reference: z.string().max(64).nullable().describe("The caller's own number of the order."),
  note: z.string().max(1000).nullable(),
  metadata,
  version: z.number().int().min(1).describe('Counts the changes.'),
  expires_at: instant.nullable().describe('Until when the goods are held for payment.'),
  created_at: instant,
  updated_at: instant,
  paid_at: instant.nullable(),
  shipped_at: instant.nullable(),
  delivered_at: instant.nullable(),
  canceled_at: instant.nullable(),
};

export const order = component('Order', z.object({ ...orderFields, items: z.array(orderItem).min(1).max(orderLinesMax) }));
export const orderSummary = component(
  'OrderSummary',
  z
    .object({
      ...orderFields,
      items: z.array(orderItem).min(1).max(orderLinesMax).optional().describe('The order lines; only with `include=items`.'),
    })
    .describe('An order in a list.'),
);
/** Orders on one page of a list that includes their lines. */
export const ordersWithItemsMax = 20;

export const orderCreate = component(
  'OrderCreate',
  z
    .object({
      items: z
        .array(component('OrderItemCreate', z.object({ product_id: id, quantity }).strict()))
        .min(1)
        .max(orderLinesMax)
        .describe('The same product may stand on several lines.'),
      delivery: deliveryInput,
      user_id: id.optional().describe('Place the order for this customer; needs `orders.manage` and a member of staff.'),
      discount_total: amount.optional().describe('Taken off the subtotal; needs `orders.manage` and a member of staff.'),
      total: amount.optional().describe('The total the customer was shown; a different one is refused with `price_changed`.'),
      reference: line(64).optional().describe('Your own number of the order.'),
      note: text(1000).optional(),
      metadata: metadata.default({}),
    })
    .strict(),
);

export const orderUpdate = component(
  'OrderUpdate',
  z
    .object({
      delivery: deliveryInput.describe('The whole delivery; the method may change where its price does not.'),
      reference: line(64).nullable().describe('Your own number of the order.'),
      note: text(1000).nullable(),
      metadata: metadataPatch,
    })
    .partial()
    .strict(),
);

export const orderCancellation = component(
  'OrderCancellation',
  z
    .object({
      reason: z.enum(['customer', 'staff', 'fraud', 'out_of_stock']).optional().describe('Other than `customer` is for members of staff.'),
      note: text(1000).optional().describe("Replaces the order's note."),
    })
    .strict(),
);

/** The path of an order, and of what belongs to it. */
export const orderPath = z.object({ order_id: pathId('Identifier of the order.') });

export const orders = c.router({
  create: {
    method: 'POST',
    path: '/orders',
    query: dryRunQuery,
    headers: idempotencyHeaders,
    body: orderCreate,
    summary: 'Place an order',
    description:
      'Takes the stock and fixes the prices at once. The order then waits for payment until `expires_at`. Send an `Idempotency-Key`, so that a repeated request does not order twice.',
    responses: {
      201: order,
      ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'out_of_stock', 'price_changed', 'product_unavailable'),
    },
    metadata: describedBy({
      operationId: 'orders.create',
      access: ['orders.write', 'orders.manage'],
      idempotent: true,
      returnsEtag: true,
      bodyMax: 1_000_000,
    }),
  },
  list: {
    method: 'GET',
    path: '/orders',
    query: z
      .object({
        ...pageQuery,
        status: commaList(orderStatuses).optional(),
        payment_status: commaList(paymentStatuses).optional(),
        fulfillment_status: commaList(fulfillmentStatuses).optional(),
        id: urlIdList('Only these orders: up to 100 identifiers, separated by commas.').optional(),
        client_id: line(2048).optional().describe('Only orders that this application placed.'),
        user_id: urlId.optional().describe("A customer's orders; other than your own need `orders.manage` and a member of staff."),
        reference: line(64).optional(),
        created_at_gte: instantInput.optional().describe('Placed at this moment or later.'),
        created_at_lt: instantInput.optional().describe('Placed before this moment.'),
        updated_at_gte: instantInput.optional().describe('Last changed at this timestamp or later; sorts by `updated_at`.'),
        updated_at_lt: instantInput.optional().describe('Last changed before this timestamp; sorts by `updated_at`.'),
        sort: z
          .enum(['created_at', '-created_at', 'updated_at', '-updated_at'])
          .optional()
          .describe('`-` is descending. The default is `-created_at`, or `updated_at` with a filter by `updated_at`.'),
        include: commaList(['items'])
          .optional()
          .describe(`\`items\` returns each order with its lines; \`limit\` is then at most ${ordersWithItemsMax}.`),
      })
      .strict(),
    summary: 'List orders',
    description:
      'The orders of the current user; every order, for a member of staff with `orders.manage`. Order lines are returned by `include=items`, and with the single order.',
    responses: { 200: page('OrderPage', orderSummary), ...fails(...guarded, ...withCursor) },
    metadata: describedBy({ operationId: 'orders.list', access: ['orders.read', 'orders.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/orders/:order_id',
    pathParams: orderPath,
    headers: ifNoneMatchHeaders,
    summary: 'Get an order',
    responses: { 200: order, 304: c.noBody(), ...fails(...guarded, 'not_found') },
    metadata: describedBy({ operationId: 'orders.get', access: ['orders.read', 'orders.manage'] }),
  },
  update: {
    method: 'PATCH',
    path: '/orders/:order_id',
    pathParams: orderPath,
    headers: ifMatchHeaders,
    body: orderUpdate,
    summary: 'Change an order',
    description:
      'A merge patch (RFC 7396) of what does not change the price. The delivery can change until something is shipped; by the customer only while the order is pending.',
    responses: { 200: order, ...fails(...guarded, ...withBody, ...withIfMatch, 'not_found', 'invalid_transition', 'price_changed') },
    metadata: describedBy({ operationId: 'orders.update', access: ['orders.write', 'orders.manage'] }),
  },
  cancel: {
    method: 'POST',
    path: '/orders/:order_id/cancellation',
    pathParams: orderPath,
    query: dryRunQuery,
    headers: idempotencyHeaders,
    body: orderCancellation,
    summary: 'Cancel an order',
    description: 'While nothing is shipped. The goods go back into stock, and what was paid is paid back.',
    responses: { 201: order, ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'not_found', 'invalid_transition') },
    metadata: describedBy({ operationId: 'orders.cancel', access: ['orders.write', 'orders.manage'], idempotent: true }),
  },
});
export type Order = z.output<typeof order>;
export type OrderSummary = z.output<typeof orderSummary>;
export type OrderCreate = z.output<typeof orderCreate>;
export type OrderUpdate = z.output<typeof orderUpdate>;
export type OrderCancellation = z.output<typeof orderCancellation>;
