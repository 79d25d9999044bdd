import { initServer } from '@ts-rest/express';
import { contract, type NewWebhookEndpoint, type WebhookSecretRotation } from '@mandate/contract';
import { respondWithNewEtag, respondWithEtag, checkIfMatch } from '../http/response/etag.ts';
import { createIdempotently } from '../http/writes/idempotency.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { updateWebhookEndpoint, rotateWebhookSecret } from './endpoints/endpoint-changes.ts';
import { createWebhookEndpoint, type WebhookDependencies } from './endpoints/create-endpoint.ts';
import { createDeliveryHandlers } from './delivery/delivery-handlers.ts';
import { endpointLocation, endpointFromEntity } from './endpoints/endpoint-rows.ts';
import { findWebhookEndpoint, listWebhookEndpoints, lockWebhookEndpoint } from './endpoints/find-endpoint.ts';

const daySeconds = 24 * 60 * 60;
const etagName = (id: number): string => `webhook-endpoint-${id}`;

export const webhookRoutes = ({ em, pages, ...deps }: HandlerDependencies & WebhookDependencies) =>
  initServer().router(contract.webhooks, {
    list: async ({ query, req, res }) => {
      const rows = await listWebhookEndpoints(em, requirePrincipal(req), pages.decodeCursor(req, query)?.[1], query.limit);
      return { status: 200, body: pages.respondWithPage(req, res, query, rows, endpointFromEntity, ({ id }) => [id, id]) };
    },

    create: ({ body, req, res }) =>
      createIdempotently(
        em,
        req,
        res,
        (inner): Promise<NewWebhookEndpoint> => createWebhookEndpoint(inner, requirePrincipal(req), body, deps),
        ({ id }) => endpointLocation(id),
      ),

    get: async ({ params: { webhook_endpoint_id: id }, req, res }) =>
      respondWithEtag(req, res, etagName(id), await findWebhookEndpoint(em, requirePrincipal(req), id)),

    update: async ({ params: { webhook_endpoint_id: id }, body, req, res }) => {
      const endpoint = await em.transactional(async (inner) => {
        const before = await lockWebhookEndpoint(inner, requirePrincipal(req), id);
        checkIfMatch(req, etagName(id), before);
        return updateWebhookEndpoint(inner, requirePrincipal(req), before, body, deps);
      });
      return respondWithNewEtag(res, etagName(id), endpoint);
    },

    delete: async ({ params: { webhook_endpoint_id: id }, req }) => {
      await em.transactional(async (inner) => {
        const endpoint = await lockWebhookEndpoint(inner, requirePrincipal(req), id);
        checkIfMatch(req, etagName(id), endpoint);
        await inner.remove(endpoint).flush();
      });
      return { status: 204, body: undefined };
    },

    rotateSecret: ({ params: { webhook_endpoint_id: id }, body, req, res }) =>
      createIdempotently(
        em,
        req,
        res,
        async (inner): Promise<WebhookSecretRotation> => {
          const endpoint = await lockWebhookEndpoint(inner, requirePrincipal(req), id);
          const overlapSeconds = body.overlap_seconds ?? daySeconds;
          const { secret, until } = await rotateWebhookSecret(inner, endpoint, overlapSeconds, deps.webhookKey, new Date());
          return { secret, previous_secret_expires_at: until };
        },
        () => endpointLocation(id),
      ),

    ...createDeliveryHandlers({ em, pages }),
  });
