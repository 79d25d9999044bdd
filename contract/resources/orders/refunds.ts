import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema, idInUrlSchema } from '../../schema/ids.ts';
import { amountSchema, currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { orderLineAndQuantitySchema } from './order-line-and-quantity.ts';
import { createPaymentRefundAndShipmentListParameters } from './payment-refund-and-shipment-list-query.ts';
import { maxOrderLines } from './order-create-schema.ts';
import { orderPathParametersSchema } from './orders.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  cursorProblemCodes,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  declareRouteMetadata,
  dryRunQuerySchema,
  idempotencyHeadersSchema,
  ifNoneMatchHeadersSchema,
} from '../../protocol/route-metadata.ts';
import { shipmentProblemTypes } from './shipments.ts';
import { timestampSchema, multilineTextSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const refundProblemTypes = {
  refund_exceeds_payment: { status: 409, title: 'The refund exceeds the payment' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...shipmentProblemTypes, ...refundProblemTypes });

export const refundStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export const refundReasons = ['requested_by_customer', 'duplicate', 'fraudulent', 'order_canceled', 'damaged', 'other'] as const;

const refundFields = {
  reason: z.enum(refundReasons),
  note: multilineTextSchema(500).nullable(),
  restock: z.array(orderLineAndQuantitySchema).max(maxOrderLines).describe('Order lines and quantities to return to stock.'),
};

export const refundSchema = withSchemaName(
  'Refund',
  z.object({
    id: idSchema,
    order_id: idSchema,
    payment_id: idSchema,
    status: z.enum(refundStatuses),
    amount: amountSchema.describe('Refund amount, in minor units of `currency`.'),
    currency: currencySchema,
    ...refundFields,
    failure_code: z.string().nullable(),
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  }),
);

export const refundCreateSchema = withSchemaName(
  'RefundCreate',
  z
    .object({
      amount: amountSchema
        .min(1)
        .optional()
        .describe('Refund amount, in minor units (default: the part of the payment that has not been refunded yet).'),
      reason: refundFields.reason.default('requested_by_customer'),
      note: multilineTextSchema(500).optional(),
      restock: refundFields.restock.default([]),
    })
    .strict(),
);

const refundPath = z.object({ refund_id: pathIdSchema('ID of the refund.') });

export const refundRoutes = defineResource('Refunds', 'Refunds of payments.', {
  create: {
    method: 'POST',
    path: '/orders/:order_id/refunds',
    pathParams: orderPathParametersSchema,
    query: dryRunQuerySchema,
    headers: idempotencyHeadersSchema,
    body: refundCreateSchema,
    summary: 'Refund an order',
    description: 'Refunds the payment for an order, in full or in part. Only the quantities in `restock` are returned to stock.',
    responses: {
      201: refundSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'invalid_transition', 'refund_exceeds_payment', 'quantity_exceeded'),
    },
    metadata: declareRouteMetadata({ operationId: 'refunds.create', access: ['refunds.write'], idempotent: true, bodyMax: 1_000_000 }),
  },
  list: {
    method: 'GET',
    path: '/orders/:order_id/refunds',
    pathParams: orderPathParametersSchema,
    query: z.object(paginationParameters).strict(),
    summary: 'List the refunds of an order',
    description: 'Returns the refunds of the order, newest first.',
    responses: {
      200: listPageSchema('RefundPage', refundSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'refunds.list', access: ['payments.read', 'payments.manage'] }),
  },
  listAll: {
    method: 'GET',
    path: '/refunds',
    query: z
      .object({
        ...createPaymentRefundAndShipmentListParameters('refunds', refundStatuses, 'payments.manage'),
        payment_id: idInUrlSchema.optional().describe('Only refunds of this payment.'),
      })
      .strict(),
    summary: 'List refunds',
    description:
      "Returns the refunds for the current user's orders. With the `payments.manage` scope and a staff account, returns all refunds.",
    responses: {
      200: listPageSchema('RefundPage', refundSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'refunds.listAll', access: ['payments.read', 'payments.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/refunds/:refund_id',
    pathParams: refundPath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a refund',
    description: 'Returns the refund with its current status.',
    responses: { 200: refundSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'refunds.get', access: ['payments.read', 'payments.manage'] }),
  },
  confirm: {
    method: 'POST',
    path: '/refunds/:refund_id/confirmation',
    pathParams: refundPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Confirm a refund of a manual payment',
    description: 'Confirms that the money has been returned to the customer.',
    responses: {
      201: refundSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'invalid_transition'),
    },
    metadata: declareRouteMetadata({ operationId: 'refunds.confirm', access: ['refunds.write'], idempotent: true }),
  },
});

export type Refund = z.output<typeof refundSchema>;
export type RefundCreate = z.output<typeof refundCreateSchema>;
