import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import { statement } from '../database/statement.ts';
import { problem } from '../http/problem.ts';
import { personOf, principalOf } from '../http/request-scope.ts';
import type { ResourceDeps } from '../http/resource.ts';
import { apiKeyColumns, toApiKey, type ApiKeyRow } from './api-key-rows.ts';
import { createApiKey } from './create-api-key.ts';

const listApiKeys = statement<ApiKeyRow>(
  'list_api_keys',
  `select ${apiKeyColumns} from api_keys where user_id = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
);
const revokeApiKey = statement<{ revoked: boolean }>(
  'revoke_api_key',
  `with before as (select id, revoked_at from api_keys where id = $1 and user_id = $2 for update)
   update api_keys k set revoked_at = coalesce(k.revoked_at, $3) from before where k.id = before.id
   returning before.revoked_at is null as revoked`,
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

    create: async ({ body, req, res }) => {
      const { id } = personOf(req);
      const key = await em.transactional((inner) => createApiKey(inner, principalOf(req), id, body, sourceOf(req), new Date()));
      res.location(`/api/v1/api-keys/${key.id}`);
      return { status: 201, body: key };
    },

    revoke: async ({ params: { api_key_id: id }, req }) => {
      const { id: userId } = personOf(req);
      const { clientId } = principalOf(req);
      const now = new Date();
      await em.transactional(async (inner) => {
        const [found] = await revokeApiKey(inner, [id, userId, now]);
        if (!found) throw problem('not_found', { detail: `API key ${id} was not found.` });
        if (!found.revoked) return;
        const event = { action: 'api_key.revoked', actorId: userId, userId, clientId, subject: `api_key:${id}` } as const;
        await recordAuditEvent(inner, sourceOf(req), event, now);
      });
      return { status: 204, body: undefined };
    },
  });
