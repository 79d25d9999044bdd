import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { listUsableScopes } from '../http/middleware/authorize-by-scope.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { findEffectiveOrderLimits } from './find-effective-order-limits.ts';

export const currentAuthorizationRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.authorization, {
    get: (request) => handleGetAuthorization(dependencies, request),
  });

const handleGetAuthorization: RouteHandler<typeof contract.authorization.get, HandlerDependencies> = async ({ em }, { req }) => {
  const principal = requirePrincipal(req);
  const limits = principal.grantId === undefined ? null : await findEffectiveOrderLimits(em, principal.grantId, principal.clientId);
  return {
    status: 200,
    body: {
      client_id: principal.clientId,
      user_id: principal.user?.id ?? null,
      scopes: listUsableScopes(principal),
      authorization_details: limits ? [limits.details] : [],
      budget: limits?.budget ?? null,
      budgets: [...(limits?.budgets ?? [])],
    },
  };
};
