import { initServer } from '@ts-rest/express';
import { contract, type NewApiKey } from '@mandate/contract';
import { sourceOf } from '../audit/record-audit-event.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { once } from '../http/writes/idempotency.ts';
import { problem } from '../http/problem-details/problem.ts';
import { personOf, principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { apiKeyColumns, toApiKey, type ApiKeyRow } from '../api-keys/api-key-rows.ts';
import { ApiKey } from '../api-keys/api-key.entity.ts';
import { createApiKey } from './create-api-key.ts';
import { revokeApiKeys } from '../api-keys/revoke-api-keys.ts';

const listApiKeys = statement<ApiKeyRow>(
  'list_api_keys',
  `select ${apiKeyColumns} from api_keys where user_id = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
);

export const apiKeyRoutes = ({ em, pages }: ResourceDeps) =>
  initServer().router(contract.apiKeys, {
    list: async ({ query, req, res }) => {
      const position = pages.positionOf(req, query);
      const rows = await listApiKeys(em, [personOf(req).id, position?.[1] ?? null, query.limit + 1]);
      const now = new Date();
      const body = pages.answer(
        req,
        res,
        query,
        rows,
        (row) => toApiKey(row, now),
        ({ id }) => [id, id],
      );
      return { status: 200, body };
    },

    create: ({ body, req, res }) => {
      const { id: userId } = personOf(req);
      return once(
        em,
        req,
        res,
        (inner): Promise<NewApiKey> => createApiKey(inner, principalOf(req), userId, body, sourceOf(req), new Date()),
        ({ id }) => `/api/v1/api-keys/${id}`,
      );
    },

    revoke: async ({ params: { api_key_id: id }, req }) => {
      const { id: userId } = personOf(req);
      const { clientId } = principalOf(req);
      const now = new Date();
      await em.transactional(async (inner) => {
        const cause = { source: sourceOf(req), actorId: userId, clientId, reason: 'revoked_by_owner' } as const;
        const revoked = await revokeApiKeys(inner, { userId, id }, cause, now);
        if (revoked.length > 0 || (await inner.count(ApiKey, { id, user: userId })) > 0) return;
        throw problem('not_found', { detail: `API key ${id} was not found.` });
      });
      return { status: 204, body: undefined };
    },
  });
