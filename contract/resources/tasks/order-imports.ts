import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { urlId } from '../../schema/ids.ts';
import { columnsFor, importQuery, upload, uploadLimits, uploadMetadata } from './imports.ts';
import { currency } from '../../schema/money.ts';
import { orderLinesMax } from '../orders/orders.ts';
import { commonProblems, failuresOf, guarded, withFile, withIdempotencyKey } from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders } from '../../protocol/route-metadata.ts';
import { startingTask, task, taskProblems } from './tasks.ts';

const c = initContract();
const fails = failuresOf({ ...commonProblems, ...taskProblems });

const importEffects =
  "Starts a task that brings a shop's history in: one row for each line of each order, with its own reference, time and unit prices. No stock is taken, no payment asked, nobody told. Orders are `delivered` and paid unless the file says `paid`, `shipped` or `canceled`. Needs `orders.manage` as well. An order that was imported before with the same data is left unchanged; one with different data is refused, unless `changed_orders` is `replace`. The result says which lines were refused, and why.";

/** What one row of the file can have: a line of an order. What belongs to the order is taken from its first line. */
export const orderImportFields = [
  ...(['reference', 'created_at', 'status', 'currency', 'shipping_total', 'discount_total', 'note'] as const),
  ...(['customer', 'customer_name', 'customer_email', 'delivery_method', 'recipient_name'] as const),
  ...(['line1', 'line2', 'city', 'region', 'postal_code', 'country'] as const),
  ...(['sku', 'name', 'quantity', 'unit_price', 'tax_rate_bps'] as const),
] as const;

export const orderImports = c.router({
  create: {
    method: 'POST',
    path: '/order-imports',
    headers: idempotencyHeaders,
    query: z
      .object({
        ...importQuery,
        source: z
          .string()
          .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, `.`, `_` and `-`')
          .describe('Where the orders come from. A reference of the same source is imported once, however often it is sent.'),
        currency: currency.optional().describe('Of orders whose rows have none.'),
        utc_offset: z
          .string()
          .regex(/^(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/, 'must be `Z` or an offset such as `+01:00`')
          .default('Z')
          .describe('Of times that say none.'),
        user_id: urlId.optional().describe('Whose the orders are that name no customer.'),
        unknown_customers: z
          .enum(['refuse', 'create'])
          .default('refuse')
          .describe('`create` gives each customer of the source an account of their own, once; needs `users.manage`.'),
        unknown_products: z
          .enum(['refuse', 'create'])
          .default('refuse')
          .describe('`create` adds what is not there as archived products; needs `products.write`.'),
        bad_lines: z
          .enum(['refuse_order', 'leave_out'])
          .default('refuse_order')
          .describe('What a line that is not valid does: its whole order is refused, or the order is imported without it.'),
        changed_orders: z
          .enum(['refuse', 'replace'])
          .default('refuse')
          .describe(
            'What to do with an order that this source has imported before with different data: `replace` replaces its data. An order that has payments, refunds or shipments, or was canceled here, is never replaced.',
          ),
        free_lines: z.enum(['keep', 'refuse']).default('keep').describe('`refuse` makes lines without a price lines that are not valid.'),
        events: z.enum(['true', 'false']).default('false').describe('`true` also announces every order with `order.created`.'),
        ...columnsFor(orderImportFields),
      })
      .strict(),
    body: upload,
    summary: 'Import orders',
    description: `${importEffects} ${uploadLimits} An order has at most ${orderLinesMax} lines.`,
    responses: { 202: task, ...fails(...guarded, ...withFile, ...withIdempotencyKey, ...startingTask) },
    metadata: describedBy({ operationId: 'orderImports.create', access: ['tasks.write'], idempotent: true, ...uploadMetadata }),
  },
});
