import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { amountSchema, currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import { idInUrlSchema, idSchema, integerInUrlSchema, pathIdSchema } from '../../schema/ids.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import { multilineTextSchema, timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { budgetPeriods } from '../../protocol/order-limit-and-authorization-details-schemas.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  commonProblemTypes,
  cursorProblemCodes,
  declareProblemResponses,
  problemCodesOfAuthenticatedOperations,
  problemCodesOfAuthenticatedPosts,
  problemCodesOfAuthorizedOperations,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { maxOrderLines } from './order-create-schema.ts';

const c = initContract();

/** Maximum number of pending approvals per grant, so that an application cannot flood a customer with requests. */
export const maxPendingApprovalsPerGrant = 5;
/** Maximum number of approvals that an application can request per grant in 24 hours; each request sends an e-mail. */
export const maxApprovalRequestsPerGrantIn24Hours = 20;
/** Maximum time to wait for a decision in one request, in seconds. */
export const maxApprovalWaitSeconds = 30;

export const approvalProblemTypes = {
  too_many_approvals: { status: 409, title: 'Too many approvals have been requested' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...approvalProblemTypes });

export const approvalStatuses = ['pending', 'approved', 'declined', 'canceled', 'expired', 'used'] as const;
/** Reasons why an order needs approval. */
export const approvalReasons = ['currency', 'per_order', 'per_period', 'every_order', 'categories'] as const;

const approvalItemSchema = withSchemaName(
  'ApprovalItem',
  z.object({
    product_id: idSchema,
    sku: z.string(),
    name: z.string().describe('Name of the product when the quote was made.'),
    quantity: z.number().int().min(1),
    total: amountSchema.describe('Line total, in minor units.'),
  }),
);

const approvalFields = {
  id: idSchema,
  status: z
    .enum(approvalStatuses)
    .describe(
      '`pending`: the customer has not decided yet; `approved`: one order can be placed from the quote; `used`: the order was placed; `declined`, `canceled` and `expired`: no order can be placed with this approval.',
    ),
  quote_id: idSchema.describe('Quote that the customer is asked to approve.'),
  user_id: idSchema.describe('ID of the customer.'),
  client_id: z.string().describe('Client ID of the application that requested the approval.'),
  application_name: z.string().describe('Name of the application that requested the approval.'),
  currency: currencySchema,
  total: amountSchema.describe('Exact total of the order, in minor units of `currency`.'),
  message: z.string().nullable().describe('Message from the application to the customer.'),
  reason: z
    .object({
      code: extensibleEnumSchema(approvalReasons).describe(
        '`categories`, `per_order`, `per_period` and `currency`: the order was not within this limit when the approval was requested; `every_order`: every order that the application places requires approval.',
      ),
      currency: currencySchema.nullable().describe('Currency of the amounts; `null` if the limits contain no amounts.'),
      limit: amountSchema
        .nullable()
        .describe('Limit that the order exceeded, in minor units; `null` unless `code` is `per_order` or `per_period`.'),
      spent: amountSchema.nullable().describe('Amount already spent in the period, in minor units; `null` unless `code` is `per_period`.'),
      period: z.enum(budgetPeriods).nullable().describe('Period of the limit; `null` unless `code` is `per_period`.'),
      categories: z
        .array(z.string())
        .nullable()
        .describe('Categories of ordered products that the customer does not permit; `null` unless `code` is `categories`.'),
    })
    .nullable()
    .describe('Why the order needs approval; `null` if the order was within all limits when the approval was requested.'),
  order_id: idSchema.nullable().describe('Order that was placed with the approval.'),
  expires_at: timestampSchema.describe('When the request or approval expires. The quote expires at the same time.'),
  created_at: timestampSchema,
  approved_at: timestampSchema.nullable(),
  declined_at: timestampSchema.nullable(),
  canceled_at: timestampSchema.nullable(),
  used_at: timestampSchema.nullable().describe('When the order was placed.'),
};

export const approvalSchema = withSchemaName(
  'Approval',
  z.object({ ...approvalFields, items: z.array(approvalItemSchema).min(1).max(maxOrderLines).describe('Lines of the quote.') }),
);
const approvalSummarySchema = withSchemaName(
  'ApprovalSummary',
  z.object(approvalFields).describe('An approval in a list, without the lines of its quote.'),
);

export const approvalCreateSchema = withSchemaName(
  'ApprovalCreate',
  z
    .object({
      quote_id: idSchema.describe('An open quote that the application created.'),
      message: multilineTextSchema(500).optional().describe('Message to the customer, such as the reason for the order.'),
    })
    .strict(),
);

const approvalPath = z.object({ approval_id: pathIdSchema('ID of the approval.') });
const decisionProblemCodes = ['not_found', 'invalid_transition'] as const;

export const approvalRoutes = defineResource('Approvals', 'Orders that applications ask customers to approve.', {
  create: {
    method: 'POST',
    path: '/approvals',
    headers: idempotencyHeadersSchema,
    body: approvalCreateSchema,
    summary: 'Request an approval',
    description: `Asks the customer to approve an order, usually because it exceeds a limit. First create a quote. The customer receives an e-mail and makes the decision on the account page. Wait for the decision with \`GET /approvals/{approval_id}?wait=${maxApprovalWaitSeconds}\`; once the status is \`approved\`, send \`quote_id\` to \`POST /orders\`. The approval covers this order only, and expires with the quote. An approval overrides only the limits that the customer set: an order above a limit that the shop set is rejected with \`limit_exceeded\`. An application can have at most ${maxPendingApprovalsPerGrant} pending approvals.`,
    responses: {
      201: approvalSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'conflict', 'invalid_transition', 'limit_exceeded', 'too_many_approvals'),
    },
    metadata: declareRouteMetadata({ operationId: 'approvals.create', access: ['orders.write'], idempotent: true }),
  },
  list: {
    method: 'GET',
    path: '/approvals',
    query: z
      .object({
        limit: paginationParameters.limit,
        cursor: paginationParameters.cursor,
        status: commaSeparatedEnumSchema(approvalStatuses).optional(),
      })
      .strict(),
    summary: 'List approvals',
    description:
      'Returns the approvals of the current user, newest first. An application that can access only its own orders sees only the approvals that it requested.',
    responses: {
      200: listPageSchema('ApprovalPage', approvalSummarySchema),
      ...fails(...problemCodesOfAuthenticatedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'approvals.list', access: ['orders.read', 'orders.write', 'approvals.decide'] }),
  },
  listAll: {
    method: 'GET',
    path: '/approvals/all',
    query: z
      .object({
        limit: paginationParameters.limit,
        cursor: paginationParameters.cursor,
        status: commaSeparatedEnumSchema(approvalStatuses).optional(),
        user_id: idInUrlSchema.optional().describe('Only approvals requested from this customer.'),
      })
      .strict(),
    summary: "List all customers' approvals",
    description:
      'Returns the approvals of every customer, newest first. Requires a staff account. Only the customer can approve or decline an order.',
    responses: {
      200: listPageSchema('ApprovalPage', approvalSummarySchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'approvals.listAll', access: ['orders.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/approvals/:approval_id',
    pathParams: approvalPath,
    query: z
      .object({
        wait: integerInUrlSchema(0, maxApprovalWaitSeconds)
          .default('0')
          .describe('Maximum time to wait for a decision while the status is `pending`, in seconds.'),
      })
      .strict(),
    summary: 'Get an approval',
    description:
      'Returns the approval with its order lines. With `wait`, responds as soon as the approval is no longer pending, or after the given time.',
    responses: { 200: approvalSchema, ...fails(...problemCodesOfAuthenticatedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'approvals.get', access: ['orders.read', 'orders.write', 'approvals.decide'] }),
  },
  approve: {
    method: 'POST',
    path: '/approvals/:approval_id/approval',
    pathParams: approvalPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Approve an order',
    description:
      'Approves the order on behalf of the customer. The customer must have signed in within the last 15 minutes, with a second factor if the total exceeds the amount set on the account page. Only applications operated by the shop can have the required scope. An application with order limits cannot approve an order, nor can the application that requested the approval.',
    responses: {
      201: approvalSchema,
      ...fails(...problemCodesOfAuthorizedPosts, ...decisionProblemCodes, 'insufficient_user_authentication'),
    },
    metadata: declareRouteMetadata({ operationId: 'approvals.approve', access: ['approvals.decide'], idempotent: true }),
  },
  decline: {
    method: 'POST',
    path: '/approvals/:approval_id/decline',
    pathParams: approvalPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Decline an order',
    description: 'Declines the order on behalf of the customer. The same quote cannot be submitted for approval again.',
    responses: { 201: approvalSchema, ...fails(...problemCodesOfAuthorizedPosts, ...decisionProblemCodes) },
    metadata: declareRouteMetadata({ operationId: 'approvals.decline', access: ['approvals.decide'], idempotent: true }),
  },
  cancel: {
    method: 'POST',
    path: '/approvals/:approval_id/cancellation',
    pathParams: approvalPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Cancel an approval',
    description:
      'Withdraws a pending request, or an approval that has not been used. Only the application that requested the approval can cancel it.',
    responses: { 201: approvalSchema, ...fails(...problemCodesOfAuthenticatedPosts, ...decisionProblemCodes) },
    metadata: declareRouteMetadata({ operationId: 'approvals.cancel', access: ['orders.write'], idempotent: true }),
  },
});
export type Approval = z.output<typeof approvalSchema>;
export type ApprovalSummary = z.output<typeof approvalSummarySchema>;
export type ApprovalCreate = z.output<typeof approvalCreateSchema>;
export type ApprovalStatus = (typeof approvalStatuses)[number];
export type ApprovalReason = NonNullable<Approval['reason']>;
