import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { requireAnyScope } from '../http/middleware/authorize-by-scope.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { assertNoOrderLimits } from '../order-limits/assert-order-action-allowed.ts';
import { storeUploadAndStartImport } from '../imports/store-upload-and-start-import.ts';

export const orderImportCreationRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.orderImports, {
    create: (request) => handleCreateOrderImport(dependencies, request),
  });

const handleCreateOrderImport: RouteHandler<typeof contract.orderImports.create, HandlerDependencies> = (
  { em, taxMode },
  { query, req, res },
) => {
  const principal = requirePrincipal(req);
  requireAnyScope(principal, 'orders.manage');
  assertNoOrderLimits(principal, 'import orders');
  if (query.unknown_customers === 'create') requireAnyScope(principal, 'users.manage');
  if (query.unknown_products === 'create') requireAnyScope(principal, 'products.write');
  return storeUploadAndStartImport(em, req, res, {
    type: 'order_import',
    needs: ['orders.manage'],
    query: { ...query, tax_mode: taxMode },
  });
};
