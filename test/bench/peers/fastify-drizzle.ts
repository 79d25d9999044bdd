/* oxlint-disable oxc/no-async-endpoint-handlers -- both frameworks handle errors of async handlers */
/** Fastify with prepared Drizzle queries, a common fast combination; jose verifies every token's signature. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, char, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { relations } from 'drizzle-orm/relations';
import { fastify } from 'fastify';
import { Pool } from 'pg';
import { settings, verifyCaller } from './verify-caller.ts';

const bigintColumn = (name: string) => bigint(name, { mode: 'number' }).notNull();
const timestampColumn = (name: string) => timestamp(name, { precision: 3, withTimezone: true });

const orders = pgTable('orders', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  user_id: bigintColumn('user_id'),
  client_id: text('client_id'),
  status: text('status').notNull(),
  payment_status: text('payment_status').notNull(),
  fulfillment_status: text('fulfillment_status').notNull(),
  cancel_reason: text('cancel_reason'),
  currency: char('currency', { length: 3 }).notNull(),
  tax_mode: text('tax_mode').notNull(),
  subtotal: bigintColumn('subtotal'),
  discount_total: bigintColumn('discount_total'),
  shipping_total: bigintColumn('shipping_total'),
  tax_total: bigintColumn('tax_total'),
  total: bigintColumn('total'),
  refunded_total: bigintColumn('refunded_total'),
  item_count: integer('item_count').notNull(),
  delivery: jsonb('delivery').notNull(),
  reference: text('reference'),
  note: text('note'),
  metadata: jsonb('metadata').notNull(),
  version: integer('version').notNull(),
  expires_at: timestampColumn('expires_at'),
  created_at: timestampColumn('created_at').notNull(),
  updated_at: timestampColumn('updated_at').notNull(),
  paid_at: timestampColumn('paid_at'),
  shipped_at: timestampColumn('shipped_at'),
  delivered_at: timestampColumn('delivered_at'),
  canceled_at: timestampColumn('canceled_at'),
});

const items = pgTable(
  'order_items',
  {
    order_id: bigintColumn('order_id'),
    line: integer('line').notNull(),
    product_id: bigintColumn('product_id'),
    sku: text('sku').notNull(),
    name: text('name').notNull(),
    unit_price: bigintColumn('unit_price'),
    quantity: integer('quantity').notNull(),
    shipped_quantity: integer('shipped_quantity').notNull(),
    restocked_quantity: integer('restocked_quantity').notNull(),
    tax_rate_bps: integer('tax_rate_bps').notNull(),
    tax: bigintColumn('tax'),
    total: bigintColumn('total'),
  },
  (table) => [primaryKey({ columns: [table.order_id, table.line] })],
);

const products = pgTable('products', {
  id: bigint('id', { mode: 'number' }).primaryKey(),
  sku: text('sku').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  category: text('category').notNull(),
  price: bigintColumn('price'),
  currency: char('currency', { length: 3 }).notNull(),
  tax_rate_bps: integer('tax_rate_bps').notNull(),
  status: text('status').notNull(),
  metadata: jsonb('metadata').notNull(),
  version: integer('version').notNull(),
  created_at: timestampColumn('created_at').notNull(),
  updated_at: timestampColumn('updated_at').notNull(),
});

const schema = {
  orders,
  items,
  products,
  orderRelations: relations(orders, ({ many }) => ({ items: many(items) })),
  itemRelations: relations(items, ({ one }) => ({ order: one(orders, { fields: [items.order_id], references: [orders.id] }) })),
};

const db = drizzle(new Pool({ connectionString: settings.DATABASE_URL, max: 10 }), { schema });

const readOrder = db.query.orders
  .findFirst({ where: eq(orders.id, sql.placeholder('id')), with: { items: { orderBy: items.line } } })
  .prepare('read_order');
const listOrders = db.query.orders
  .findMany({ where: eq(orders.user_id, sql.placeholder('user')), orderBy: [desc(orders.created_at), desc(orders.id)], limit: 21 })
  .prepare('list_orders');
const listProducts = db.query.products
  .findMany({ where: and(eq(products.status, 'active')), orderBy: [desc(products.created_at), desc(products.id)], limit: 21 })
  .prepare('list_products');

const page = (rows: readonly unknown[]): object => ({ data: rows.slice(0, 20), has_more: rows.length > 20 });

const app = fastify();
app.get('/api/v1/products', async () => page(await listProducts.execute()));
app.get<{ Params: { id: string } }>('/api/v1/orders/:id', async (req, reply) => {
  await verifyCaller(req.headers.authorization);
  return (await readOrder.execute({ id: Number(req.params.id) })) ?? reply.code(404).send({});
});
app.get<{ Querystring: { user_id: string } }>('/api/v1/orders', async (req) => {
  await verifyCaller(req.headers.authorization);
  return page(await listOrders.execute({ user: Number(req.query.user_id) }));
});
await app.listen({ port: settings.PORT, host: '127.0.0.1' });
