import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { amountSchema, currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import { idSchema, idInUrlSchema, pathIdSchema } from '../../schema/ids.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import { singleLineInputSchema, timestampInputSchema, timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { budgetPeriods } from '../../protocol/order-limit-and-authorization-details-schemas.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  commonProblemTypes,
  cursorProblemCodes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { declareRouteMetadata, idempotencyHeadersSchema, ifNoneMatchHeadersSchema } from '../../protocol/route-metadata.ts';
import { maxOrderLines, orderAndQuoteInputFields } from './order-create-schema.ts';
import { orderItemSchema, orderProblemTypes, orderSchema, orderPlacementProblemCodes } from './orders.ts';

const c = initContract();
const fails = declareProblemResponses({ ...commonProblemTypes, ...orderProblemTypes });

export const quoteStatuses = ['open', 'converted', 'canceled', 'expired'] as const;
/** How long a quote is valid by default, in seconds. */
export const defaultQuoteSeconds = 24 * 60 * 60;
export const maxQuoteSeconds = 7 * 24 * 60 * 60;
/**
 * How long a quote that reserves stock is valid by default, in seconds. The maximum equals the time for which an unpaid order reserves
 * stock.
 */
export const defaultStockReservingQuoteSeconds = 15 * 60;
export const maxQuoteHoldSeconds = 30 * 60;
/** Minimum time for which a quote is valid, in seconds. */
const minQuoteSeconds = 60;

/** Kinds of limits that an order can exceed. */
const exceedableLimits = ['valid_until', 'actions', 'categories', 'currency', 'per_order', 'per_period', 'approval'] as const;

export const quoteCreateSchema = withSchemaName(
  'QuoteCreate',
  z
    .object({
      ...orderAndQuoteInputFields,
      user_id: idSchema
        .optional()
        .describe(
          'Customer for whom the quote is made (default: the current user). Requires the `orders.manage` scope and a staff account.',
        ),
      total: amountSchema
        .optional()
        .describe('Total that was shown to the customer. If the actual total differs, the request is rejected with `price_changed`.'),
      hold: z
        .boolean()
        .default(false)
        .describe(
          'Whether to reserve the stock until the quote expires. If `true`, the request is rejected if too few units are available, or if the order would need approval or would exceed a limit that the customer set.',
        ),
      expires_in: z
        .number()
        .int()
        .min(minQuoteSeconds)
        .max(maxQuoteSeconds)
        .optional()
        .describe(
          `How long the quote is valid, in seconds (default: ${defaultQuoteSeconds}, or ${defaultStockReservingQuoteSeconds} with \`hold\`). With \`hold\`, the maximum is ${maxQuoteHoldSeconds}.`,
        ),
    })
    .strict(),
);

const quoteItemSchema = withSchemaName(
  'QuoteItem',
  orderItemSchema.omit({ shipped_quantity: true, restocked_quantity: true, sku: true, name: true, unit_price: true }).extend({
    sku: z.string().describe('SKU of the product when the quote was made.'),
    name: z.string().describe('Name of the product when the quote was made.'),
    unit_price: orderItemSchema.shape.unit_price.describe('Quoted unit price, in minor units.'),
    is_available: z.boolean().describe('Whether enough units for all lines with this product were available when the quote was made.'),
    available_quantity: z
      .number()
      .int()
      .min(0)
      .nullable()
      .describe('Number of units that were available when the quote was made; `null` if the stock of the product is not tracked.'),
  }),
);

const quoteLimitsSchema = withSchemaName(
  'QuoteLimits',
  z.object({
    exceeded: extensibleEnumSchema(exceedableLimits)
      .nullable()
      .describe(
        'Limit that an order from this quote would have exceeded; `categories` if the category of a product is not permitted; `approval` if every order requires approval; `null` if the order was within all limits.',
      ),
    currency: currencySchema.nullable().describe('Currency of the amounts; `null` if the limits contain no amounts.'),
    per_order: amountSchema.nullable().describe('Maximum total of one order, in minor units; `null` if there is no such limit.'),
    budget: z
      .object({
        period: z.enum(budgetPeriods).describe('Calendar period of the budget.'),
        limit: amountSchema.describe('Maximum total of all orders in one period, in minor units.'),
        remaining: amountSchema.describe('Amount that remained before the order, in minor units.'),
        remaining_after_order: amountSchema
          .nullable()
          .describe('Amount that would have remained after the order; `null` if the order would have exceeded the budget.'),
        ends_at: timestampSchema.describe('When the next period starts and the full budget is available again.'),
      })
      .nullable()
      .describe('Budget of the current period; `null` if there is no limit per period.'),
  }),
);

const quoteFields = {
  id: idSchema,
  status: z
    .enum(quoteStatuses)
    .describe('`open`: an order can be placed; `converted`: an order was placed; `canceled` and `expired`: no order can be placed.'),
  client_id: z.string().describe('Client ID of the application that requested the quote.'),
  ...orderSchema.pick({
    user_id: true,
    currency: true,
    tax_mode: true,
    subtotal: true,
    discount_total: true,
    shipping_total: true,
    tax_total: true,
    total: true,
    item_count: true,
    delivery: true,
    note: true,
    metadata: true,
    version: true,
    created_at: true,
    updated_at: true,
    canceled_at: true,
  }).shape,
  reference: orderSchema.shape.reference.describe('Reference that the caller assigned to the quote and its order.'),
  hold: z.boolean().describe('Whether the stock is reserved while the quote is open.'),
  is_available: z.boolean().describe('Whether enough units of every product were available when the quote was made.'),
  limits: quoteLimitsSchema
    .nullable()
    .describe(
      "The customer's limits for the application, and whether the order was within these limits when the quote was created. `null` if the application has no limits, in responses to other applications, and in events.",
    ),
  order_id: idSchema
    .nullable()
    .describe(
      'Order that was placed from the quote. `null` if no order was placed, or if another application placed the order and the caller can access only its own orders.',
    ),
  expires_at: timestampSchema.describe('When the quote expires. An order can be placed from the quote until this time.'),
  converted_at: timestampSchema.nullable(),
};

export const quoteSchema = withSchemaName('Quote', z.object({ ...quoteFields, items: z.array(quoteItemSchema).min(1).max(maxOrderLines) }));
const quoteSummarySchema = withSchemaName('QuoteSummary', z.object(quoteFields).describe('A quote in a list, without its items.'));

const quotePath = z.object({ quote_id: pathIdSchema('ID of the quote.') });

export const quoteRoutes = defineResource('Quotes', 'Exact prices for orders that have not been placed yet.', {
  create: {
    method: 'POST',
    path: '/quotes',
    headers: idempotencyHeadersSchema,
    body: quoteCreateSchema,
    summary: 'Create a quote',
    description:
      'Returns the prices, taxes, delivery price and product availability for an order, and whether it would exceed a limit that the customer set, without placing the order. Nothing is reserved unless `hold` is set. To place the order, send the ID of the quote to `POST /orders` before the quote expires.',
    responses: { 201: quoteSchema, ...fails(...problemCodesOfAuthorizedPosts, ...orderPlacementProblemCodes) },
    metadata: declareRouteMetadata({
      operationId: 'quotes.create',
      access: ['orders.write', 'orders.manage'],
      bodyMax: 1_000_000,
      idempotent: true,
      returnsEtag: true,
    }),
  },
  list: {
    method: 'GET',
    path: '/quotes',
    query: z
      .object({
        ...paginationParameters,
        status: commaSeparatedEnumSchema(quoteStatuses).optional(),
        client_id: singleLineInputSchema(2048).optional().describe('Only quotes that the application with this client ID requested.'),
        user_id: idInUrlSchema
          .optional()
          .describe('Only quotes for this customer. Listing the quotes of other customers requires `orders.manage` and a staff account.'),
        created_at_gte: timestampInputSchema.optional().describe('Only quotes made at this time or later.'),
        created_at_lt: timestampInputSchema.optional().describe('Only quotes made before this time.'),
      })
      .strict(),
    summary: 'List quotes',
    description:
      'Returns the quotes of the current user, newest first. With the `orders.manage` scope and a staff account, returns the quotes of every customer.',
    responses: {
      200: listPageSchema('QuotePage', quoteSummarySchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'quotes.list', access: ['orders.read', 'orders.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/quotes/:quote_id',
    pathParams: quotePath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a quote',
    description: "Returns the quote with its items. The `orders.read` scope gives access only to the user's own quotes.",
    responses: { 200: quoteSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'quotes.get', access: ['orders.read', 'orders.manage'] }),
  },
  cancel: {
    method: 'POST',
    path: '/quotes/:quote_id/cancellation',
    pathParams: quotePath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Cancel a quote',
    description: 'Cancels an open quote, so that no order can be placed from it. Reserved goods are returned to stock.',
    responses: { 201: quoteSchema, ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'invalid_transition') },
    metadata: declareRouteMetadata({ operationId: 'quotes.cancel', access: ['orders.write', 'orders.manage'], idempotent: true }),
  },
});
export type Quote = z.output<typeof quoteSchema>;
export type QuoteSummary = z.output<typeof quoteSummarySchema>;
export type QuoteCreate = z.output<typeof quoteCreateSchema>;
export type QuoteLimits = z.output<typeof quoteLimitsSchema>;
export type QuoteStatus = (typeof quoteStatuses)[number];
