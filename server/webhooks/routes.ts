import { initServer } from '@ts-rest/express';
import { contract, type WebhookEndpointWithSecret, type WebhookSecretRotation } from '@mandate/contract';
import {
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
  rejectIfMatchMismatch,
} from '../http/response/etag-and-conditional-requests.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { updateWebhookEndpoint, rotateWebhookSecret } from './endpoints/update-endpoint-or-rotate-secret.ts';
import { createWebhookEndpoint, type WebhookDependencies } from './endpoints/create-endpoint.ts';
import {
  handleGetWebhookDelivery,
  handleListWebhookDeliveries,
  handleRedeliverWebhooks,
  handleSendTestWebhook,
} from './delivery/webhook-delivery-handlers.ts';
import { getWebhookEndpointPath, endpointFromEntity } from './endpoints/endpoint-and-delivery-from-entity.ts';
import {
  findOwnWebhookEndpointOrThrow,
  listOwnWebhookEndpoints,
  lockOwnWebhookEndpoint,
} from './endpoints/find-list-or-lock-own-endpoints.ts';

const daySeconds = 24 * 60 * 60;
const etagName = (id: number): string => `webhook-endpoint-${id}`;

type Dependencies = HandlerDependencies & WebhookDependencies;

export const webhookRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.webhooks, {
    list: (request) => handleListWebhookEndpoints(dependencies, request),
    create: (request) => handleCreateWebhookEndpoint(dependencies, request),
    get: (request) => handleGetWebhookEndpoint(dependencies, request),
    update: (request) => handleUpdateWebhookEndpoint(dependencies, request),
    delete: (request) => handleDeleteWebhookEndpoint(dependencies, request),
    rotateSecret: (request) => handleRotateWebhookSecret(dependencies, request),
    deliveries: (request) => handleListWebhookDeliveries(dependencies, request),
    getDelivery: (request) => handleGetWebhookDelivery(dependencies, request),
    redeliver: (request) => handleRedeliverWebhooks(dependencies, request),
    test: (request) => handleSendTestWebhook(dependencies, request),
  });

const handleListWebhookEndpoints: RouteHandler<typeof contract.webhooks.list, Dependencies> = async (
  { em, pages },
  { query, req, res },
) => {
  const rows = await listOwnWebhookEndpoints(em, requirePrincipal(req), pages.decodeCursor(req, query)?.[1], query.limit);
  return { status: 200, body: pages.respondWithPage(req, res, query, rows, endpointFromEntity, ({ id }) => [id, id]) };
};

const handleCreateWebhookEndpoint: RouteHandler<typeof contract.webhooks.create, Dependencies> = (dependencies, { body, req, res }) =>
  createResourceIdempotently(
    dependencies.em,
    req,
    res,
    (inner): Promise<WebhookEndpointWithSecret> => createWebhookEndpoint(inner, requirePrincipal(req), body, dependencies),
    ({ id }) => getWebhookEndpointPath(id),
  );

const handleGetWebhookEndpoint: RouteHandler<typeof contract.webhooks.get, Dependencies> = async (
  { em },
  { params: { webhook_endpoint_id: id }, req, res },
) => respondWithEtagOrNotModified(req, res, etagName(id), await findOwnWebhookEndpointOrThrow(em, requirePrincipal(req), id));

const handleUpdateWebhookEndpoint: RouteHandler<typeof contract.webhooks.update, Dependencies> = async (
  dependencies,
  { params: { webhook_endpoint_id: id }, body, req, res },
) => {
  const endpoint = await dependencies.em.transactional(async (inner) => {
    const before = await lockOwnWebhookEndpoint(inner, requirePrincipal(req), id);
    rejectIfMatchMismatch(req, etagName(id), before);
    return updateWebhookEndpoint(inner, requirePrincipal(req), before, body, dependencies);
  });
  return respondWithEtagOfChangedResource(res, etagName(id), endpoint);
};

const handleDeleteWebhookEndpoint: RouteHandler<typeof contract.webhooks.delete, Dependencies> = async (
  { em },
  { params: { webhook_endpoint_id: id }, req },
) => {
  await em.transactional(async (inner) => {
    const endpoint = await lockOwnWebhookEndpoint(inner, requirePrincipal(req), id);
    rejectIfMatchMismatch(req, etagName(id), endpoint);
    await inner.remove(endpoint).flush();
  });
  return { status: 204, body: undefined };
};

const handleRotateWebhookSecret: RouteHandler<typeof contract.webhooks.rotateSecret, Dependencies> = (
  { em, webhookKey },
  { params: { webhook_endpoint_id: id }, body, req, res },
) =>
  createResourceIdempotently(
    em,
    req,
    res,
    async (inner): Promise<WebhookSecretRotation> => {
      const endpoint = await lockOwnWebhookEndpoint(inner, requirePrincipal(req), id);
      const overlapSeconds = body.overlap_seconds ?? daySeconds;
      const { secret, until } = await rotateWebhookSecret(inner, endpoint, overlapSeconds, webhookKey, new Date());
      return { secret, previous_secret_expires_at: until };
    },
    () => getWebhookEndpointPath(id),
  );
