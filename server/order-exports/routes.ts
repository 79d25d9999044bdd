import { initServer } from '@ts-rest/express';
import { contract, exportColumns, type OrderExportCreate, type Scope } from '@mandate/contract';
import { requireScope } from '../http/middleware/authorize.ts';
import { onceAccepted } from '../http/writes/idempotency.ts';
import type { Principal } from '../http/request/principal.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { whoseOrders } from '../orders/order-visibility.ts';
import { startTask } from '../tasks/start-task.ts';
import { taskLocation } from '../tasks/task-rows.ts';
import type { OrderExport } from './export-orders.ts';

export const orderExportRoutes = ({ em }: ResourceDeps) =>
  initServer().router(contract.orderExports, {
    create: ({ body, req, res }) => {
      const principal = principalOf(req);
      requireScope(principal, 'orders.read', 'orders.manage');
      const params = resolveExport(principal, body, new Date());
      return onceAccepted(
        em,
        req,
        res,
        (inner) => startTask(inner, principal, { type: 'order_export', params, needs: requiredScopes(principal, params) }),
        taskLocation,
      );
    },
  });

/** Resolves the defaults of a request: the owner of the orders, the columns and the end of the period. */
function resolveExport(principal: Principal, input: OrderExportCreate, now: Date): OrderExport {
  const { columns = allColumns(input.rows), user_id: requestedUserId, created_at_lt: until, ...rest } = input;
  const userId = whoseOrders(principal, requestedUserId);
  return {
    ...rest,
    columns,
    ...(userId !== undefined && { user_id: userId }),
    // Orders placed during the export are not included.
    created_at_lt: until !== undefined && Date.parse(until) < now.getTime() ? until : now.toISOString(),
  };
}

/** Returns the scope that a token requires to read the task and its file: the one that allows reading the exported orders. */
const requiredScopes = ({ user, scopes }: Principal, { user_id: userId }: OrderExport): Scope[] =>
  userId !== undefined && userId === user?.id && scopes.has('orders.read') ? ['orders.read'] : ['orders.manage'];

const allColumns = (rows: OrderExportCreate['rows']): OrderExport['columns'] =>
  rows === 'orders' ? [...exportColumns.order] : [...exportColumns.order, ...exportColumns.line];
