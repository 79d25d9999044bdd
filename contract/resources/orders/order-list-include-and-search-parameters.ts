import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema } from '../../schema/ids.ts';
import { commaSeparatedEnumSchema } from '../../schema/pagination.ts';
import { singleLineInputSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

/** Maximum number of orders on a page if the list includes order lines. */
export const maxOrdersWithItems = 20;
/** Maximum number of orders that a search finds. */
export const maxOrderSearchMatches = 10_000;

export const orderIncludeParameterSchema = commaSeparatedEnumSchema(['items', 'customer', 'client'])
  .optional()
  .describe(
    `\`items\` includes the lines of each order and reduces the maximum \`limit\` to ${maxOrdersWithItems}. \`customer\` and \`client\` include the names of the customer and of the application that placed the order; both require the \`orders.manage\` scope and a staff account.`,
  );

export const orderSearchTextSchema = singleLineInputSchema(254)
  .optional()
  .describe(
    `Search text: the number or reference of an order, the SKU of an ordered product, the e-mail address of the customer, or part of the customer's name (at least 3 characters). If more than ${maxOrderSearchMatches} orders match, only those with the highest order numbers are returned.`,
  );

/** Order fields that a list returns only if the `include` parameter names them. */
export const orderCustomerAndClientIncludeFields = {
  customer: withSchemaName('OrderCustomer', z.object({ id: idSchema, name: z.string() }))
    .optional()
    .describe('Customer; returned only with `include=customer`.'),
  client: withSchemaName(
    'OrderClient',
    z.object({
      client_id: z.string(),
      name: z.string().nullable().describe('Name of the application or API key; `null` if it has been deleted.'),
    }),
  )
    .nullable()
    .optional()
    .describe('Application that placed the order, if any; returned only with `include=client`.'),
};
