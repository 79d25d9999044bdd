import { initServer } from '@ts-rest/express';
import { contract, type NewWebhookEndpoint, type WebhookSecretRotation } from '@mandate/contract';
import { changed, found, requireMatch } from '../http/response/etag.ts';
import { once } from '../http/writes/idempotency.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { changeEndpoint, deleteEndpoint, rotateSecret } from './endpoints/update-endpoint.ts';
import { createEndpoint, type WebhookDeps } from './endpoints/create-endpoint.ts';
import { deliveryHandlers } from './delivery/delivery-handlers.ts';
import { endpointLocation, toEndpoint } from './endpoints/endpoint-rows.ts';
import { findEndpoint, listEndpoints } from './endpoints/find-endpoint.ts';

const daySeconds = 24 * 60 * 60;
const etagName = (id: number): string => `webhook-endpoint-${id}`;

export const webhookRoutes = ({ em, pages, ...deps }: ResourceDeps & WebhookDeps) =>
  initServer().router(contract.webhooks, {
    list: async ({ query, req, res }) => {
      const rows = await listEndpoints(em, principalOf(req), pages.positionOf(req, query)?.[1] ?? null, query.limit);
      return { status: 200, body: pages.answer(req, res, query, rows, toEndpoint, ({ id }) => [id, id]) };
    },

    create: ({ body, req, res }) =>
      once(
        em,
        req,
        res,
        (inner): Promise<NewWebhookEndpoint> => createEndpoint(inner, principalOf(req), body, deps),
        ({ id }) => endpointLocation(id),
      ),

    get: async ({ params: { webhook_endpoint_id: id }, req, res }) =>
      found(req, res, etagName(id), await findEndpoint(em, principalOf(req), id)),

    update: async ({ params: { webhook_endpoint_id: id }, body, req, res }) => {
      const endpoint = await em.transactional(async (inner) => {
        const before = await findEndpoint(inner, principalOf(req), id, 'lock');
        requireMatch(req, etagName(id), before);
        return changeEndpoint(inner, principalOf(req), before, body, deps);
      });
      return changed(res, etagName(id), endpoint);
    },

    delete: async ({ params: { webhook_endpoint_id: id }, req }) => {
      await em.transactional(async (inner) => {
        requireMatch(req, etagName(id), await findEndpoint(inner, principalOf(req), id, 'lock'));
        await deleteEndpoint(inner, id);
      });
      return { status: 204, body: undefined };
    },

    rotateSecret: ({ params: { webhook_endpoint_id: id }, body, req, res }) =>
      once(
        em,
        req,
        res,
        async (inner): Promise<WebhookSecretRotation> => {
          await findEndpoint(inner, principalOf(req), id, 'lock');
          const { secret, until } = await rotateSecret(inner, id, body.overlap_seconds ?? daySeconds, deps.webhookKey, new Date());
          return { secret, previous_secret_expires_at: until };
        },
        () => endpointLocation(id),
      ),

    ...deliveryHandlers({ em, pages }),
  });
