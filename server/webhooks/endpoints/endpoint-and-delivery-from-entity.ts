import type { InferEntity } from '@mikro-orm/core';
import type {
  WebhookDelivery as WebhookDeliveryBody,
  WebhookDeliveryDetails,
  WebhookEndpoint as WebhookEndpointBody,
} from '@mandate/contract';
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

type DeliveryEntity = InferEntity<typeof WebhookDelivery>;

/** Returns a delivery's API representation in lists. */
export const deliveryFromEntity = (delivery: DeliveryEntity, eventType: string): WebhookDeliveryBody => ({
  ...commonDeliveryFields(delivery, eventType),
  attempts: delivery.log.map(({ at, milliseconds, status_code, error }) => ({ at, milliseconds, status_code, error })),
});

/**
 * Returns a delivery's API representation with requests and responses. Attempts that earlier releases recorded have neither a request nor a
 * response.
 */
export const deliveryDetailsFromEntity = (delivery: DeliveryEntity, eventType: string): WebhookDeliveryDetails => ({
  ...commonDeliveryFields(delivery, eventType),
  attempts: delivery.log.map((attempt) => ({ ...attempt, request: attempt.request ?? null, response: attempt.response ?? null })),
});

const commonDeliveryFields = (delivery: DeliveryEntity, eventType: string): Omit<WebhookDeliveryBody, 'attempts'> => ({
  id: delivery.id,
  event_id: delivery.seq,
  event_type: eventType,
  status: delivery.status,
  next_attempt_at: delivery.status === 'pending' ? delivery.nextAttemptAt.toISOString() : null,
  created_at: delivery.createdAt.toISOString(),
  finished_at: delivery.finishedAt?.toISOString() ?? null,
});

/** Returns an endpoint's path. */
export const getWebhookEndpointPath = (id: number): string => `/api/v1/webhook-endpoints/${id}`;
