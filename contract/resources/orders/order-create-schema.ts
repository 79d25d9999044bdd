import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { amountSchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { idSchema } from '../../schema/ids.ts';
import { metadataSchema, multilineTextSchema, singleLineInputSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { orderDeliveryInputSchema } from './order-delivery-schemas.ts';

/** Maximum number of lines per order. */
export const maxOrderLines = 2_000;
/** Maximum number of units per order line. */
export const maxLineQuantity = 100_000;

export const unitsPerOrderLineSchema = z.number().int().min(1).max(maxLineQuantity);

/** Fields that describe an order in requests for orders and quotes. */
export const orderAndQuoteInputFields = {
  items: z
    .array(withSchemaName('OrderItemCreate', z.object({ product_id: idSchema, quantity: unitsPerOrderLineSchema }).strict()))
    .min(1)
    .max(maxOrderLines)
    .describe('Order lines. Several lines can refer to the same product.'),
  delivery: orderDeliveryInputSchema,
  user_id: idSchema
    .optional()
    .describe('Customer for whom the order is placed (default: the current user). Requires the `orders.manage` scope and a staff account.'),
  discount_total: amountSchema
    .optional()
    .describe('Discount on the subtotal, in minor units. Requires the `orders.manage` scope and a staff account.'),
  total: amountSchema
    .optional()
    .describe('Total that was shown to the customer. If the actual total differs, the order is rejected with `price_changed`.'),
  reference: singleLineInputSchema(64).optional().describe('Your own reference for the order.'),
  note: multilineTextSchema(1000).optional(),
  metadata: metadataSchema.default({}),
};

export const orderCreateSchema = withSchemaName(
  'OrderCreate',
  z
    .object({
      ...orderAndQuoteInputFields,
      items: orderAndQuoteInputFields.items.optional(),
      delivery: orderAndQuoteInputFields.delivery.optional(),
      quote_id: idSchema
        .optional()
        .describe(
          'Quote from which the order is placed, at the quoted price. No other field may be sent with `quote_id`. `items` and `delivery` are required if `quote_id` is omitted.',
        ),
    })
    .strict(),
);

export type OrderCreate = z.output<typeof orderCreateSchema>;
/** Items, delivery and other details of an order or a quote. */
export type OrderInput = z.output<z.ZodObject<typeof orderAndQuoteInputFields>>;
