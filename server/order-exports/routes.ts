import { initServer } from '@ts-rest/express';
import { contract, orderExportColumns, type OrderExportCreate, type Scope } from '@mandate/contract';
import { requireAnyScope } from '../http/middleware/authorize-by-scope.ts';
import { startTaskIdempotently } from '../http/writes/idempotency.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { authorizeAndGetListedUserAndClient } from '../orders/authorize-and-get-listed-user-and-client.ts';
import { enqueueTask } from '../tasks/enqueue-task.ts';
import { getTaskPath } from '../tasks/task-from-entity.ts';
import type { OrderExportParams } from './export-orders.ts';

export const orderExportCreationRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.orderExports, {
    create: (request) => handleCreateOrderExport(dependencies, request),
  });

const handleCreateOrderExport: RouteHandler<typeof contract.orderExports.create, HandlerDependencies> = ({ em }, { body, req, res }) => {
  const principal = requirePrincipal(req);
  requireAnyScope(principal, 'orders.read', 'orders.manage');
  const params = resolveExport(principal, body, new Date());
  return startTaskIdempotently(
    em,
    req,
    res,
    (inner) => enqueueTask(inner, principal, { type: 'order_export', params, needs: requiredScopes(principal, params) }),
    getTaskPath,
  );
};

/** Resolves the defaults of a request (the order owner, the columns and the end of the period). */
function resolveExport(principal: Principal, input: OrderExportCreate, now: Date): OrderExportParams {
  const { columns = allColumns(input.rows), user_id: requestedUserId, created_at_lt: until, ...rest } = input;
  const { userId, requiredClientId } = authorizeAndGetListedUserAndClient(principal, requestedUserId);
  return {
    ...rest,
    columns,
    ...(userId !== undefined && { user_id: userId }),
    ...(requiredClientId !== undefined && { required_client_id: requiredClientId }),
    // Orders placed during the export are not included.
    created_at_lt: until !== undefined && Date.parse(until) < now.getTime() ? until : now.toISOString(),
  };
}

/** Returns the scope required to access an export task and its file. The same scope is required to read the exported orders. */
const requiredScopes = ({ user, scopes }: Principal, { user_id: userId }: OrderExportParams): Scope[] =>
  userId !== undefined && userId === user?.id && scopes.has('orders.read') ? ['orders.read'] : ['orders.manage'];

const allColumns = (rows: OrderExportCreate['rows']): OrderExportParams['columns'] =>
  rows === 'orders' ? [...orderExportColumns.order] : [...orderExportColumns.order, ...orderExportColumns.line];
