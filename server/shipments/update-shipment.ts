import { LockMode } from '@mikro-orm/core';
import type { ShipmentUpdate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { buildAccessibleOrdersFilter } from '../orders/check-order-access-and-build-filters.ts';
import { Order, OrderItem } from '../orders/order-and-order-item.entity.ts';
import { updateFulfillmentAndOrderStatus } from './update-fulfillment-and-order-status.ts';
import { shipmentFromEntity } from './shipment-from-entity.ts';
import { Shipment } from './shipment.entity.ts';

export const createShipmentNotFoundProblem = (id: number) =>
  createProblem('not_found', { detail: translatable`Shipment ${{ id }} was not found.` });

type LockedShipment = { readonly order: Order; readonly shipment: Shipment };

/**
 * Locks the order and then the shipment, if the principal may change the order's shipments. All code acquires these locks in the same
 * sequence.
 */
export async function lockAccessibleOrderAndShipment(em: EntityManager, principal: Principal, id: number): Promise<LockedShipment> {
  const accessible = { id, order: buildAccessibleOrdersFilter(principal, 'shipments.write') };
  const found = await em.findOne(Shipment, accessible, { disableIdentityMap: true });
  if (!found) throw createShipmentNotFoundProblem(id);
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const order = await em.findOneOrFail(Order, { id: found.order.id }, locked);
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
  if (status !== 'pending' && status !== shipment.status) await changeShipmentAndOrderStatus(em, order, shipment, status, now);
  await em.flush();
}

/** Changes a shipment's status, adjusts the order lines' shipped quantities and updates the order's fulfillment status. */
export async function changeShipmentAndOrderStatus(
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
  if (units !== 0) await addShippedQuantities(em, order, shipment, units);
  await recordEvent(em, `shipment.${next}`, shipmentFromEntity(shipment), order.user.id);
  await updateFulfillmentAndOrderStatus(em, order, now);
}

/** Adds the shipment's quantities, multiplied by `units`, to the shipped quantities of the locked order's lines. */
async function addShippedQuantities(em: EntityManager, order: Order, { items }: Shipment, units: 1 | -1): Promise<void> {
  const quantities = new Map(items.map(({ line, quantity }) => [line, units * quantity]));
  const lines = await em.find(OrderItem, { order: order.id, line: { $in: [...quantities.keys()] } }, { refresh: true });
  for (const line of lines) line.shippedQuantity += quantities.get(line.line) ?? 0;
  await em.flush();
}
