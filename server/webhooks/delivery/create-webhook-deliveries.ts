import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { OnSequenced } from '../../events/assign-event-sequence-numbers.ts';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint-and-delivery.entity.ts';
import { insertWebhookDeliveries } from './insert-webhook-deliveries.sql.ts';

/**
 * Creates the deliveries for events in the transaction that assigns sequence numbers to the events, so that both are committed atomically.
 */
export const createWebhookDeliveriesForEvents: OnSequenced = async (em: EntityManager, first, last) => {
  const endpoints = await em.find(WebhookEndpoint, {}, { fields: ['id'], limit: 1, disableIdentityMap: true });
  if (endpoints.length > 0) await insertWebhookDeliveries(em, [first, last]);
};
