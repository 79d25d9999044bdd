import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';

export type ShopSize = { readonly orders: number; readonly products: number; readonly users: number };

/** Inserts sample data: products with plenty of stock, and delivered orders with two lines each, distributed evenly among customers. */
export async function fillShop(em: EntityManager, { orders, products, users }: ShopSize): Promise<void> {
  await em.execute(`insert into users (name, email) select 'User ' || n, 'user' || n || '@example.com' from generate_series(1, ?::int) n`, [
    users,
  ]);
  await em.execute(
    `insert into products (sku, name, category, price, currency, status)
     select 'SKU-' || n, 'Product ' || n, 'bench', 100 + n % 900, 'GBP', 'active' from generate_series(1, ?::int) n`,
    [products],
  );
  await em.execute(
    `insert into delivery_methods (code, name, price, currency, requires_address) values ('collection', 'Collect it', 0, 'GBP', false)`,
  );
  await em.execute('insert into product_stock (product_id, available) select id, 1000000000 from products');
  await em.execute(
    `insert into orders (user_id, status, payment_status, fulfillment_status, currency, subtotal, shipping_total, tax_total, total, item_count,
                         delivery, created_at, updated_at)
     select 1 + n % ?::int, 'delivered', 'paid', 'delivered', 'GBP', 500, 0, 0, 500, 2, '{"method":"collection","recipient_name":"Ada"}',
            now() - n * interval '20 seconds', now() - n * interval '20 seconds' from generate_series(1, ?::int) n`,
    [users, orders],
  );
  await em.execute(
    `insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, shipped_quantity, tax_rate_bps, tax, total)
     select o.id, line, 1 + (o.id * 7 + line) % ?::int, 'SKU-' || line, 'Product ' || line, 250, 1, 1, 0, 0, 250
       from orders o cross join generate_series(1, 2) line`,
    [products],
  );
  for (const table of ['users', 'products', 'product_stock', 'orders', 'order_items']) await em.execute(`vacuum analyze ${table}`);
}
