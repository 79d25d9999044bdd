import { initServer } from '@ts-rest/express';
import type { Response } from 'express';
import { contract, type ApiKeyWithSecret } from '@mandate/contract';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { requirePrincipalUser, requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { apiKeyFromEntity } from '../api-keys/api-key-from-entity.ts';
import { findOrderLimitsOfApiKeys } from '../api-keys/api-key-order-limits.ts';
import { ApiKey } from '../api-keys/api-key.entity.ts';
import { createApiKey } from './create-api-key.ts';
import { revokeApiKeys } from '../api-keys/revoke-api-keys.ts';
import { assertSessionsAppsAndKeysReadable } from '../users/find-user-and-check-access.ts';

export const apiKeyRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.apiKeys, {
    list: (request) => handleListApiKeys(dependencies, request),
    listOfUser: (request) => handleListApiKeysOfUser(dependencies, request),
    create: (request) => handleCreateApiKey(dependencies, request),
    revoke: (request) => handleRevokeApiKey(dependencies, request),
  });

const handleListApiKeys: RouteHandler<typeof contract.apiKeys.list, HandlerDependencies> = (dependencies, request) =>
  respondWithApiKeysOfUser(dependencies, request, requirePrincipalUser(request.req).id);

const handleListApiKeysOfUser: RouteHandler<typeof contract.apiKeys.listOfUser, HandlerDependencies> = async (dependencies, request) => {
  const { user_id: userId } = request.params;
  await assertSessionsAppsAndKeysReadable(dependencies.em, requirePrincipal(request.req), userId);
  return respondWithApiKeysOfUser(dependencies, request, userId);
};

type ListRequest = {
  readonly query: { readonly limit: number; readonly cursor?: string | undefined };
  readonly req: MatchedRequest;
  readonly res: Response;
};

async function respondWithApiKeysOfUser({ em, pages }: HandlerDependencies, { query, req, res }: ListRequest, userId: number) {
  const position = pages.decodeCursor(req, query);
  const where = { user: userId, ...(position && { id: { $lt: position[1] } }) };
  const rows = await em.find(ApiKey, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, disableIdentityMap: true });
  const limits = await findOrderLimitsOfApiKeys(
    em,
    rows.map(({ id }) => id),
  );
  const now = new Date();
  const toItem = (row: (typeof rows)[number]) => apiKeyFromEntity(row, limits.get(row.id), now);
  return { status: 200 as const, body: pages.respondWithPage(req, res, query, rows, toItem, ({ id }) => [id, id]) };
}

const handleCreateApiKey: RouteHandler<typeof contract.apiKeys.create, HandlerDependencies> = ({ em }, { body, req, res }) => {
  const { id: userId } = requirePrincipalUser(req);
  return createResourceIdempotently(
    em,
    req,
    res,
    (inner): Promise<ApiKeyWithSecret> =>
      createApiKey(inner, requirePrincipal(req), userId, body, getClientAddressAndUserAgent(req), new Date()),
    ({ id }) => `/api/v1/api-keys/${id}`,
  );
};

const handleRevokeApiKey: RouteHandler<typeof contract.apiKeys.revoke, HandlerDependencies> = async (
  { em },
  { params: { api_key_id: id }, req },
) => {
  const { id: userId } = requirePrincipalUser(req);
  const { clientId } = requirePrincipal(req);
  const now = new Date();
  await em.transactional(async (inner) => {
    const cause = { source: getClientAddressAndUserAgent(req), actorId: userId, clientId, reason: 'revoked_by_owner' } as const;
    const revoked = await revokeApiKeys(inner, { userId, id }, cause, now);
    if (revoked.length > 0 || (await inner.count(ApiKey, { id, user: userId })) > 0) return;
    throw createProblem('not_found', { detail: translatable`API key ${{ id }} was not found.` });
  });
  return { status: 204, body: undefined };
};
