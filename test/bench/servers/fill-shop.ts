import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { rebuildOrderStatistics } from '../../../server/statistics/query-update-and-rebuild-statistics.ts';

export type ShopSize = { readonly orders: number; readonly products: number; readonly users: number };

/** Number of product categories. */
export const categoryCount = 50;

/**
 * Inserts sample data: products with a large stock, and delivered orders with two lines each, distributed evenly among customers. For
 * example, customer 1 has order 1, order 1 + `users`, and so on.
 */
export async function fillShop(em: EntityManager, { orders, products, users }: ShopSize): Promise<void> {
  await em.execute(`insert into users (name, email) select 'User ' || n, 'user' || n || '@example.com' from generate_series(1, ?::int) n`, [
    users,
  ]);
  await em.execute(
    `insert into products (sku, name, category, price, currency, status)
     select 'SKU-' || n, 'Product ' || n, 'category-' || 1 + n % ?::int, 100 + n % 900, 'GBP', 'active' from generate_series(1, ?::int) n`,
    [categoryCount, products],
  );
  await em.execute(
    `insert into delivery_methods (code, name, price, currency, requires_address) values ('collection', 'Collect it', 0, 'GBP', false)`,
  );
  await em.execute('insert into product_stock (product_id, available) select id, 1000000000 from products');
  await fillOrders(em, { orders, products, users });
  await rebuildOrderStatistics(em);
  for (const table of ['users', 'products', 'product_stock', 'orders', 'order_items']) await em.execute(`vacuum analyze ${table}`);
}

const ordersPerBatch = 250_000;

/** Inserts orders without running triggers, because the sums for statistics are calculated afterwards. */
async function fillOrders(em: EntityManager, { orders, products, users }: ShopSize): Promise<void> {
  await em.begin();
  await em.execute(`set local session_replication_role = 'replica'`);
  for (let first = 1; first <= orders; first += ordersPerBatch) {
    const last = Math.min(first + ordersPerBatch - 1, orders);
    await em.execute(
      `insert into orders (user_id, status, payment_status, fulfillment_status, currency, subtotal, shipping_total, tax_total, total,
                           item_count, delivery, created_at, updated_at)
       select 1 + (n - 1) % ?::int, 'delivered', 'paid', 'delivered', 'GBP', 500, 0, 0, 500, 2,
              '{"method":"collection","recipient_name":"Ada"}', at, at
         from (select n, now() - n * interval '20 seconds' as at from generate_series(?::int, ?::int) n) orders`,
      [users, first, last],
    );
    await em.execute(
      `insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, shipped_quantity, tax_rate_bps, tax, total)
       select o.id, line, 1 + (o.id * 7 + line) % ?::int, 'SKU-' || line, 'Product ' || line, 250, 1, 1, 0, 0, 250
         from orders o cross join generate_series(1, 2) line where o.id between ? and ?`,
      [products, first, last],
    );
  }
  await em.commit();
}
