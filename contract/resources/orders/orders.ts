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
/** Maximum number of lines of one order. */
export const orderLinesMax = 2_000;
/** Maximum number of units of one order line. */
export const quantityMax = 100_000;

const quantity = z.number().int().min(1).max(quantityMax);
const country = z.string().regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 code of two letters such as DE');

export const orderItem = component(
  'OrderItem',
  z.object({
    line: z.number().int().min(1).max(orderLinesMax).describe('Line number, starting at 1.'),
    product_id: id,
    sku: z.string().describe('SKU of the product when the order was placed.'),
    name: z.string().describe('Name of the product when the order was placed.'),
    unit_price: price.describe('Unit price when the order was placed, in minor units.'),
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
  line1: oneLine(200).optional().describe('Street and number. Required if the delivery method requires an address.'),
  line2: oneLine(200).optional(),
  city: oneLine(100).optional().describe('City. Required if the delivery method requires an address.'),
  region: oneLine(100).optional(),
  postal_code: oneLine(20).optional(),
  country: country.optional().describe('ISO 3166-1 alpha-2 country code. Required if the delivery method requires an address.'),
});

export const deliveryInput = component('DeliveryInput', z.object(deliveryFields(line)).strict());
export const delivery = component('Delivery', z.object(deliveryFields(storedLine)));

const orderFields = {
  id,
  user_id: id.describe('ID of the customer.'),
  client_id: z.string().nullable().describe('Client ID of the application that placed the order.'),
  status: z.enum(orderStatuses).describe('Overall status of the order.'),
  payment_status: z.enum(paymentStatuses).describe('Payment status.'),
  fulfillment_status: z.enum(fulfillmentStatuses).describe('Shipping status.'),
  cancel_reason: z.enum(cancelReasons).nullable(),
  currency,
  tax_mode: z.enum(taxModes).describe('Whether prices include tax.'),
  subtotal: amount.describe('Sum of the line totals, in minor units of `currency`.'),
  discount_total: amount,
  shipping_total: amount.describe('Delivery price, in minor units of `currency`.'),
  tax_total: amount,
  total: amount.describe('Total amount to be paid, in minor units of `currency`.'),
  refunded_total: amount,
  item_count: z.number().int().min(1).max(orderLinesMax).describe('Number of order lines.'),
  delivery,
  reference: z.string().max(64).nullable().describe('Reference that the caller assigned to the order.'),
  note: z.string().max(1000).nullable(),
  metadata,
  version: z.number().int().min(1).describe('Version number, incremented by every change.'),
  expires_at: instant.nullable().describe('When the reservation of the goods expires if the order is not paid.'),
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
      items: z.array(orderItem).min(1).max(orderLinesMax).optional().describe('Order lines; only returned with `include=items`.'),
    })
    .describe('An order in a list. Its lines are included only with `include=items`.'),
);
/** Maximum number of orders on a page of a list that includes their lines. */
export const ordersWithItemsMax = 20;

export const orderCreate = component(
  'OrderCreate',
  z
    .object({
      items: z
        .array(component('OrderItemCreate', z.object({ product_id: id, quantity }).strict()))
        .min(1)
        .max(orderLinesMax)
        .describe('Order lines. Several lines can have the same product.'),
      delivery: deliveryInput,
      user_id: id
        .optional()
        .describe(
          'Customer for whom the order is placed (default: the current user). Requires the `orders.manage` scope and a staff account.',
        ),
      discount_total: amount
        .optional()
        .describe('Discount on the subtotal, in minor units. Requires the `orders.manage` scope and a staff account.'),
      total: amount
        .optional()
        .describe('Total that was shown to the customer. If the actual total differs, the order is rejected with `price_changed`.'),
      reference: line(64).optional().describe('Your own reference for the order.'),
      note: text(1000).optional(),
      metadata: metadata.default({}),
    })
    .strict(),
);

export const orderUpdate = component(
  'OrderUpdate',
  z
    .object({
      delivery: deliveryInput.describe('Complete delivery details. The method can only be changed to one with the same price.'),
      reference: line(64).nullable().describe('Your own reference for the order.'),
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
      reason: z
        .enum(['customer', 'staff', 'fraud', 'out_of_stock'])
        .optional()
        .describe(
          'Reason for the cancellation (default: `customer` for your own order, otherwise `staff`). All reasons except `customer` require the `orders.manage` scope and a staff account.',
        ),
      note: text(1000).optional().describe('New note of the order.'),
    })
    .strict(),
);

/** Path parameters of an order and its subresources. */
export const orderPath = z.object({ order_id: pathId('ID of the order.') });

export const orders = c.router({
  create: {
    method: 'POST',
    path: '/orders',
    query: dryRunQuery,
    headers: idempotencyHeaders,
    body: orderCreate,
    summary: 'Place an order',
    description:
      'Reserves the stock and fixes the prices immediately. The order can then be paid until `expires_at`. Send an `Idempotency-Key`, so that a retry does not place a second order.',
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
        id: urlIdList('Only these orders: up to 100 comma-separated IDs.').optional(),
        client_id: line(2048).optional().describe('Only orders that were placed by the application with this client ID.'),
        user_id: urlId
          .optional()
          .describe('Only orders of this customer. The orders of other customers require the `orders.manage` scope and a staff account.'),
        reference: line(64).optional(),
        created_at_gte: instantInput.optional().describe('Only orders placed at this time or later.'),
        created_at_lt: instantInput.optional().describe('Only orders placed before this time.'),
        updated_at_gte: instantInput
          .optional()
          .describe('Only orders last changed at this time or later. Changes the default sort order to `updated_at`.'),
        updated_at_lt: instantInput
          .optional()
          .describe('Only orders last changed before this time. Changes the default sort order to `updated_at`.'),
        sort: z
          .enum(['created_at', '-created_at', 'updated_at', '-updated_at'])
          .optional()
          .describe('Sort order; `-` means descending (default: `updated_at` with a filter by `updated_at`, otherwise `-created_at`).'),
        include: commaList(['items'])
          .optional()
          .describe(`\`items\` returns each order with its lines. The maximum \`limit\` is then ${ordersWithItemsMax}.`),
      })
      .strict(),
    summary: 'List orders',
    description:
      'Returns the orders of the current user. With the `orders.manage` scope and a staff account, returns the orders of every customer. Order lines are returned only with `include=items`, or when getting a single order.',
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
    summary: 'Update an order',
    description:
      'Updates the fields in a JSON merge patch (RFC 7396). The price cannot change. Staff can change the delivery until a part of the order is shipped, customers only while the order is pending.',
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
    description: 'Cancels an order of which nothing has been shipped. The goods are returned to stock, and the payment is refunded.',
    responses: { 201: order, ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'not_found', 'invalid_transition') },
    metadata: describedBy({ operationId: 'orders.cancel', access: ['orders.write', 'orders.manage'], idempotent: true }),
  },
});
export type Order = z.output<typeof order>;
export type OrderSummary = z.output<typeof orderSummary>;
export type OrderCreate = z.output<typeof orderCreate>;
export type OrderUpdate = z.output<typeof orderUpdate>;
export type OrderCancellation = z.output<typeof orderCancellation>;
