import type { Order } from '@mandate/contract';
import { prepareBatchedLookupStatement } from '../database/queries/batched-statement.ts';
import { orderColumnsSql, orderItemsSql, type OrderRow } from './order-from-row.ts';

// SQL, because concurrent reads are batched into one query that returns JSON (benchmark `read-order`).
// The query includes the permission, so that another user's order is not found.
export const readOrder = prepareBatchedLookupStatement<OrderRow & { items: Order['items'] }>(
  'read_order',
  ['bigint', 'bigint', 'boolean'],
  `select ${orderColumnsSql}, ${orderItemsSql} as items
     from orders o where o.id = $1 and (o.user_id = $2 or $3)`,
);
