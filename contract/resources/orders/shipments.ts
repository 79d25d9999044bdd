import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId } from '../../schema/ids.ts';
import { orderSubresourceQuery } from './order-subresources.ts';
import { orderLinesMax, orderPath } from './orders.ts';
import { lineQuantity } from './line-quantity.ts';
import { page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, guarded, withBody, withCursor, withIdempotencyKey, withIfMatch } from '../../protocol/problems.ts';
import { describedBy, dryRunQuery, idempotencyHeaders, ifMatchHeaders, ifNoneMatchHeaders } from '../../protocol/route-metadata.ts';
import { instant, line, storedLine } from '../../schema/text.ts';

const c = initContract();

export const shipmentProblems = {
  quantity_exceeded: { status: 409, title: 'The quantity exceeds the remaining quantity' },
} as const;

const fails = failuresOf({ ...commonProblems, ...shipmentProblems });

export const shipmentStatuses = ['pending', 'shipped', 'delivered', 'failed', 'canceled'] as const;

const trackingFields = (oneLine: typeof line | typeof storedLine) => ({
  carrier: oneLine(64).nullable(),
  tracking_number: oneLine(100).nullable(),
  tracking_url: z
    .string()
    .url()
    .max(2048)
    .refine((url) => url.startsWith('https://'), 'must be an https address')
    .nullable(),
});
const tracking = trackingFields(line);

export const shipment = component(
  'Shipment',
  z.object({
    id,
    order_id: id,
    status: z.enum(shipmentStatuses),
    ...trackingFields(storedLine),
    items: z.array(lineQuantity).min(1).max(orderLinesMax),
    version: z.number().int().min(1).describe('Version number, incremented by every change.'),
    created_at: instant,
    updated_at: instant,
    shipped_at: instant.nullable(),
    delivered_at: instant.nullable(),
  }),
);

export const shipmentCreate = component(
  'ShipmentCreate',
  z
    .object({
      status: z
        .enum(['pending', 'shipped', 'delivered'])
        .default('pending')
        .describe('Initial status. `delivered` records that the goods have already been handed over.'),
      items: z
        .array(lineQuantity)
        .min(1)
        .max(orderLinesMax)
        .optional()
        .describe('Order lines and quantities to ship (default: everything that is not shipped yet).'),
      ...tracking,
    })
    .partial({ carrier: true, tracking_number: true, tracking_url: true })
    .strict(),
);

export const shipmentUpdate = component(
  'ShipmentUpdate',
  z
    .object({ status: z.enum(['shipped', 'delivered', 'failed', 'canceled']), ...tracking })
    .partial()
    .strict(),
);

const shipmentPath = z.object({ shipment_id: pathId('ID of the shipment.') });

export const shipments = c.router({
  create: {
    method: 'POST',
    path: '/orders/:order_id/shipments',
    pathParams: orderPath,
    query: dryRunQuery,
    headers: idempotencyHeaders,
    body: shipmentCreate,
    summary: 'Ship an order',
    description: 'Creates a shipment for a paid order or a part of it.',
    responses: {
      201: shipment,
      ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'not_found', 'invalid_transition', 'quantity_exceeded'),
    },
    metadata: describedBy({
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
    pathParams: orderPath,
    query: z.object(pageQuery).strict(),
    summary: 'List the shipments of an order',
    description: 'Returns the shipments of the order, newest first.',
    responses: { 200: page('ShipmentPage', shipment), ...fails(...guarded, ...withCursor, 'not_found') },
    metadata: describedBy({ operationId: 'shipments.list', access: ['orders.read', 'orders.manage', 'shipments.write'] }),
  },
  listAll: {
    method: 'GET',
    path: '/shipments',
    query: z
      .object({
        ...orderSubresourceQuery(shipmentStatuses, 'shipments.write'),
        tracking_number: line(100).optional().describe('Only shipments with this tracking number.'),
      })
      .strict(),
    summary: 'List shipments',
    description:
      "Returns the shipments of the current user's orders. With `shipments.write` or `orders.manage` and a staff account, returns all shipments.",
    responses: { 200: page('ShipmentPage', shipment), ...fails(...guarded, ...withCursor) },
    metadata: describedBy({ operationId: 'shipments.listAll', access: ['orders.read', 'orders.manage', 'shipments.write'] }),
  },
  get: {
    method: 'GET',
    path: '/shipments/:shipment_id',
    pathParams: shipmentPath,
    headers: ifNoneMatchHeaders,
    summary: 'Get a shipment',
    responses: { 200: shipment, 304: c.noBody(), ...fails(...guarded, 'not_found') },
    metadata: describedBy({ operationId: 'shipments.get', access: ['orders.read', 'orders.manage', 'shipments.write'] }),
  },
  update: {
    method: 'PATCH',
    path: '/shipments/:shipment_id',
    pathParams: shipmentPath,
    headers: ifMatchHeaders,
    body: shipmentUpdate,
    summary: 'Update a shipment',
    description:
      'Updates the status or the tracking details. The status changes from `pending` to `shipped`, and then to `delivered`, or to `failed` if the parcel cannot be delivered. Only a `pending` shipment can be `canceled`.',
    responses: { 200: shipment, ...fails(...guarded, ...withBody, ...withIfMatch, 'not_found', 'invalid_transition') },
    metadata: describedBy({ operationId: 'shipments.update', access: ['shipments.write'] }),
  },
});

export type Shipment = z.output<typeof shipment>;
export type ShipmentCreate = z.output<typeof shipmentCreate>;
export type ShipmentUpdate = z.output<typeof shipmentUpdate>;
