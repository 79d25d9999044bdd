import type { Request } from 'express';
import { contract, contractV2, type Order } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { StatementParameters } from '../database/queries/batch-loader.ts';
import { type ExpectedLookup, getSpeculativeResultIfSameLookup, type SpeculativeRead } from '../database/queries/speculative-read.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import { getMatchedRoute } from '../http/request/matched-route.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { orderFromRow } from './order-from-row.ts';
import { queryAccessibleOrderRow } from './query-accessible-order-row.sql.ts';

const accessParameters = (principal: Principal, id: number): StatementParameters => [
  id,
  principal.user?.id ?? null,
  canUseScope(principal, 'orders.manage'),
  getClientIdIfRestrictedToOwnOrders(principal) ?? null,
];

/**
 * Returns an order with its lines, if the principal may read it.
 * @param read the request's speculative read; its result is used only if the read was restricted to orders that this principal may read
 */
export async function findOrderOrThrow(em: EntityManager, principal: Principal, id: number, read?: SpeculativeRead): Promise<Order> {
  const parameters = accessParameters(principal, id);
  const result = getSpeculativeResultIfSameLookup(read, queryAccessibleOrderRow, parameters);
  const row = result ? result.row : await queryAccessibleOrderRow(em, parameters);
  if (!row) throw createProblem('not_found', { detail: translatable`Order ${{ id }} was not found.` });
  return orderFromRow(row, row.items);
}

const orderPaths = new Set<string>([contract.orders.get.path, contractV2.orders.get.path]);

/** Returns the query and the parameters for reading the requested order, or undefined if the request does not read a single order. */
export function buildOrderLookupToCombineWithTokenCheck(req: Request, expected: Principal): ExpectedLookup | undefined {
  if (req.method !== 'GET' || !orderPaths.has(getMatchedRoute(req).path) || !expected.scopes.has('orders.read')) return undefined;
  const { order_id: id } = req.params;
  // Request validation rejects any other form of ID.
  if (typeof id !== 'string' || !/^[1-9]\d{0,14}$/.test(id)) return undefined;
  return { lookup: queryAccessibleOrderRow, parameters: accessParameters(expected, Number(id)) };
}

/** Returns an order with its lines, without a permission check. This function is for events and for responses to authorized changes. */
export async function findOrderWithoutPermissionCheck(em: EntityManager, id: number): Promise<Order> {
  const row = await queryAccessibleOrderRow(em, [id, null, true, null]);
  if (!row) throw new Error(`order ${id} does not exist`);
  return orderFromRow(row, row.items);
}
