import { urlId } from '../../schema/ids.ts';
import { commaList, pageQuery } from '../../schema/pagination.ts';
import { instantInput } from '../../schema/text.ts';
import { z } from 'zod';
import type { Scope } from '../../protocol/scopes.ts';

/** Returns the query parameters of the payment, refund and shipment lists, which cover all orders that the caller may see. */
export const orderSubresourceQuery = <const Statuses extends readonly [string, ...string[]]>(statuses: Statuses, allUsersScope: Scope) => ({
  ...pageQuery,
  order_id: urlId.optional().describe('Only entries of this order.'),
  user_id: urlId
    .optional()
    .describe(`Only entries of this customer's orders. Other customers require \`${allUsersScope}\` and a staff account.`),
  status: commaList(statuses).optional(),
  created_at_gte: instantInput.optional().describe('Only entries created at this time or later.'),
  created_at_lt: instantInput.optional().describe('Only entries created before this time.'),
  sort: z.enum(['created_at', '-created_at']).default('-created_at').describe('Sort order; `-` means descending.'),
});
