import type { InferEntity } from '@mikro-orm/core';
import type { WebhookDelivery as WebhookDeliveryBody, WebhookEndpoint as WebhookEndpointBody } from '@mandate/contract';
import type { WebhookDelivery, WebhookEndpoint } from './webhook-endpoint-and-delivery.entity.ts';

export type EndpointEntity = InferEntity<typeof WebhookEndpoint>;

/** Returns an endpoint's API representation. */
export const endpointFromEntity = (endpoint: EndpointEntity): WebhookEndpointBody => ({
  id: endpoint.id,
  url: endpoint.url,
  events: endpoint.events,
  description: endpoint.description ?? null,
  status: endpoint.status,
  disabled_reason: endpoint.disabledReason ?? null,
  client_id: endpoint.clientId,
  user_id: endpoint.user ?? null,
  scopes: endpoint.scopes,
  failing_since: endpoint.failingSince?.toISOString() ?? null,
  version: endpoint.version,
  created_at: endpoint.createdAt.toISOString(),
  updated_at: endpoint.updatedAt.toISOString(),
});

/** Returns a delivery's API representation. */
export const deliveryFromEntity = (delivery: InferEntity<typeof WebhookDelivery>, eventType: string): WebhookDeliveryBody => ({
  id: delivery.id,
  event_id: delivery.seq,
  event_type: eventType,
  status: delivery.status,
  next_attempt_at: delivery.status === 'pending' ? delivery.nextAttemptAt.toISOString() : null,
  created_at: delivery.createdAt.toISOString(),
  finished_at: delivery.finishedAt?.toISOString() ?? null,
  attempts: delivery.log,
});

/** Returns an endpoint's path. */
export const getWebhookEndpointPath = (id: number): string => `/api/v1/webhook-endpoints/${id}`;
