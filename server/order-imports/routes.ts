import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { requireScope } from '../http/middleware/authorize.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { startImport } from '../imports/start-import.ts';

export const orderImportRoutes = ({ em, taxMode }: ResourceDeps) =>
  initServer().router(contract.orderImports, {
    create: ({ query, req, res }) => {
      const principal = principalOf(req);
      requireScope(principal, 'orders.manage');
      if (query.unknown_customers === 'create') requireScope(principal, 'users.manage');
      if (query.unknown_products === 'create') requireScope(principal, 'products.write');
      return startImport(em, req, res, { type: 'order_import', needs: ['orders.manage'], query: { ...query, tax_mode: taxMode } });
    },
  });
