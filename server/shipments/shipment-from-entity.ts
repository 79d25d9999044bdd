import type { Shipment as ShipmentBody } from '@mandate/contract';
import type { Shipment } from './shipment.entity.ts';

export const shipmentFromEntity = (shipment: Shipment): ShipmentBody => ({
  id: shipment.id,
  order_id: shipment.order.id,
  status: shipment.status,
  carrier: shipment.carrier ?? null,
  tracking_number: shipment.trackingNumber ?? null,
  tracking_url: shipment.trackingUrl ?? null,
  items: shipment.items,
  version: shipment.version,
  created_at: shipment.createdAt.toISOString(),
  updated_at: shipment.updatedAt.toISOString(),
  shipped_at: shipment.shippedAt?.toISOString() ?? null,
  delivered_at: shipment.deliveredAt?.toISOString() ?? null,
});
