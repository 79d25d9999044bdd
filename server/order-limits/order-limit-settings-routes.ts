import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import {
  rejectIfMatchMismatch,
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
} from '../http/response/etag-and-conditional-requests.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { changeShopOrderLimitSettingsAndAudit, readShopOrderLimitSettings } from './read-and-change-shop-order-limit-settings.ts';

const etagName = 'order-limit-settings';

export const orderLimitSettingsRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.orderLimitSettings, {
    get: (request) => handleGetOrderLimitSettings(dependencies, request),
    update: (request) => handleUpdateOrderLimitSettings(dependencies, request),
  });

const handleGetOrderLimitSettings: RouteHandler<typeof contract.orderLimitSettings.get, HandlerDependencies> = async (
  { em },
  { req, res },
) => respondWithEtagOrNotModified(req, res, etagName, await readShopOrderLimitSettings(em));

const handleUpdateOrderLimitSettings: RouteHandler<typeof contract.orderLimitSettings.update, HandlerDependencies> = async (
  { em },
  { body, req, res },
) => {
  const { user, clientId } = requirePrincipal(req);
  const actor = { source: getClientAddressAndUserAgent(req), actorId: user?.id, clientId };
  const settings = await changeShopOrderLimitSettingsAndAudit(em, actor, body, (current) => rejectIfMatchMismatch(req, etagName, current));
  return respondWithEtagOfChangedResource(res, etagName, settings);
};
