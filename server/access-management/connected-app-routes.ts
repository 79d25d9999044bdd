import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { sourceOf } from '../audit/record-audit-event.ts';
import { problem } from '../http/problem-details/problem.ts';
import { personOf, principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { listConnections, removeConnection } from '../oauth/grants/connected-apps.ts';
import type { OnTokenOperation } from '../oauth/provider/token-endpoint-audit.ts';

/** Additional dependencies of the connected app handlers. */
export type ConnectedAppDeps = { readonly onTokenOperation: OnTokenOperation };

export const connectedAppRoutes = ({ em, pages, onTokenOperation }: ResourceDeps & ConnectedAppDeps) =>
  initServer().router(contract.connectedApps, {
    list: async ({ query, req, res }) => {
      const position = pages.positionOf(req, query);
      const rows = await listConnections(em, personOf(req).id, new Date(), position?.[1] ?? null, query.limit + 1);
      const body = pages.answer(
        req,
        res,
        query,
        rows,
        (row) => row,
        ({ id }) => [id, id],
      );
      return { status: 200, body };
    },

    remove: async ({ params: { connected_app_id: id }, query: { api_keys: apiKeys }, req }) => {
      const { clientId: by } = principalOf(req);
      const options = { source: sourceOf(req), by, keepApiKeys: apiKeys === 'keep' ? 'all' : [] } as const;
      const removed = await em.transactional((inner) => removeConnection(inner, personOf(req).id, id, options, new Date()));
      if (!removed) throw problem('not_found', { detail: `Connected application ${id} was not found.` });
      onTokenOperation({ name: 'revoked', reason: 'person' });
      return { status: 204, body: undefined };
    },
  });
