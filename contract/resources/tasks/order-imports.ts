import { z } from 'zod';
import { urlIdSchema } from '../../schema/ids.ts';
import { columnNameParameters, importParameters, uploadBodySchema, uploadLimitsText, uploadRouteMetadata } from './import-parameters.ts';
import { currencySchema } from '../../schema/money.ts';
import { maxOrderLines } from '../orders/orders.ts';
import { commonProblems, declareProblemResponses, permissionProblems, fileProblems, idempotencyProblems } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { routeMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { taskCreationProblems, taskSchema, taskProblems } from './tasks.ts';

const fails = declareProblemResponses({ ...commonProblems, ...taskProblems });

const importEffects =
  'Starts a task that imports the order history of another system. The file has one row for each order line, with the reference, time and unit price. The import takes no stock, requests no payment and sends no messages. Orders are imported as `delivered` and paid, unless the file says `paid`, `shipped` or `canceled`. An order that was imported before with the same data is left unchanged; an order with different data is rejected, unless `changed_orders` is `replace`. The result lists the rejected lines with the reasons. Also requires the `orders.manage` scope.';

/** Fields of one row, which represents one order line. The order's own fields are read from its first line. */
export const orderImportFields = [
  ...(['reference', 'created_at', 'status', 'currency', 'shipping_total', 'discount_total', 'note'] as const),
  ...(['customer', 'customer_name', 'customer_email', 'delivery_method', 'recipient_name'] as const),
  ...(['line1', 'line2', 'city', 'region', 'postal_code', 'country'] as const),
  ...(['sku', 'name', 'quantity', 'unit_price', 'tax_rate_bps'] as const),
] as const;

export const orderImportRoutes = defineResource('Order imports', 'Import of the order history of another system.', {
  create: {
    method: 'POST',
    path: '/order-imports',
    headers: idempotencyHeadersSchema,
    query: z
      .object({
        ...importParameters,
        source: z
          .string()
          .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, `.`, `_` and `-`')
          .describe('Name of the source system. Each order reference of a source is imported only once.'),
        currency: currencySchema.optional().describe('Currency of orders whose rows have none.'),
        utc_offset: z
          .string()
          .regex(/^(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/, 'must be `Z` or an offset such as `+01:00`')
          .default('Z')
          .describe('UTC offset of timestamps that have none.'),
        user_id: urlIdSchema.optional().describe('User who owns the orders that name no customer.'),
        unknown_customers: z
          .enum(['refuse', 'create'])
          .default('refuse')
          .describe(
            'What to do with customers that do not exist: `create` creates one account for each customer and requires the `users.manage` scope.',
          ),
        unknown_products: z
          .enum(['refuse', 'create'])
          .default('refuse')
          .describe(
            'What to do with products that do not exist: `create` adds them as archived products and requires the `products.write` scope.',
          ),
        bad_lines: z
          .enum(['refuse_order', 'leave_out'])
          .default('refuse_order')
          .describe('What to do with an invalid line: reject its whole order, or import the order without the line.'),
        changed_orders: z
          .enum(['refuse', 'replace'])
          .default('refuse')
          .describe(
            'What to do with an order that was imported from this source before with different data: `replace` replaces its data. An order that has payments, refunds or shipments, or was canceled through the API, is never replaced.',
          ),
        free_lines: z
          .enum(['keep', 'refuse'])
          .default('keep')
          .describe('What to do with lines that have no price: `refuse` treats them as invalid.'),
        events: z.enum(['true', 'false']).default('false').describe('`true` records an `order.created` event for each imported order.'),
        ...columnNameParameters(orderImportFields),
      })
      .strict(),
    body: uploadBodySchema,
    summary: 'Import orders',
    description: `${importEffects} ${uploadLimitsText} An order can have at most ${maxOrderLines} lines.`,
    responses: { 202: taskSchema, ...fails(...permissionProblems, ...fileProblems, ...idempotencyProblems, ...taskCreationProblems) },
    metadata: routeMetadata({ operationId: 'orderImports.create', access: ['tasks.write'], idempotent: true, ...uploadRouteMetadata }),
  },
});
