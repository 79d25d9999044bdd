import type { Order } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { gatheredStatement } from '../database/queries/batched-statement.ts';
import { may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { orderColumns, orderItemsSql, type OrderRow, toOrder } from './order-rows.ts';

// Somebody else's order is not found: the owner is part of the question, never a check afterwards.
const readOrder = gatheredStatement<OrderRow & { items: Order['items'] }>(
  'read_order',
  ['bigint', 'bigint', 'boolean'],
  `select ${orderColumns}, ${orderItemsSql} as items
     from orders o where o.id = $1 and (o.user_id = $2 or $3)`,
);

/** An order with its lines, if the principal may see it. */
export async function findOrder(em: Em, principal: Principal, id: number): Promise<Order> {
  const row = await readOrder(em, [id, principal.user?.id ?? null, may(principal, 'orders.manage')]);
  if (!row) throw problem('not_found', { detail: `Order ${id} was not found.` });
  return toOrder(row, row.items);
}

/** An order with its lines, for what is written down about it; nobody asks. */
export async function orderBody(em: Em, id: number): Promise<Order> {
  const row = await readOrder(em, [id, null, true]);
  if (!row) throw new Error(`there is no order ${id}`);
  return toOrder(row, row.items);
}
