import type { WebhookDelivery as WebhookDeliveryBody, WebhookDeliveryDetails, WebhookDeliveryStatus } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { Event } from '../../events/event-and-sequence-counter.entity.ts';
import { deliveryDetailsFromEntity, deliveryFromEntity } from '../endpoints/endpoint-and-delivery-from-entity.ts';
import { WebhookDelivery } from '../endpoints/webhook-endpoint-and-delivery.entity.ts';

/** Returns up to `limit + 1` deliveries to an endpoint, newest events first. */
export async function listDeliveriesOfEndpoint(
  em: EntityManager,
  endpoint: number,
  status: readonly WebhookDeliveryStatus[] | undefined,
  before: number | undefined,
  limit: number,
): Promise<WebhookDeliveryBody[]> {
  const where = { endpoint, ...(status && { status: { $in: [...status] } }), ...(before !== undefined && { seq: { $lt: before } }) };
  const deliveries = await em.find(WebhookDelivery, where, { orderBy: { seq: 'desc' }, limit: limit + 1, disableIdentityMap: true });
  const eventIds = deliveries.map(({ event }) => event);
  const events = await em.find(Event, { id: { $in: eventIds } }, { fields: ['type'], disableIdentityMap: true });
  const types = new Map(events.map(({ id, type }) => [id, type]));
  // If an event was deleted between the two queries, its delivery was deleted as well.
  return deliveries.flatMap((delivery) => {
    const type = types.get(delivery.event);
    return type === undefined ? [] : [deliveryFromEntity(delivery, type)];
  });
}

/** Returns a delivery to an endpoint with its requests and responses, or undefined if the delivery does not exist. */
export async function findDeliveryOfEndpoint(em: EntityManager, endpoint: number, id: number): Promise<WebhookDeliveryDetails | undefined> {
  const delivery = await em.findOne(WebhookDelivery, { id, endpoint }, { disableIdentityMap: true });
  const event = delivery && (await em.findOne(Event, { id: delivery.event }, { fields: ['type'], disableIdentityMap: true }));
  return delivery && event ? deliveryDetailsFromEntity(delivery, event.type) : undefined;
}
