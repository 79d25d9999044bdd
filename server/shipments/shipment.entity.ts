import { defineEntity, p } from '@mikro-orm/core';
import { shipmentStatuses, type LineQuantity, type ShipmentUpdate } from '@mandate/contract';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';

const schema = defineEntity({
  name: 'Shipment',
  tableName: 'shipments',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    order: () => p.manyToOne(Order).ref().deleteRule('no action').updateRule('no action'),
    status: p.enum(shipmentStatuses),
    carrier: p.text().nullable().check('length(carrier) <= 64'),
    trackingNumber: p.text().nullable().check('length(tracking_number) <= 100'),
    trackingUrl: p.text().nullable().check('length(tracking_url) <= 2048'),
    items: p.json<LineQuantity[]>(),
    ...versionAndTimestampProperties(),
    shippedAt: p.datetime(3).nullable(),
    deliveredAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'shipments_order', properties: ['order', 'id'] },
    { name: 'shipments_status_created', properties: ['status', 'createdAt', 'id'] },
    { name: 'shipments_tracking_number', properties: ['trackingNumber'], where: 'tracking_number is not null' },
  ],
});

type NextStatus = NonNullable<ShipmentUpdate['status']>;
const nextStatuses: Record<Shipment['status'], readonly NextStatus[]> = {
  pending: ['shipped', 'delivered', 'canceled'],
  shipped: ['delivered', 'failed'],
  delivered: [],
  failed: [],
  canceled: [],
};

export class Shipment extends schema.class {
  /** Changes the status. If a shipment becomes `delivered` without having been `shipped`, both timestamps are set. */
  transitionTo(next: NextStatus, now: Date): void {
    if (!nextStatuses[this.status].includes(next)) {
      const allowed = nextStatuses[this.status];
      throw createProblem('invalid_transition', {
        detail:
          allowed.length === 0
            ? translatable`The shipment has the status ${{ status: this.status }}, which cannot be changed.`
            : translatable`The shipment has the status ${{ status: this.status }}, which can only be changed to ${{ allowed: { anyOf: allowed } }}.`,
      });
    }
    this.status = next;
    if (next === 'shipped' || next === 'delivered') this.shippedAt ??= now;
    if (next === 'delivered') this.deliveredAt = now;
  }
}
schema.setClass(Shipment);
