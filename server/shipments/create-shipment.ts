import type { ShipmentCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { recordEvent } from '../events/record-event.ts';
import { lockAccessibleOrder } from '../orders/lock-accessible-order.ts';
import { changeShipmentAndOrderStatus } from './update-shipment.ts';
import {
  calculateShippableQuantity,
  readShippedPackedAndRestockedQuantities,
  assertLineQuantitiesAvailable,
  addUpQuantitiesPerLine,
} from './read-and-check-order-line-quantities.ts';
import { shipmentFromEntity } from './shipment-from-entity.ts';
import { Shipment } from './shipment.entity.ts';

/**
 * Creates a shipment for a paid order, with the given units or all remaining units. `status` can mark the shipment as shipped immediately.
 */
export async function createShipment(
  em: EntityManager,
  principal: Principal,
  orderId: number,
  input: ShipmentCreate,
  now: Date,
): Promise<Shipment> {
  const order = await lockAccessibleOrder(em, principal, orderId, 'shipments.write');
  if (order.status !== 'paid' && order.status !== 'shipped') {
    throw createProblem('invalid_transition', {
      detail: translatable`The order is ${{ status: order.status }}. Only paid orders can be shipped.`,
    });
  }
  const shippable = new Map(
    (await readShippedPackedAndRestockedQuantities(em, orderId)).map((line) => [line.line, calculateShippableQuantity(line)]),
  );
  const allRemaining = [...shippable].filter(([, quantity]) => quantity > 0).map(([line, quantity]) => ({ line, quantity }));
  const items = input.items ? addUpQuantitiesPerLine(input.items) : allRemaining;
  if (items.length === 0) throw createProblem('quantity_exceeded', { detail: 'Nothing is left to ship.' });
  assertLineQuantitiesAvailable('items', items, shippable);
  const { status, carrier = null, tracking_number: trackingNumber = null, tracking_url: trackingUrl = null } = input;
  const shipment = em.create(Shipment, { status: 'pending', order, items, carrier, trackingNumber, trackingUrl });
  await em.flush();
  await recordEvent(em, 'shipment.created', shipmentFromEntity(shipment), order.user.id);
  if (status !== 'pending') await changeShipmentAndOrderStatus(em, order, shipment, status, now);
  return shipment;
}
