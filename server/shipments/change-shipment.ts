import { LockMode } from '@mikro-orm/core';
import type { ShipmentUpdate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { Order } from '../orders/order.entity.ts';
import { updateFulfillmentStatus } from './update-fulfillment-status.ts';
import { shipmentFromEntity } from './shipment-response.ts';
import { Shipment } from './shipment.entity.ts';

const findOrderOfShipment = prepareStatement<{ order_id: number }>(
  'find_order_of_shipment',
  'select order_id from shipments where id = $1',
);
const addShippedQuantities = prepareStatement(
  'count_shipped',
  `update order_items i set shipped_quantity = i.shipped_quantity + w.quantity
     from unnest($2::int[], $3::int[]) as w (line, quantity) where i.order_id = $1 and i.line = w.line`,
);

export const shipmentNotFoundProblem = (id: number) => createProblem('not_found', { detail: `Shipment ${id} was not found.` });

type LockedShipment = { readonly order: Order; readonly shipment: Shipment };

/** Locks the order and then the shipment. All code locks in this order. */
export async function lockOrderAndShipment(em: EntityManager, id: number): Promise<LockedShipment> {
  const [row] = await findOrderOfShipment(em, [id]);
  if (!row) throw shipmentNotFoundProblem(id);
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const order = await em.findOneOrFail(Order, { id: row.order_id }, locked);
  return { order, shipment: await em.findOneOrFail(Shipment, { id }, locked) };
}

/** Applies a merge patch (RFC 7396) to a locked shipment. */
export async function updateShipment(
  em: EntityManager,
  { order, shipment }: LockedShipment,
  input: ShipmentUpdate,
  now: Date,
): Promise<void> {
  const { status = shipment.status, carrier, tracking_number: trackingNumber, tracking_url: trackingUrl } = input;
  if (carrier !== undefined) shipment.carrier = carrier;
  if (trackingNumber !== undefined) shipment.trackingNumber = trackingNumber;
  if (trackingUrl !== undefined) shipment.trackingUrl = trackingUrl;
  if (status !== 'pending' && status !== shipment.status) await changeShipmentStatus(em, order, shipment, status, now);
  await em.flush();
}

/** Changes a shipment's status, adjusts the order lines' shipped quantities and updates the order's fulfillment status. */
export async function changeShipmentStatus(
  em: EntityManager,
  order: Order,
  shipment: Shipment,
  next: NonNullable<ShipmentUpdate['status']>,
  now: Date,
): Promise<void> {
  const isDispatched = shipment.status === 'pending' && next !== 'canceled';
  shipment.transitionTo(next, now);
  await em.flush();
  const units = isDispatched ? 1 : next === 'failed' ? -1 : 0;
  const { items } = shipment;
  if (units !== 0) await addShippedQuantities(em, [order.id, items.map(({ line }) => line), items.map(({ quantity }) => units * quantity)]);
  await recordEvent(em, `shipment.${next}`, shipmentFromEntity(shipment), order.user.id);
  await updateFulfillmentStatus(em, order, now);
}
