import { idInUrlSchema } from '../../schema/ids.ts';
import { commaSeparatedEnumSchema, paginationParameters } from '../../schema/pagination.ts';
import { timestampInputSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { z } from 'zod';
import type { Scope } from '../../protocol/scopes.ts';

/** Returns the query parameters for listing payments, refunds or shipments across all orders that the caller may see. */
export const createPaymentRefundAndShipmentListParameters = <const Statuses extends readonly [string, ...string[]]>(
  listed: 'payments' | 'refunds' | 'shipments',
  statuses: Statuses,
  allUsersScope: Scope,
) => ({
  ...paginationParameters,
  order_id: idInUrlSchema.optional().describe(`Only ${listed} for this order.`),
  user_id: idInUrlSchema
    .optional()
    .describe(
      `Only ${listed} for orders of this customer. Listing the ${listed} of other customers requires the \`${allUsersScope}\` scope and a staff account.`,
    ),
  status: commaSeparatedEnumSchema(statuses).optional(),
  created_at_gte: timestampInputSchema.optional().describe(`Only ${listed} created at this time or later.`),
  created_at_lt: timestampInputSchema.optional().describe(`Only ${listed} created before this time.`),
  sort: z.enum(['created_at', '-created_at']).default('-created_at').describe('Sort order; `-` means descending.'),
});
