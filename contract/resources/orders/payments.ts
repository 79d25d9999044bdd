import { extendApi } from '@anatine/zod-openapi';
import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { amountSchema, currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { createPaymentRefundAndShipmentListParameters } from './payment-refund-and-shipment-list-query.ts';
import { orderPathParametersSchema } from './orders.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  cursorProblemCodes,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema, ifNoneMatchHeadersSchema } from '../../protocol/route-metadata.ts';
import { rejectHiddenCharacters, timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const paymentProblemTypes = {
  payment_in_progress: { status: 409, title: 'A payment is in progress' },
  already_paid: { status: 409, title: 'The order is already paid' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...paymentProblemTypes });

export const paymentProviderNames = ['manual', 'test', 'stripe'] as const;
/** Payment outcome for each test provider token. */
export const testPaymentOutcomeTextsByToken = {
  test_ok: 'the payment succeeds',
  test_declined: 'the payment is declined',
  test_requires_action: 'the customer must take an action, and then the payment succeeds',
  test_processing_then_ok: 'the payment is processed for a while, then succeeds',
  test_timeout: "the payment succeeds, but the provider's first response is lost",
  test_duplicate_webhook: 'the payment succeeds later, and the provider reports it twice',
  test_out_of_order_webhook: "the payment succeeds later, and the provider's reports arrive in the wrong order",
  test_late_success: 'the payment remains pending and succeeds only after it has been canceled',
} as const;

const testTokenList = Object.entries(testPaymentOutcomeTextsByToken)
  .map(([token, effect]) => `\`${token}\` (${effect})`)
  .join(', ');

/** Statuses of a payment. The first three statuses are not final. */
export const paymentStatuses = ['pending', 'requires_action', 'processing', 'succeeded', 'failed', 'canceled'] as const;
export const paymentFailureCodes = [
  'card_declined',
  'insufficient_funds',
  'expired_card',
  'authentication_failed',
  'provider_unavailable',
  'canceled',
  'unknown',
] as const;

export const paymentNextActionSchema = withSchemaName(
  'NextAction',
  z.object({
    type: z
      .enum(['redirect', 'sdk'])
      .describe("`redirect`: redirect the customer to `url`. `sdk`: pass `client_secret` to the provider's SDK."),
    url: z.string().nullable(),
    client_secret: z.string().nullable(),
  }),
);

export const paymentSchema = withSchemaName(
  'Payment',
  z.object({
    id: idSchema,
    order_id: idSchema,
    attempt: z.number().int().min(1).describe('Sequence number of the payment within the order, starting at 1.'),
    provider: extensibleEnumSchema(paymentProviderNames),
    status: z.enum(paymentStatuses),
    amount: amountSchema.describe('Total of the order, in minor units of `currency`.'),
    currency: currencySchema,
    refunded_total: amountSchema.describe('Total of all successful refunds, in minor units of `currency`.'),
    refunded_amount: extendApi(amountSchema, {
      deprecated: true,
      description: 'Use `refunded_total` instead, which has the same value.',
    }),
    provider_reference: z
      .string()
      .nullable()
      .describe(
        'ID of the payment at the provider, for support and reconciliation. For Stripe, the ID of the PaymentIntent (`pi_...`). `null` for callers without `payments.manage`, for `manual` payments, and until the provider has responded.',
      ),
    next_action: paymentNextActionSchema
      .nullable()
      .describe('Action that the customer must take. The action is visible only to callers who can pay for the order.'),
    failure_code: extensibleEnumSchema(paymentFailureCodes).nullable(),
    failure_message: z.string().nullable(),
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
    succeeded_at: timestampSchema.nullable(),
  }),
);

export const paymentCreateSchema = withSchemaName(
  'PaymentCreate',
  z
    .object({
      provider: z
        .enum(paymentProviderNames)
        .describe(
          'Payment provider. `manual`: staff confirm the payment when the money has been received. `test`: simulated payments, enabled in development. `stripe`: payments through Stripe. If the provider is not enabled, the response is 400 and `allowed` lists the enabled providers.',
        ),
      method_token: z
        .string()
        .regex(/^[\w.:-]{1,255}$/, 'must be a token issued by the provider')
        .optional()
        .describe(
          `The provider's token for the payment method. If no token is sent, the customer must complete the payment. For Stripe, the ID of a PaymentMethod (\`pm_...\`). For the test provider: ${testTokenList}. The test provider rejects unknown tokens with 400.`,
        ),
      return_url: z
        .string()
        .url()
        .max(2048)
        .refine((url) => /^https?:/.test(url), 'must be an http or https URL')
        .superRefine(rejectHiddenCharacters)
        .optional()
        .describe('URL to which the provider redirects the customer after the required action.'),
    })
    .strict(),
);

const paymentPath = z.object({ payment_id: pathIdSchema('ID of the payment.') });

export const paymentRoutes = defineResource('Payments', 'Payments for orders.', {
  create: {
    method: 'POST',
    path: '/orders/:order_id/payments',
    pathParams: orderPathParametersSchema,
    headers: idempotencyHeadersSchema,
    body: paymentCreateSchema,
    summary: 'Pay for an order',
    description:
      'Starts a payment of the order total. Check `status` and `next_action` in the response: the payment may already have succeeded, may require an action by the customer, or may still be in progress at the provider. In development, `{"provider": "test", "method_token": "test_ok"}` simulates a successful payment.',
    responses: {
      201: paymentSchema,
      ...fails(
        ...problemCodesOfAuthorizedPosts,
        'not_found',
        'limit_exceeded',
        'payment_in_progress',
        'already_paid',
        'invalid_transition',
      ),
    },
    metadata: declareRouteMetadata({ operationId: 'payments.create', access: ['payments.write', 'payments.manage'], idempotent: true }),
  },
  list: {
    method: 'GET',
    path: '/orders/:order_id/payments',
    pathParams: orderPathParametersSchema,
    query: z.object(paginationParameters).strict(),
    summary: 'List the payments of an order',
    description: 'Returns the payments of the order, newest first.',
    responses: {
      200: listPageSchema('PaymentPage', paymentSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'payments.list', access: ['payments.read', 'payments.manage'] }),
  },
  listAll: {
    method: 'GET',
    path: '/payments',
    query: z.object(createPaymentRefundAndShipmentListParameters('payments', paymentStatuses, 'payments.manage')).strict(),
    summary: 'List payments',
    description:
      "Returns the payments for the current user's orders. With the `payments.manage` scope and a staff account, returns all payments.",
    responses: {
      200: listPageSchema('PaymentPage', paymentSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'payments.listAll', access: ['payments.read', 'payments.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/payments/:payment_id',
    pathParams: paymentPath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a payment',
    description:
      'Returns a payment. Staff with `payments.manage` also see `provider_reference`, which identifies the payment at its provider, such as a Stripe PaymentIntent.',
    responses: { 200: paymentSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'payments.get', access: ['payments.read', 'payments.manage'] }),
  },
  cancel: {
    method: 'POST',
    path: '/payments/:payment_id/cancellation',
    pathParams: paymentPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Cancel a payment',
    description:
      'Cancels a payment whose status is `pending` or `requires_action`. The order remains open and can be paid in another way until its reservation expires.',
    responses: {
      201: paymentSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'invalid_transition'),
    },
    metadata: declareRouteMetadata({ operationId: 'payments.cancel', access: ['payments.write', 'payments.manage'], idempotent: true }),
  },
  confirm: {
    method: 'POST',
    path: '/payments/:payment_id/confirmation',
    pathParams: paymentPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Confirm a manual payment',
    description:
      'Confirms that the money has been received in cash or by bank transfer. If the order has been canceled in the meantime, the payment must be refunded.',
    responses: {
      201: paymentSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'invalid_transition'),
    },
    metadata: declareRouteMetadata({ operationId: 'payments.confirm', access: ['payments.manage'], idempotent: true }),
  },
});

export type Payment = z.output<typeof paymentSchema>;
export type PaymentCreate = z.output<typeof paymentCreateSchema>;
