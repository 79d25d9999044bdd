import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { requireAnyScope } from '../http/middleware/authorize-by-scope.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { storeUploadAndStartImport } from '../imports/store-upload-and-start-import.ts';

export const productImportCreationRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.productImports, {
    create: (request) => handleCreateProductImport(dependencies, request),
  });

const handleCreateProductImport: RouteHandler<typeof contract.productImports.create, HandlerDependencies> = (
  { em },
  { query, req, res },
) => {
  requireAnyScope(requirePrincipal(req), 'products.write');
  return storeUploadAndStartImport(em, req, res, { type: 'product_import', needs: ['products.write'], query });
};
