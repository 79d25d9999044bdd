import type { Order } from '@mandate/contract';
import { prepareBatchedLookupStatement } from '../database/queries/batched-statement.ts';
import { orderColumnsSql, orderItemsAsJsonSql, type OrderRow } from './order-from-row.ts';

// Written in SQL because concurrent reads are batched into one query that returns JSON (see the `read-order` benchmark).
// The query checks the permission, so that another user's or application's order is not found.
export const queryAccessibleOrderRow = prepareBatchedLookupStatement<OrderRow & { items: Order['items'] }>(
  'read_order',
  ['bigint', 'bigint', 'boolean', 'text'],
  `select ${orderColumnsSql}, ${orderItemsAsJsonSql} as items
     from orders o where o.id = $1 and (o.user_id = $2 or $3) and ($4 is null or o.client_id = $4)`,
);
