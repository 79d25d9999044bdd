import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { requireScope } from '../http/middleware/authorize.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { startImport } from '../imports/start-import.ts';

export const productImportRoutes = ({ em }: ResourceDeps) =>
  initServer().router(contract.productImports, {
    create: ({ query, req, res }) => {
      requireScope(principalOf(req), 'products.write');
      return startImport(em, req, res, { type: 'product_import', needs: ['products.write'], query });
    },
  });
