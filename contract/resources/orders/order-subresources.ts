import { urlId } from '../../schema/ids.ts';
import { commaList, pageQuery } from '../../schema/pagination.ts';
import { instantInput } from '../../schema/text.ts';
import { z } from 'zod';
import type { Scope } from '../../protocol/scopes.ts';

/** Query of a list of payments, refunds or shipments of all orders that the caller may see. */
export const orderSubresourceQuery = <const Statuses extends readonly [string, ...string[]]>(
  statuses: Statuses,
  everybodysScope: Scope,
) => ({
  ...pageQuery,
  order_id: urlId.optional().describe('Only those of this order.'),
  user_id: urlId
    .optional()
    .describe(`Only those of this customer's orders; other customers than yourself require \`${everybodysScope}\` and a staff account.`),
  status: commaList(statuses).optional(),
  created_at_gte: instantInput.optional().describe('Created at this timestamp or later.'),
  created_at_lt: instantInput.optional().describe('Created before this timestamp.'),
  sort: z.enum(['created_at', '-created_at']).default('-created_at').describe('`-` is descending.'),
});
