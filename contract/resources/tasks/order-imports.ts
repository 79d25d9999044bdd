import { z } from 'zod';
import { idInUrlSchema } from '../../schema/ids.ts';
import {
  createImportColumnNameParameters,
  importDryRunAndAmountFormatParameters,
  importFileBodySchema,
  importFileLimitsText,
  importFileRouteMetadata,
  importSourceSystemSchema,
  importUtcOffsetSchema,
} from './import-parameters.ts';
import { currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { maxOrderLines } from '../orders/order-create-schema.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  fileUploadProblemCodes,
  idempotencyProblemCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { taskCreationProblemCodes, taskSchema, taskProblemTypes } from './tasks.ts';

const fails = declareProblemResponses({ ...commonProblemTypes, ...taskProblemTypes });

const importEffects =
  'Starts a task that imports an order history from another system. The file has one row for each order line, with the order reference, the time and the unit price. The import does not reserve stock, request payments or send messages. Orders are imported as `delivered` and paid, unless the file specifies the status `paid`, `shipped` or `canceled`. An order that was previously imported with the same data is left unchanged. An order that was previously imported with different data is rejected, unless `changed_orders` is `replace`. The result file lists each rejected line and why it was rejected. Also requires the `orders.manage` scope.';

/** Fields of one row, which represents one order line. Fields of the whole order are read from the order's first line. */
export const orderImportFields = [
  ...(['reference', 'created_at', 'status', 'currency', 'shipping_total', 'discount_total', 'note'] as const),
  ...(['customer', 'customer_name', 'customer_email', 'delivery_method', 'recipient_name'] as const),
  ...(['line1', 'line2', 'city', 'region', 'postal_code', 'country'] as const),
  ...(['sku', 'name', 'quantity', 'unit_price', 'tax_rate_bps'] as const),
] as const;

export const orderImportRoutes = defineResource('Order imports', 'Import order histories from other systems.', {
  create: {
    method: 'POST',
    path: '/order-imports',
    headers: idempotencyHeadersSchema,
    query: z
      .object({
        ...importDryRunAndAmountFormatParameters,
        source: importSourceSystemSchema.describe(
          'Name of the source system. Orders are identified by source and reference, so repeating an import creates no duplicates.',
        ),
        currency: currencySchema.optional().describe('Currency of orders whose rows do not specify one.'),
        utc_offset: importUtcOffsetSchema,
        user_id: idInUrlSchema.optional().describe('User who becomes the owner of orders without a customer.'),
        unknown_customers: z
          .enum(['refuse', 'create'])
          .default('refuse')
          .describe(
            'How to handle unknown customers: `create` creates an account for each unknown customer and requires the `users.manage` scope.',
          ),
        unknown_products: z
          .enum(['refuse', 'create'])
          .default('refuse')
          .describe('How to handle unknown products: `create` adds them as archived products and requires the `products.write` scope.'),
        bad_lines: z
          .enum(['refuse_order', 'leave_out'])
          .default('refuse_order')
          .describe('How to handle an invalid order line: reject the whole order, or import the order without this line.'),
        changed_orders: z
          .enum(['refuse', 'replace'])
          .default('refuse')
          .describe(
            'How to handle an order that was previously imported from this source with different data: `replace` replaces its data. An order that has payments, refunds or shipments, or was canceled through the API, is never replaced.',
          ),
        free_lines: z
          .enum(['keep', 'refuse'])
          .default('keep')
          .describe('How to handle order lines whose unit price is zero: `refuse` treats them as invalid.'),
        events: z.enum(['true', 'false']).default('false').describe('`true` records an `order.created` event for each imported order.'),
        ...createImportColumnNameParameters(orderImportFields),
      })
      .strict(),
    body: importFileBodySchema,
    summary: 'Import orders',
    description: `${importEffects} ${importFileLimitsText} An order can have at most ${maxOrderLines} lines.`,
    responses: {
      202: taskSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...fileUploadProblemCodes, ...idempotencyProblemCodes, ...taskCreationProblemCodes),
    },
    metadata: declareRouteMetadata({
      operationId: 'orderImports.create',
      access: ['tasks.write'],
      idempotent: true,
      ...importFileRouteMetadata,
    }),
  },
});
