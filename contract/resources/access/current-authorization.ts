import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema } from '../../schema/ids.ts';
import { amountSchema, currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { budgetPeriods, orderAuthorizationDetailsSchema } from '../../protocol/order-limit-and-authorization-details-schemas.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfPublicOperations } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';

const fails = declareProblemResponses(commonProblemTypes);

const budgetAuthors = ['customer', 'api_key', 'application', 'shop'] as const;

const budgetFields = {
  currency: currencySchema,
  period: z.enum(budgetPeriods).describe('Calendar period of the budget. A week starts on Monday.'),
  limit: amountSchema.describe('Maximum total of all orders in one period, in minor units.'),
  spent: z
    .number()
    .int()
    .describe(
      'Amount spent on orders in the current period, in minor units. Canceled orders, expired orders and refunded amounts are not included.',
    ),
  remaining: amountSchema.describe('Amount that remains in the current period, in minor units.'),
  starts_at: timestampSchema.describe('When the current period started.'),
  ends_at: timestampSchema.describe('When the next period starts and the full budget is available again.'),
  time_zone: z.string().describe("IANA name of the customer's time zone, which determines when a period starts; `UTC` if unknown."),
  set_by: z
    .enum(budgetAuthors)
    .describe(
      'Party that set the budget. `customer`: the customer. `api_key`: the user who created the API key. `application`: the shop set the budget for this application. `shop`: the shop set the budget for all applications that it does not operate.',
    ),
};

export const budgetSchema = withSchemaName('Budget', z.object(budgetFields));

/** All budgets that apply to the orders of an application or API key. */
export const applicableBudgetsSchema = z
  .array(withSchemaName('ApplicableBudget', z.object(budgetFields)))
  .describe(
    'All budgets that apply. Every order must be within all of these budgets. `budget` is the budget with the smallest remaining amount.',
  );

export const currentAuthorizationRoute = defineResource('Authorization', 'Permissions and limits of the calling application.', {
  get: {
    method: 'GET',
    path: '/authorization',
    query: z.object({}).strict(),
    summary: 'Get your authorization',
    description:
      'Returns what the token or API key permits: its scopes, the limits that the customer set, and how much of the budget has been used. Any valid token is accepted. Check the remaining budget before you place an order.',
    responses: {
      200: withSchemaName(
        'Authorization',
        z.object({
          client_id: z.string().describe('Client ID of the application or API key.'),
          user_id: idSchema.nullable().describe('User on whose behalf the application acts; `null` if it acts on its own behalf.'),
          scopes: z.array(z.string()).describe('Scopes that the token can use.'),
          authorization_details: z
            .array(orderAuthorizationDetailsSchema)
            .describe('Limits that the customer set (RFC 9396). An empty list means that only the scopes limit the application.'),
          budget: budgetSchema
            .nullable()
            .describe('How much of the budget has been used in the current period; `null` if there is no limit per period.'),
          budgets: applicableBudgetsSchema,
        }),
      ),
      ...fails(...problemCodesOfPublicOperations, 'missing_token'),
    },
    metadata: declareRouteMetadata({ operationId: 'authorization.get', access: 'token' }),
  },
});
export type Authorization = z.output<(typeof currentAuthorizationRoute.get.responses)[200]>;
export type Budget = z.output<typeof budgetSchema>;
