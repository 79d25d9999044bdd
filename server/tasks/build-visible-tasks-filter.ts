import type { TaskType } from '@mandate/contract';
import { listUsableScopes } from '../http/middleware/authorize-by-scope.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { taskOwnerKeyFromPrincipal } from './task-from-entity.ts';

const orderTaskTypes = ['order_export', 'order_import'] as const satisfies readonly TaskType[];

/**
 * Returns the filter for the tasks that a principal may see. A principal may see the user's tasks for which the token has the required
 * scopes, regardless of the application that started a task. An application that can access only its own orders sees an export only if the
 * export was restricted to these orders.
 */
export function buildVisibleTasksFilter(principal: Principal) {
  const requiredClientId = getClientIdIfRestrictedToOwnOrders(principal);
  const isOfClient = { $or: [{ type: { $nin: [...orderTaskTypes] } }, { params: { required_client_id: requiredClientId } }] };
  return {
    owner: taskOwnerKeyFromPrincipal(principal),
    needs: { $contained: listUsableScopes(principal) },
    ...(requiredClientId !== undefined && { $and: [isOfClient] }),
  };
}
