import type { CustomerOrdersReader } from '../oauth/accounts/customer-orders-reader-type.ts';
import { listOrders } from '../orders/list-orders.sql.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { orderFromRow, orderSummaryFromRow } from '../orders/order-from-row.ts';
import { queryAccessibleOrderRow } from '../orders/query-accessible-order-row.sql.ts';

const sort = { by: 'created_at', descending: true } as const;

/** Reads orders for the account pages. Every query is restricted to the orders of the signed-in user. */
export const ordersReaderForAccountPages: CustomerOrdersReader = {
  list: async (em, userId, { olderThan, limit }) => {
    const last =
      olderThan === undefined
        ? undefined
        : await em.findOne(Order, { id: olderThan, user: userId }, { fields: ['createdAt'], disableIdentityMap: true });
    const position = last ? ([last.createdAt.toISOString(), last.id] as const) : undefined;
    const orders = await listOrders(em, { userId, requiredClientId: undefined }, { sort, position, limit });
    return orders.slice(0, limit).map(orderSummaryFromRow);
  },
  find: async (em, userId, orderId) => {
    const order = await queryAccessibleOrderRow(em, [orderId, userId, false, null]);
    return order && orderFromRow(order, order.items);
  },
};
