import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema } from '../../schema/ids.ts';
import { orderSearchTextSchema } from '../orders/order-list-include-and-search-parameters.ts';
import { orderFulfillmentStatuses, orderStatuses, orderPaymentStatuses } from '../orders/orders.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfAuthorizedPosts } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { exportFormatSchema, taskCreationProblemCodes, taskSchema, taskProblemTypes } from './tasks.ts';
import {
  nameFromOtherSystemSchema,
  timestampInputSchema,
  singleLineInputSchema,
} from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses({ ...commonProblemTypes, ...taskProblemTypes });

/**
 * Columns of an order. Amounts are in minor units; the columns whose names end in `_decimal` contain the same amounts as decimal numbers.
 */
const orderColumns = [
  ...(['id', 'reference', 'user_id', 'client_id', 'status', 'payment_status', 'fulfillment_status', 'cancel_reason'] as const),
  ...(['currency', 'tax_mode', 'subtotal', 'subtotal_decimal', 'discount_total', 'discount_total_decimal'] as const),
  ...(['shipping_total', 'shipping_total_decimal', 'tax_total', 'tax_total_decimal', 'total', 'total_decimal'] as const),
  ...(['refunded_total', 'refunded_total_decimal', 'item_count', 'delivery_method', 'recipient_name', 'phone'] as const),
  ...(['line1', 'line2', 'city', 'region', 'postal_code', 'country', 'note', 'metadata', 'version', 'expires_at'] as const),
  ...(['created_at', 'updated_at', 'paid_at', 'shipped_at', 'delivered_at', 'canceled_at'] as const),
] as const;
/** Columns of an order line. */
const lineColumns = [
  ...(['line', 'product_id', 'sku', 'name', 'quantity', 'shipped_quantity', 'restocked_quantity'] as const),
  ...(['unit_price', 'unit_price_decimal', 'tax_rate_bps', 'line_tax', 'line_tax_decimal', 'line_total', 'line_total_decimal'] as const),
] as const;
export const orderExportColumns = { order: orderColumns, line: lineColumns } as const;

export const orderExportCreateSchema = withSchemaName(
  'OrderExportCreate',
  z
    .object({
      format: exportFormatSchema,
      rows: z.enum(['orders', 'lines']).default('orders').describe('Whether each row represents an order or an order line.'),
      columns: z
        .array(z.enum([...orderColumns, ...lineColumns]))
        .min(1)
        .max(100)
        .refine((names) => new Set(names).size === names.length, { message: 'must not contain the same column twice' })
        .optional()
        .describe('Columns of the file, in this order (default: all). Columns of order lines can be selected only with `rows: lines`.'),
      status: z.array(z.enum(orderStatuses)).min(1).max(20).optional(),
      payment_status: z.array(z.enum(orderPaymentStatuses)).min(1).max(20).optional(),
      fulfillment_status: z.array(z.enum(orderFulfillmentStatuses)).min(1).max(20).optional(),
      client_id: singleLineInputSchema(2048).optional().describe('Only orders that were placed by the application with this client ID.'),
      user_id: idSchema
        .optional()
        .describe('Only orders of this customer. Exporting the orders of other customers requires `orders.manage` and a staff account.'),
      reference: nameFromOtherSystemSchema(64).optional(),
      q: orderSearchTextSchema,
      created_at_gte: timestampInputSchema.optional().describe('Only orders placed at this time or later.'),
      created_at_lt: timestampInputSchema.optional().describe('Only orders placed before this time.'),
      updated_at_gte: timestampInputSchema.optional().describe('Only orders last changed at this time or later.'),
      updated_at_lt: timestampInputSchema.optional().describe('Only orders last changed before this time.'),
    })
    .strict()
    .superRefine(({ rows, columns = [], ...filters }, context) => {
      for (const name of ['created_at', 'updated_at'] as const) {
        const [from, until] = [filters[`${name}_gte`], filters[`${name}_lt`]];
        if (from === undefined || until === undefined || Date.parse(from) <= Date.parse(until)) continue;
        context.addIssue({ code: 'custom', path: [`${name}_gte`], message: `must not be after ${name}_lt` });
      }
      const lineColumnNames: readonly string[] = lineColumns;
      for (const [index, name] of columns.entries()) {
        if (rows === 'lines' || !lineColumnNames.includes(name)) continue;
        context.addIssue({
          code: 'custom',
          path: ['columns', index],
          message: 'must not be an order-line column unless `rows` is `lines`',
        });
      }
    }),
);

export const orderExportRoutes = defineResource('Order exports', 'Exports of orders to files.', {
  create: {
    method: 'POST',
    path: '/order-exports',
    headers: idempotencyHeadersSchema,
    body: orderExportCreateSchema,
    summary: 'Export orders',
    description:
      'Starts a task that writes orders to a file, oldest first. The export accepts the same filters as the order list. The request also requires the `orders.read` scope. To export the orders of other customers, you need the `orders.manage` scope and a staff account instead. In CSV files, an apostrophe precedes text that a spreadsheet would interpret as a formula.',
    responses: {
      202: taskSchema,
      ...fails(...problemCodesOfAuthorizedPosts, ...taskCreationProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'orderExports.create', access: ['tasks.write'], idempotent: true }),
  },
});
export type OrderExportCreate = z.output<typeof orderExportCreateSchema>;
export type OrderExportColumn = (typeof orderColumns)[number] | (typeof lineColumns)[number];
