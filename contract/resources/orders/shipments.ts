import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { createPaymentRefundAndShipmentListParameters } from './payment-refund-and-shipment-list-query.ts';
import { maxOrderLines } from './order-create-schema.ts';
import { orderPathParametersSchema } from './orders.ts';
import { orderLineAndQuantitySchema } from './order-line-and-quantity.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  ifMatchFailureCodes,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  declareRouteMetadata,
  dryRunQuerySchema,
  idempotencyHeadersSchema,
  ifMatchHeadersSchema,
  ifNoneMatchHeadersSchema,
} from '../../protocol/route-metadata.ts';
import {
  rejectHiddenCharacters,
  timestampSchema,
  singleLineInputSchema,
  singleLineResponseSchema,
} from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const shipmentProblemTypes = {
  quantity_exceeded: { status: 409, title: 'The quantity exceeds the remaining quantity' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...shipmentProblemTypes });

export const shipmentStatuses = ['pending', 'shipped', 'delivered', 'failed', 'canceled'] as const;

const trackingUrlSchema = z
  .string()
  .url()
  .max(2048)
  .refine((url) => url.startsWith('https://'), 'must be an https URL');

const trackingFields = (oneLine: typeof singleLineInputSchema | typeof singleLineResponseSchema, trackingUrl: z.ZodType<string>) => ({
  carrier: oneLine(64).nullable(),
  tracking_number: oneLine(100).nullable(),
  tracking_url: trackingUrl.nullable(),
});
const tracking = trackingFields(singleLineInputSchema, trackingUrlSchema.superRefine(rejectHiddenCharacters));

export const shipmentSchema = withSchemaName(
  'Shipment',
  z.object({
    id: idSchema,
    order_id: idSchema,
    status: z.enum(shipmentStatuses),
    ...trackingFields(singleLineResponseSchema, trackingUrlSchema),
    items: z.array(orderLineAndQuantitySchema).min(1).max(maxOrderLines),
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
    shipped_at: timestampSchema.nullable(),
    delivered_at: timestampSchema.nullable(),
  }),
);

export const shipmentCreateSchema = withSchemaName(
  'ShipmentCreate',
  z
    .object({
      status: z
        .enum(['pending', 'shipped', 'delivered'])
        .default('pending')
        .describe('Initial status. `delivered` records that the goods have already been handed over.'),
      items: z
        .array(orderLineAndQuantitySchema)
        .min(1)
        .max(maxOrderLines)
        .optional()
        .describe('Order lines and quantities to ship (default: everything that has not been shipped yet).'),
      ...tracking,
    })
    .partial({ carrier: true, tracking_number: true, tracking_url: true })
    .strict(),
);

export const shipmentUpdateSchema = withSchemaName(
  'ShipmentUpdate',
  z
    .object({ status: z.enum(['shipped', 'delivered', 'failed', 'canceled']), ...tracking })
    .partial()
    .strict(),
);

const shipmentPath = z.object({ shipment_id: pathIdSchema('ID of the shipment.') });

export const shipmentRoutes = defineResource('Shipments', 'Shipments of orders, with tracking details.', {
  create: {
    method: 'POST',
    path: '/orders/:order_id/shipments',
    pathParams: orderPathParametersSchema,
    query: dryRunQuerySchema,
    headers: idempotencyHeadersSchema,
    body: shipmentCreateSchema,
    summary: 'Ship an order',
    description: 'Creates a shipment for all or part of a paid order.',
    responses: {
      201: shipmentSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'invalid_transition', 'quantity_exceeded'),
    },
    metadata: declareRouteMetadata({
      operationId: 'shipments.create',
      access: ['shipments.write'],
      idempotent: true,
      returnsEtag: true,
      bodyMax: 1_000_000,
    }),
  },
  list: {
    method: 'GET',
    path: '/orders/:order_id/shipments',
    pathParams: orderPathParametersSchema,
    query: z.object(paginationParameters).strict(),
    summary: 'List the shipments of an order',
    description: 'Returns the shipments of the order, newest first.',
    responses: {
      200: listPageSchema('ShipmentPage', shipmentSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'shipments.list', access: ['orders.read', 'orders.manage', 'shipments.write'] }),
  },
  listAll: {
    method: 'GET',
    path: '/shipments',
    query: z
      .object({
        ...createPaymentRefundAndShipmentListParameters('shipments', shipmentStatuses, 'shipments.write'),
        tracking_number: singleLineInputSchema(100).optional().describe('Only shipments with this tracking number.'),
      })
      .strict(),
    summary: 'List shipments',
    description:
      "Returns the shipments of the current user's orders. With a staff account and the `shipments.write` or `orders.manage` scope, returns all shipments.",
    responses: {
      200: listPageSchema('ShipmentPage', shipmentSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'shipments.listAll', access: ['orders.read', 'orders.manage', 'shipments.write'] }),
  },
  get: {
    method: 'GET',
    path: '/shipments/:shipment_id',
    pathParams: shipmentPath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a shipment',
    description: 'Returns the shipment with its items and tracking details.',
    responses: { 200: shipmentSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'shipments.get', access: ['orders.read', 'orders.manage', 'shipments.write'] }),
  },
  update: {
    method: 'PATCH',
    path: '/shipments/:shipment_id',
    pathParams: shipmentPath,
    headers: ifMatchHeadersSchema,
    body: shipmentUpdateSchema,
    summary: 'Update a shipment',
    description:
      'Updates the status or the tracking details. The status changes from `pending` to `shipped`, and then to `delivered`, or to `failed` if the parcel cannot be delivered. Only a `pending` shipment can be `canceled`.',
    responses: {
      200: shipmentSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, ...ifMatchFailureCodes, 'not_found', 'invalid_transition'),
    },
    metadata: declareRouteMetadata({ operationId: 'shipments.update', access: ['shipments.write'] }),
  },
});

export type Shipment = z.output<typeof shipmentSchema>;
export type ShipmentCreate = z.output<typeof shipmentCreateSchema>;
export type ShipmentUpdate = z.output<typeof shipmentUpdateSchema>;
