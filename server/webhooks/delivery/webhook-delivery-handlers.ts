import type { contract } from '@mandate/contract';
import { recordEvent } from '../../events/record-event.ts';
import { createProblem } from '../../http/problem-details/problem.ts';
import { translatable } from '../../http/problem-details/translatable-text.ts';
import { startTaskIdempotently } from '../../http/writes/idempotency.ts';
import { requirePrincipal } from '../../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../../http/routing/route-handler-type.ts';
import { getWebhookEndpointPath } from '../endpoints/endpoint-and-delivery-from-entity.ts';
import { lockOwnEnabledWebhookEndpoint, findOwnWebhookEndpointOrThrow } from '../endpoints/find-list-or-lock-own-endpoints.ts';
import { findDeliveryOfEndpoint, listDeliveriesOfEndpoint } from './find-or-list-deliveries-of-endpoint.ts';
import { queueRedeliveries } from './queue-redeliveries.ts';

export const handleListWebhookDeliveries: RouteHandler<typeof contract.webhooks.deliveries, HandlerDependencies> = async (
  { em, pages },
  { params: { webhook_endpoint_id: id }, query, req, res },
) => {
  await findOwnWebhookEndpointOrThrow(em, requirePrincipal(req), id);
  const rows = await listDeliveriesOfEndpoint(em, id, query.status, pages.decodeCursor(req, query)?.[1], query.limit);
  const body = pages.respondWithPage(
    req,
    res,
    query,
    rows,
    (delivery) => delivery,
    ({ event_id: seq }) => [seq, seq],
  );
  return { status: 200, body };
};

export const handleGetWebhookDelivery: RouteHandler<typeof contract.webhooks.getDelivery, HandlerDependencies> = async (
  { em },
  { params: { webhook_endpoint_id: endpointId, webhook_delivery_id: id }, req },
) => {
  await findOwnWebhookEndpointOrThrow(em, requirePrincipal(req), endpointId);
  const delivery = await findDeliveryOfEndpoint(em, endpointId, id);
  if (!delivery) throw createProblem('not_found', { detail: translatable`Webhook delivery ${{ id }} was not found.` });
  return { status: 200, body: delivery };
};

export const handleRedeliverWebhooks: RouteHandler<typeof contract.webhooks.redeliver, HandlerDependencies> = (
  { em },
  { params: { webhook_endpoint_id: id }, body, req, res },
) =>
  startTaskIdempotently(
    em,
    req,
    res,
    async (inner) => {
      await lockOwnEnabledWebhookEndpoint(inner, requirePrincipal(req), id);
      return { deliveries: await queueRedeliveries(inner, id, body) };
    },
    () => `${getWebhookEndpointPath(id)}/deliveries`,
  );

export const handleSendTestWebhook: RouteHandler<typeof contract.webhooks.test, HandlerDependencies> = (
  { em },
  { params: { webhook_endpoint_id: id }, req, res },
) =>
  startTaskIdempotently(
    em,
    req,
    res,
    async (inner) => {
      const endpoint = await lockOwnEnabledWebhookEndpoint(inner, requirePrincipal(req), id);
      await recordEvent(inner, 'webhook_endpoint.test', endpoint, endpoint.user_id);
      return { type: 'webhook_endpoint.test' as const, webhook_endpoint_id: id };
    },
    () => `${getWebhookEndpointPath(id)}/deliveries`,
  );
