import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { requireScope } from '../http/authorize.ts';
import { principalOf } from '../http/request-scope.ts';
import type { ResourceDeps } from '../http/resource.ts';
import { startImport } from '../imports/start-import.ts';

export const productImportRoutes = ({ em }: ResourceDeps) =>
  initServer().router(contract.productImports, {
    create: ({ query, req, res }) => {
      requireScope(principalOf(req), 'products.write');
      return startImport(em, req, res, { type: 'product_import', needs: ['products.write'], query });
    },
  });
