import { initServer } from '@ts-rest/express';
import { contract, type ConnectedApp, type ConnectedAppOfUser } from '@mandate/contract';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import { assertNoOrderLimits } from '../order-limits/assert-order-action-allowed.ts';
import { assertLimitsEndInFuture } from '../order-limits/assert-limits-end-in-future.ts';
import {
  changeOrRemoveLimitsOfConnectedApp,
  findLimitsOfConnectedApp,
  connectedAppLimitsFromEffectiveLimits,
  listLimitsOfConnectedApps,
} from '../oauth/grants/find-and-change-limits-of-connected-app.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { assertPrincipalCanAccessAllOrders } from '../http/request/assert-principal-can-access-all-orders.ts';
import { requirePrincipalUser, requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { listConnectedAppsOfUser, revokeGrantConsentAndApiKeys } from '../oauth/grants/store-list-and-revoke-connected-apps.ts';
import type { OnTokenOperation } from '../oauth/provider/report-token-operations.ts';
import { assertSessionsAppsAndKeysReadable } from '../users/find-user-and-check-access.ts';

/** Additional dependencies of the connected app handlers. */
export type ConnectedAppDependencies = { readonly onTokenOperation: OnTokenOperation };

type Dependencies = HandlerDependencies & ConnectedAppDependencies;

export const connectedAppRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.connectedApps, {
    list: (request) => handleListConnectedApps(dependencies, request),
    listOfUser: (request) => handleListConnectedAppsOfUser(dependencies, request),
    remove: (request) => handleRemoveConnectedApp(dependencies, request),
    getLimits: (request) => handleGetLimits(dependencies, request),
    setLimits: (request) => handleSetLimits(dependencies, request),
    removeLimits: (request) => handleRemoveLimits(dependencies, request),
  });

const handleListConnectedApps: RouteHandler<typeof contract.connectedApps.list, Dependencies> = async (
  { em, pages },
  { query, req, res },
) => {
  const position = pages.decodeCursor(req, query);
  const rows = await listConnectedAppsOfUser(em, requirePrincipalUser(req).id, new Date(), position?.[1] ?? null, query.limit + 1);
  const body = pages.respondWithPage(
    req,
    res,
    query,
    rows,
    (row) => row,
    ({ id }) => [id, id],
  );
  return { status: 200, body };
};

const handleListConnectedAppsOfUser: RouteHandler<typeof contract.connectedApps.listOfUser, Dependencies> = async (
  { em, pages },
  { params: { user_id: userId }, query, req, res },
) => {
  const principal = requirePrincipal(req);
  await assertSessionsAppsAndKeysReadable(em, principal, userId);
  assertPrincipalCanAccessAllOrders(principal, 'read what other applications may spend');
  const position = pages.decodeCursor(req, query);
  const apps = await listConnectedAppsOfUser(em, userId, new Date(), position?.[1] ?? null, query.limit + 1);
  const limits = await listLimitsOfConnectedApps(
    em,
    apps.map(({ id }) => id),
  );
  const toItem = (app: ConnectedApp): ConnectedAppOfUser => ({ ...app, limits: connectedAppLimitsFromEffectiveLimits(limits.get(app.id)) });
  return { status: 200, body: pages.respondWithPage(req, res, query, apps, toItem, ({ id }) => [id, id]) };
};

const handleRemoveConnectedApp: RouteHandler<typeof contract.connectedApps.remove, Dependencies> = async (
  { em, onTokenOperation },
  { params: { connected_app_id: id }, query: { api_keys: apiKeys }, req },
) => {
  const { clientId: by } = requirePrincipal(req);
  const options = { source: getClientAddressAndUserAgent(req), by, keepApiKeys: apiKeys === 'keep' ? 'all' : [] } as const;
  const removed = await em.transactional((inner) =>
    revokeGrantConsentAndApiKeys(inner, requirePrincipalUser(req).id, id, options, new Date()),
  );
  if (!removed) throw appNotFound(id);
  onTokenOperation({ name: 'revoked', reason: 'person' });
  return { status: 204, body: undefined };
};

const handleGetLimits: RouteHandler<typeof contract.connectedApps.getLimits, Dependencies> = async (
  { em },
  { params: { connected_app_id: id }, req },
) => {
  const limits = await findLimitsOfConnectedApp(em, requirePrincipalUser(req).id, id);
  if (!limits) throw appNotFound(id);
  return { status: 200, body: limits };
};

const handleSetLimits: RouteHandler<typeof contract.connectedApps.setLimits, Dependencies> = async (
  { em },
  { params: { connected_app_id: id }, body, req },
) => {
  assertNoOrderLimits(requirePrincipal(req), 'change limits');
  assertLimitsEndInFuture(body, new Date());
  const { id: userId } = requirePrincipalUser(req);
  const limits = await em.transactional(async (inner) => {
    const { time_zone: timeZone, ...input } = body;
    const change = { source: getClientAddressAndUserAgent(req), by: requirePrincipal(req).clientId, input, timeZone };
    return (await changeOrRemoveLimitsOfConnectedApp(inner, userId, id, change, new Date())) && findLimitsOfConnectedApp(inner, userId, id);
  });
  if (!limits) throw appNotFound(id);
  return { status: 200, body: limits };
};

const handleRemoveLimits: RouteHandler<typeof contract.connectedApps.removeLimits, Dependencies> = async (
  { em },
  { params: { connected_app_id: id }, req },
) => {
  assertNoOrderLimits(requirePrincipal(req), 'remove limits');
  const change = { source: getClientAddressAndUserAgent(req), by: requirePrincipal(req).clientId, input: undefined, timeZone: undefined };
  const isFound = await em.transactional((inner) =>
    changeOrRemoveLimitsOfConnectedApp(inner, requirePrincipalUser(req).id, id, change, new Date()),
  );
  if (!isFound) throw appNotFound(id);
  return { status: 204, body: undefined };
};

const appNotFound = (id: number) => createProblem('not_found', { detail: translatable`Connected application ${{ id }} was not found.` });
