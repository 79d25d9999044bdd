import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId, urlId } from '../../schema/ids.ts';
import { amount, currency } from '../../schema/money.ts';
import { lineQuantity } from './line-quantity.ts';
import { orderSubresourceQuery } from './order-subresources.ts';
import { orderLinesMax, orderPath } from './orders.ts';
import { page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, guarded, withBody, withCursor, withIdempotencyKey } from '../../protocol/problems.ts';
import { describedBy, dryRunQuery, idempotencyHeaders, ifNoneMatchHeaders } from '../../protocol/route-metadata.ts';
import { shipmentProblems } from './shipments.ts';
import { instant, text } from '../../schema/text.ts';

const c = initContract();

export const refundProblems = {
  refund_exceeds_payment: { status: 409, title: 'The refund exceeds the payment' },
} as const;

const fails = failuresOf({ ...commonProblems, ...shipmentProblems, ...refundProblems });

export const refundStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export const refundReasons = ['requested_by_customer', 'duplicate', 'fraudulent', 'order_canceled', 'damaged', 'other'] as const;

const refundFields = {
  reason: z.enum(refundReasons),
  note: text(500).nullable(),
  restock: z.array(lineQuantity).max(orderLinesMax).describe('Order lines and quantities to return to stock.'),
};

export const refund = component(
  'Refund',
  z.object({
    id,
    order_id: id,
    payment_id: id,
    status: z.enum(refundStatuses),
    amount: amount.describe('Refund amount, in minor units of `currency`.'),
    currency,
    ...refundFields,
    failure_code: z.string().nullable(),
    version: z.number().int().min(1).describe('Version number, incremented by every change.'),
    created_at: instant,
    updated_at: instant,
  }),
);

export const refundCreate = component(
  'RefundCreate',
  z
    .object({
      amount: amount
        .min(1)
        .optional()
        .describe('Refund amount, in minor units (default: the amount of the payment that is not refunded yet).'),
      reason: refundFields.reason.default('requested_by_customer'),
      note: text(500).optional(),
      restock: refundFields.restock.default([]),
    })
    .strict(),
);

const refundPath = z.object({ refund_id: pathId('ID of the refund.') });

export const refunds = c.router({
  create: {
    method: 'POST',
    path: '/orders/:order_id/refunds',
    pathParams: orderPath,
    query: dryRunQuery,
    headers: idempotencyHeaders,
    body: refundCreate,
    summary: 'Refund an order',
    description: 'Refunds the payment of an order in full or in part. Only the quantities in `restock` are returned to stock.',
    responses: {
      201: refund,
      ...fails(
        ...guarded,
        ...withBody,
        ...withIdempotencyKey,
        'not_found',
        'invalid_transition',
        'refund_exceeds_payment',
        'quantity_exceeded',
      ),
    },
    metadata: describedBy({ operationId: 'refunds.create', access: ['refunds.write'], idempotent: true, bodyMax: 1_000_000 }),
  },
  list: {
    method: 'GET',
    path: '/orders/:order_id/refunds',
    pathParams: orderPath,
    query: z.object(pageQuery).strict(),
    summary: 'List the refunds of an order',
    description: 'Returns the refunds of the order, newest first.',
    responses: { 200: page('RefundPage', refund), ...fails(...guarded, ...withCursor, 'not_found') },
    metadata: describedBy({ operationId: 'refunds.list', access: ['payments.read', 'payments.manage'] }),
  },
  listAll: {
    method: 'GET',
    path: '/refunds',
    query: z
      .object({
        ...orderSubresourceQuery(refundStatuses, 'payments.manage'),
        payment_id: urlId.optional().describe('Only refunds of this payment.'),
      })
      .strict(),
    summary: 'List refunds',
    description:
      "Returns the refunds for the current user's orders. With the `payments.manage` scope and a staff account, returns all refunds.",
    responses: { 200: page('RefundPage', refund), ...fails(...guarded, ...withCursor) },
    metadata: describedBy({ operationId: 'refunds.listAll', access: ['payments.read', 'payments.manage'] }),
  },
  get: {
    method: 'GET',
    path: '/refunds/:refund_id',
    pathParams: refundPath,
    headers: ifNoneMatchHeaders,
    summary: 'Get a refund',
    responses: { 200: refund, 304: c.noBody(), ...fails(...guarded, 'not_found') },
    metadata: describedBy({ operationId: 'refunds.get', access: ['payments.read', 'payments.manage'] }),
  },
  confirm: {
    method: 'POST',
    path: '/refunds/:refund_id/confirmation',
    pathParams: refundPath,
    headers: idempotencyHeaders,
    body: c.noBody(),
    summary: 'Confirm a refund of a manual payment',
    description: 'Confirms that the money has been returned to the customer.',
    responses: { 201: refund, ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'not_found', 'invalid_transition') },
    metadata: describedBy({ operationId: 'refunds.confirm', access: ['refunds.write'], idempotent: true }),
  },
});

export type Refund = z.output<typeof refund>;
export type RefundCreate = z.output<typeof refundCreate>;
