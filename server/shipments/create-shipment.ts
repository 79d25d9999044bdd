import type { ShipmentCreate } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { recordEvent } from '../events/record-event.ts';
import { lockOrder } from '../orders/lock-order.ts';
import { changeStatus } from './change-shipment.ts';
import { leftToShip, linesOf, refuseTooMany, summed } from './order-lines.ts';
import { shipmentBody } from './shipment-body.ts';
import { Shipment } from './shipment.entity.ts';

/** Creates a shipment of a paid order with the given or all remaining units; `status` can mark it as shipped immediately. */
export async function createShipment(em: Em, principal: Principal, orderId: number, input: ShipmentCreate, now: Date): Promise<Shipment> {
  const order = await lockOrder(em, principal, orderId, 'shipments.write');
  if (order.status !== 'paid' && order.status !== 'shipped') {
    throw problem('invalid_transition', { detail: `The order is ${order.status}; only what is paid can be shipped.` });
  }
  const shippable = new Map((await linesOf(em, orderId)).map((line) => [line.line, leftToShip(line)]));
  const allRemaining = [...shippable].filter(([, quantity]) => quantity > 0).map(([line, quantity]) => ({ line, quantity }));
  const items = input.items ? summed(input.items) : allRemaining;
  if (items.length === 0) throw problem('quantity_exceeded', { detail: 'Nothing is left to ship.' });
  refuseTooMany('items', items, shippable);
  const { status, carrier = null, tracking_number: trackingNumber = null, tracking_url: trackingUrl = null } = input;
  const shipment = em.create(Shipment, { status: 'pending', order, items, carrier, trackingNumber, trackingUrl });
  await em.flush();
  await recordEvent(em, 'shipment.created', shipmentBody(shipment), order.user.id);
  if (status !== 'pending') await changeStatus(em, order, shipment, status, now);
  return shipment;
}
