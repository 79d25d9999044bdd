import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { findOrderWithoutPermissionCheck } from '../orders/find-order.ts';
import type { Order } from '../orders/order-and-order-item.entity.ts';
import { readShippedPackedAndRestockedQuantities } from './read-and-check-order-line-quantities.ts';
import { Shipment } from './shipment.entity.ts';

/** Derives a locked order's fulfillment status from its lines and shipments, and records the events if the status changes. */
export async function updateFulfillmentAndOrderStatus(em: EntityManager, order: Order, now: Date): Promise<void> {
  const before = order.status;
  const lines = await readShippedPackedAndRestockedQuantities(em, order.id);
  const shipped = lines.some((line) => line.shipped > 0);
  const complete = lines.every((line) => line.shipped + line.restocked >= line.quantity);
  // Order lines are part of the order, so changing them also changes the order's `updated_at`.
  order.updatedAt = now;
  order.markShipped(shipped ? (complete ? 'all' : 'part') : 'nothing', now);
  await em.flush();
  if (order.status === 'shipped' && before === 'paid')
    await recordEvent(em, 'order.shipped', await findOrderWithoutPermissionCheck(em, order.id), order.user.id);
  const open = await em.count(Shipment, { order: order.id, status: { $in: ['pending', 'shipped'] } });
  if (order.status !== 'shipped' || order.fulfillmentStatus !== 'shipped' || open > 0) return;
  order.markDelivered(now);
  await em.flush();
  await recordEvent(em, 'order.delivered', await findOrderWithoutPermissionCheck(em, order.id), order.user.id);
}
