import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id } from '../../schema/ids.ts';
import { fulfillmentStatuses, orderStatuses, paymentStatuses } from '../orders/orders.ts';
import { commonProblems, failuresOf, guarded, withBody, withIdempotencyKey } from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders } from '../../protocol/route-metadata.ts';
import { fileFormats, startingTask, task, taskProblems } from './tasks.ts';
import { foreignName, instantInput, line } from '../../schema/text.ts';

const c = initContract();
const fails = failuresOf({ ...commonProblems, ...taskProblems });

/** Of the order; amounts are minor units, and the same as a decimal number with `_decimal`. */
const orderColumns = [
  ...(['id', 'reference', 'user_id', 'client_id', 'status', 'payment_status', 'fulfillment_status', 'cancel_reason'] as const),
  ...(['currency', 'tax_mode', 'subtotal', 'subtotal_decimal', 'discount_total', 'discount_total_decimal'] as const),
  ...(['shipping_total', 'shipping_total_decimal', 'tax_total', 'tax_total_decimal', 'total', 'total_decimal'] as const),
  ...(['refunded_total', 'refunded_total_decimal', 'item_count', 'delivery_method', 'recipient_name', 'phone'] as const),
  ...(['line1', 'line2', 'city', 'region', 'postal_code', 'country', 'note', 'metadata', 'version', 'expires_at'] as const),
  ...(['created_at', 'updated_at', 'paid_at', 'shipped_at', 'delivered_at', 'canceled_at'] as const),
] as const;
/** Of one line of the order. */
const lineColumns = [
  ...(['line', 'product_id', 'sku', 'name', 'quantity', 'shipped_quantity', 'restocked_quantity'] as const),
  ...(['unit_price', 'unit_price_decimal', 'tax_rate_bps', 'line_tax', 'line_tax_decimal', 'line_total', 'line_total_decimal'] as const),
] as const;
export const exportColumns = { order: orderColumns, line: lineColumns } as const;

export const orderExportCreate = component(
  'OrderExportCreate',
  z
    .object({
      format: z.enum(fileFormats).default('csv').describe('`csv`: RFC 4180 with a header; `ndjson`: one JSON object per line.'),
      rows: z.enum(['orders', 'lines']).default('orders').describe('One row for each order, or one for each line of each order.'),
      columns: z
        .array(z.enum([...orderColumns, ...lineColumns]))
        .min(1)
        .max(100)
        .refine((names) => new Set(names).size === names.length, { message: 'must not name a column twice' })
        .optional()
        .describe('Which columns, in which order; all of them if absent. Those of lines need `rows: lines`.'),
      status: z.array(z.enum(orderStatuses)).min(1).max(20).optional(),
      payment_status: z.array(z.enum(paymentStatuses)).min(1).max(20).optional(),
      fulfillment_status: z.array(z.enum(fulfillmentStatuses)).min(1).max(20).optional(),
      client_id: line(2048).optional().describe('Only orders that this application placed.'),
      user_id: id.optional().describe("A customer's orders; other than your own need `orders.manage` and a member of staff."),
      reference: foreignName(64).optional(),
      created_at_gte: instantInput.optional().describe('Placed at this moment or later.'),
      created_at_lt: instantInput.optional().describe('Placed before this moment.'),
      updated_at_gte: instantInput.optional().describe('Last changed at this timestamp or later.'),
      updated_at_lt: instantInput.optional().describe('Last changed before this timestamp.'),
    })
    .strict()
    .superRefine(({ rows, columns = [], ...filters }, context) => {
      for (const name of ['created_at', 'updated_at'] as const) {
        const [from, until] = [filters[`${name}_gte`], filters[`${name}_lt`]];
        if (from === undefined || until === undefined || Date.parse(from) <= Date.parse(until)) continue;
        context.addIssue({ code: 'custom', path: [`${name}_gte`], message: `must not be after ${name}_lt` });
      }
      const ofLines: readonly string[] = lineColumns;
      for (const [at, name] of columns.entries()) {
        if (rows === 'lines' || !ofLines.includes(name)) continue;
        context.addIssue({ code: 'custom', path: ['columns', at], message: 'belongs to a line: it needs `rows` to be `lines`' });
      }
    }),
);

export const orderExports = c.router({
  create: {
    method: 'POST',
    path: '/order-exports',
    headers: idempotencyHeaders,
    body: orderExportCreate,
    summary: 'Export orders',
    description:
      'Starts a task that writes the orders of the list with the same filters into a file, oldest first. Also requires `orders.read`, or `orders.manage` and a staff account for the orders of every customer. In CSV, text that a spreadsheet would take for a formula begins with an apostrophe.',
    responses: { 202: task, ...fails(...guarded, ...withBody, ...withIdempotencyKey, ...startingTask) },
    metadata: describedBy({ operationId: 'orderExports.create', access: ['tasks.write'], idempotent: true }),
  },
});
export type OrderExportCreate = z.output<typeof orderExportCreate>;
export type OrderExportColumn = (typeof orderColumns)[number] | (typeof lineColumns)[number];
