import type { Order } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { gatheredStatement } from '../database/queries/batched-statement.ts';
import { may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { orderColumns, orderItemsSql, type OrderRow, toOrder } from './order-rows.ts';

// The permission is part of the query, so that an order of another user is not found.
const readOrder = gatheredStatement<OrderRow & { items: Order['items'] }>(
  'read_order',
  ['bigint', 'bigint', 'boolean'],
  `select ${orderColumns}, ${orderItemsSql} as items
     from orders o where o.id = $1 and (o.user_id = $2 or $3)`,
);

/** Returns an order with its lines, if the principal may read it. */
export async function findOrder(em: Em, principal: Principal, id: number): Promise<Order> {
  const row = await readOrder(em, [id, principal.user?.id ?? null, may(principal, 'orders.manage')]);
  if (!row) throw problem('not_found', { detail: `Order ${id} was not found.` });
  return toOrder(row, row.items);
}

/** Returns an order with its lines without checking permissions, for events and for responses to authorized changes. */
export async function orderBody(em: Em, id: number): Promise<Order> {
  const row = await readOrder(em, [id, null, true]);
  if (!row) throw new Error(`order ${id} does not exist`);
  return toOrder(row, row.items);
}
