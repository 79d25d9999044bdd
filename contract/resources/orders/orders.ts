import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import {
  orderCustomerAndClientIncludeFields,
  orderIncludeParameterSchema,
  orderSearchTextSchema,
} from './order-list-include-and-search-parameters.ts';
import { idSchema, pathIdSchema, idInUrlSchema, commaSeparatedIdsSchema } from '../../schema/ids.ts';
import { amountSchema, currencySchema, priceSchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  ifMatchFailureCodes,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { unitsPerOrderLineSchema as quantity, maxLineQuantity, maxOrderLines, orderCreateSchema } from './order-create-schema.ts';
import { orderDeliveryInputSchema, orderDeliverySchema } from './order-delivery-schemas.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  declareRouteMetadata,
  dryRunQuerySchema,
  idempotencyHeadersSchema,
  ifMatchHeadersSchema,
  ifNoneMatchHeadersSchema,
} from '../../protocol/route-metadata.ts';
import {
  timestampSchema,
  timestampInputSchema,
  singleLineInputSchema,
  lengthLimitedTextSchema,
  metadataSchema,
  metadataPatchSchema,
  multilineTextSchema,
} from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const orderProblemTypes = {
  out_of_stock: { status: 409, title: 'Not enough in stock' },
  price_changed: { status: 409, title: 'The price has changed' },
  product_unavailable: { status: 409, title: 'A product is not for sale' },
  quote_not_open: { status: 409, title: 'The quote can no longer be used' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...orderProblemTypes });
export const orderPlacementProblemCodes = ['limit_exceeded', 'out_of_stock', 'price_changed', 'product_unavailable'] as const;

export const orderStatuses = ['pending', 'paid', 'shipped', 'delivered', 'canceled'] as const;
export const orderPaymentStatuses = ['unpaid', 'paid', 'partially_refunded', 'refunded'] as const;
export const orderFulfillmentStatuses = ['unfulfilled', 'partial', 'shipped', 'delivered'] as const;
export const orderCancelReasons = ['customer', 'staff', 'payment_expired', 'payment_failed', 'fraud', 'out_of_stock'] as const;
export const taxModes = ['inclusive', 'exclusive'] as const;
export const orderItemSchema = withSchemaName(
  'OrderItem',
  z.object({
    line: z.number().int().min(1).max(maxOrderLines).describe('Line number, starting at 1.'),
    product_id: idSchema,
    sku: z.string().describe('SKU of the product when the order was placed.'),
    name: z.string().describe('Name of the product when the order was placed.'),
    unit_price: priceSchema.describe('Unit price when the order was placed, in minor units.'),
    quantity,
    shipped_quantity: z.number().int().min(0).max(maxLineQuantity),
    restocked_quantity: z.number().int().min(0).max(maxLineQuantity),
    tax_rate_bps: z.number().int().min(0).max(10_000),
    tax: amountSchema,
    total: amountSchema.describe('`unit_price` times `quantity`.'),
  }),
);

const orderFields = {
  id: idSchema,
  user_id: idSchema.describe('ID of the customer.'),
  client_id: z.string().nullable().describe('Client ID of the application that placed the order.'),
  status: z.enum(orderStatuses).describe('Overall status of the order.'),
  payment_status: z.enum(orderPaymentStatuses).describe('Payment status.'),
  fulfillment_status: z.enum(orderFulfillmentStatuses).describe('Shipping status.'),
  cancel_reason: z.enum(orderCancelReasons).nullable(),
  currency: currencySchema,
  tax_mode: z.enum(taxModes).describe('Whether prices include tax.'),
  subtotal: amountSchema.describe('Sum of the line totals, in minor units of `currency`.'),
  discount_total: amountSchema,
  shipping_total: amountSchema.describe('Delivery price, in minor units of `currency`.'),
  tax_total: amountSchema,
  total: amountSchema.describe('Total amount to be paid, in minor units of `currency`.'),
  refunded_total: amountSchema,
  item_count: z.number().int().min(1).max(maxOrderLines).describe('Number of order lines.'),
  delivery: orderDeliverySchema,
  reference: lengthLimitedTextSchema(64).nullable().describe('Reference that the caller assigned to the order.'),
  note: lengthLimitedTextSchema(1000).nullable(),
  metadata: metadataSchema,
  version: z.number().int().min(1).describe('Version number, incremented on every change.'),
  expires_at: timestampSchema.nullable().describe('Time at which the stock reservation expires unless the order is paid.'),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  paid_at: timestampSchema.nullable(),
  shipped_at: timestampSchema.nullable(),
  delivered_at: timestampSchema.nullable(),
  canceled_at: timestampSchema.nullable(),
};

export const orderSchema = withSchemaName('Order', z.object({ ...orderFields, items: z.array(orderItemSchema).min(1).max(maxOrderLines) }));
export const orderSummarySchema = withSchemaName(
  'OrderSummary',
  z
    .object({
      ...orderFields,
      ...orderCustomerAndClientIncludeFields,
      items: z.array(orderItemSchema).min(1).max(maxOrderLines).optional().describe('Order lines; returned only with `include=items`.'),
    })
    .describe('An order in a list. The lines are included only with `include=items`.'),
);

export const orderUpdateSchema = withSchemaName(
  'OrderUpdate',
  z
    .object({
      delivery: orderDeliveryInputSchema.describe(
        'Complete delivery details. The delivery method can only be changed to one with the same price.',
      ),
      reference: singleLineInputSchema(64).nullable().describe('Your own reference for the order.'),
      note: multilineTextSchema(1000).nullable(),
      metadata: metadataPatchSchema,
    })
    .partial()
    .strict(),
);

export const orderCancelRequestSchema = withSchemaName(
  'OrderCancellation',
  z
    .object({
      reason: z
        .enum(['customer', 'staff', 'fraud', 'out_of_stock'])
        .optional()
        .describe(
          'Reason for the cancellation (default: `customer` for your own order, otherwise `staff`). All reasons except `customer` require the `orders.manage` scope and a staff account.',
        ),
      note: multilineTextSchema(1000).optional().describe('New note for the order.'),
    })
    .strict(),
);

/** Path parameters for an order and its subresources. */
export const orderPathParametersSchema = z.object({ order_id: pathIdSchema('ID of the order.') });

export const orderRoutes = defineResource('Orders', 'Customer orders.', {
  create: {
    method: 'POST',
    path: '/orders',
    query: dryRunQuerySchema,
    headers: idempotencyHeadersSchema,
    body: orderCreateSchema,
    summary: 'Place an order',
    description:
      'Reserves the stock and locks in the prices immediately. The order can then be paid until `expires_at`. With `quote_id`, the order has the contents and prices of the quote, which can be used for only one order. Send an `Idempotency-Key`, so that a retry does not place a second order.',
    responses: {
      201: orderSchema,
      ...fails(...problemCodesOfAuthorizedPosts, ...orderPlacementProblemCodes, 'quote_not_open'),
    },
    metadata: declareRouteMetadata({
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
        ...paginationParameters,
        status: commaSeparatedEnumSchema(orderStatuses).optional(),
        payment_status: commaSeparatedEnumSchema(orderPaymentStatuses).optional(),
        fulfillment_status: commaSeparatedEnumSchema(orderFulfillmentStatuses).optional(),
        id: commaSeparatedIdsSchema('Only the orders with these IDs (at most 100, comma-separated).').optional(),
        client_id: singleLineInputSchema(2048).optional().describe('Only orders that were placed by the application with this client ID.'),
        user_id: idInUrlSchema
          .optional()
          .describe('Only orders of this customer. Listing the orders of other customers requires `orders.manage` and a staff account.'),
        reference: singleLineInputSchema(64).optional(),
        q: orderSearchTextSchema,
        created_at_gte: timestampInputSchema.optional().describe('Only orders placed at this time or later.'),
        created_at_lt: timestampInputSchema.optional().describe('Only orders placed before this time.'),
        updated_at_gte: timestampInputSchema
          .optional()
          .describe('Only orders last changed at this time or later. Changes the default sort order to `updated_at`.'),
        updated_at_lt: timestampInputSchema
          .optional()
          .describe('Only orders last changed before this time. Changes the default sort order to `updated_at`.'),
        sort: z
          .enum(['created_at', '-created_at', 'updated_at', '-updated_at'])
          .optional()
          .describe('Sort order; `-` means descending (default: `updated_at` when filtering by `updated_at`, otherwise `-created_at`).'),
        include: orderIncludeParameterSchema,
      })
      .strict(),
    summary: 'List orders',
    description:
      'Returns the orders of the current user. With the `orders.manage` scope and a staff account, returns the orders of every customer. Order lines are included only with `include=items` or in the response for a single order.',
    responses: {
      200: listPageSchema('OrderPage', orderSummarySchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'orders.list', access: ['orders.read', 'orders.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/orders/:order_id',
    pathParams: orderPathParametersSchema,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get an order',
    description: "Returns the order with its items. The `orders.read` scope gives access only to the user's own orders.",
    responses: { 200: orderSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'orders.get', access: ['orders.read', 'orders.manage'] }),
  },
  update: {
    method: 'PATCH',
    path: '/orders/:order_id',
    pathParams: orderPathParametersSchema,
    headers: ifMatchHeadersSchema,
    body: orderUpdateSchema,
    summary: 'Update an order',
    description:
      'Updates the fields given in a JSON merge patch (RFC 7396). The price cannot change. Staff can change the delivery until part of the order has been shipped. Customers can change the delivery only while the order is pending.',
    responses: {
      200: orderSchema,
      ...fails(
        ...problemCodesOfAuthorizedOperations,
        ...bodyProblemCodes,
        ...ifMatchFailureCodes,
        'not_found',
        'invalid_transition',
        'price_changed',
      ),
    },
    metadata: declareRouteMetadata({ operationId: 'orders.update', access: ['orders.write', 'orders.manage'] }),
  },
  cancel: {
    method: 'POST',
    path: '/orders/:order_id/cancellation',
    pathParams: orderPathParametersSchema,
    query: dryRunQuerySchema,
    headers: idempotencyHeadersSchema,
    body: orderCancelRequestSchema,
    summary: 'Cancel an order',
    description: 'Cancels an order if no part of it has been shipped. The goods are returned to stock, and the payment is refunded.',
    responses: {
      201: orderSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'invalid_transition'),
    },
    metadata: declareRouteMetadata({ operationId: 'orders.cancel', access: ['orders.write', 'orders.manage'], idempotent: true }),
  },
});
export type Order = z.output<typeof orderSchema>;
export type OrderSummary = z.output<typeof orderSummarySchema>;
export type OrderUpdate = z.output<typeof orderUpdateSchema>;
export type OrderCancellation = z.output<typeof orderCancelRequestSchema>;
