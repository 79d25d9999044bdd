import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { recordEvent } from '../../events/record-event.ts';
import { onceAccepted } from '../../http/writes/idempotency.ts';
import { principalOf } from '../../http/request/request-context.ts';
import type { ResourceDeps } from '../../http/routing/handler-dependencies.ts';
import { endpointLocation, toDelivery } from '../endpoints/endpoint-rows.ts';
import { findEnabled, findEndpoint } from '../endpoints/find-endpoint.ts';
import { listDeliveries } from './list-deliveries.ts';
import { redeliver } from './redeliver.ts';

const { deliveries: listRoute, redeliver: redeliverRoute, test } = contract.webhooks;

/** Creates the handlers that list, repeat and test the deliveries of an endpoint. */
export const deliveryHandlers = ({ em, pages }: Pick<ResourceDeps, 'em' | 'pages'>) =>
  initServer().router(
    { deliveries: listRoute, redeliver: redeliverRoute, test },
    {
      deliveries: async ({ params: { webhook_endpoint_id: id }, query, req, res }) => {
        await findEndpoint(em, principalOf(req), id);
        const rows = await listDeliveries(em, id, query.status, pages.positionOf(req, query)?.[1], query.limit);
        return { status: 200, body: pages.answer(req, res, query, rows, toDelivery, ({ seq }) => [seq, seq]) };
      },

      redeliver: ({ params: { webhook_endpoint_id: id }, body, req, res }) =>
        onceAccepted(
          em,
          req,
          res,
          async (inner) => {
            await findEnabled(inner, principalOf(req), id);
            return { deliveries: await redeliver(inner, id, body) };
          },
          () => `${endpointLocation(id)}/deliveries`,
        ),

      test: ({ params: { webhook_endpoint_id: id }, req, res }) =>
        onceAccepted(
          em,
          req,
          res,
          async (inner) => {
            const endpoint = await findEnabled(inner, principalOf(req), id);
            await recordEvent(inner, 'webhook_endpoint.test', endpoint, endpoint.user_id);
            return { type: 'webhook_endpoint.test' as const, webhook_endpoint_id: id };
          },
          () => `${endpointLocation(id)}/deliveries`,
        ),
    },
  );
