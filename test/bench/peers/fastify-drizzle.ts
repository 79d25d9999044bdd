/* oxlint-disable oxc/no-async-endpoint-handlers -- both frameworks handle errors of async handlers */
/** Fastify with prepared Drizzle queries, which is a common and fast combination. The library jose verifies every token's signature. */
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
const readOwnOrder = db.query.orders
  .findFirst({
    where: and(eq(orders.id, sql.placeholder('id')), eq(orders.user_id, sql.placeholder('user'))),
    with: { items: { orderBy: items.line } },
  })
  .prepare('read_own_order');

type PageQuery = { readonly cursor?: string; readonly limit?: string; readonly status?: string; readonly category?: string };

/** Prepares one query for each combination of parameters. */
const prepareLists = <Query>(prepare: (after: boolean, filtered: boolean) => Query) => ({
  all: { first: prepare(false, false), next: prepare(true, false) },
  filtered: { first: prepare(false, true), next: prepare(true, true) },
});
const afterCursor = (table: typeof orders | typeof products) =>
  sql`(${table.created_at}, ${table.id}) < (${sql.placeholder('time')}::timestamptz, ${sql.placeholder('last')}::bigint)`;
const listOrders = prepareLists((after, filtered) =>
  db.query.orders
    .findMany({
      where: and(
        eq(orders.user_id, sql.placeholder('user')),
        filtered ? eq(orders.status, sql.placeholder('filter')) : undefined,
        after ? afterCursor(orders) : undefined,
      ),
      orderBy: [desc(orders.created_at), desc(orders.id)],
      limit: sql.placeholder('limit'),
    })
    .prepare(`list_orders_${String(after)}_${String(filtered)}`),
);
const listProducts = prepareLists((after, filtered) =>
  db.query.products
    .findMany({
      where: and(
        eq(products.status, 'active'),
        filtered ? eq(products.category, sql.placeholder('filter')) : undefined,
        after ? afterCursor(products) : undefined,
      ),
      orderBy: [desc(products.created_at), desc(products.id)],
      limit: sql.placeholder('limit'),
    })
    .prepare(`list_products_${String(after)}_${String(filtered)}`),
);

type List = { execute(values: Record<string, unknown>): Promise<readonly { readonly id: number; readonly created_at: Date }[]> };

async function findPage(lists: ReturnType<typeof prepareLists<List>>, { cursor, limit = '20' }: PageQuery, filter?: string, user?: number) {
  const [time, last] = cursor?.split('_') ?? [];
  const size = Number(limit);
  const list = lists[filter === undefined ? 'all' : 'filtered'][cursor === undefined ? 'first' : 'next'];
  const rows = await list.execute({ user, filter, time, last, limit: size + 1 });
  const data = rows.slice(0, size);
  const end = data.at(-1);
  const hasMore = rows.length > size;
  return { data, has_more: hasMore, next_cursor: hasMore && end ? `${end.created_at.toISOString()}_${end.id}` : null };
}

const app = fastify();
app.get<{ Querystring: PageQuery }>('/api/v1/products', async (req) => findPage(listProducts, req.query, req.query.category));
app.get<{ Params: { id: string } }>('/api/v1/orders/:id', async (req, reply) => {
  const { userId: user } = await verifyCaller(req.headers.authorization);
  const id = Number(req.params.id);
  return (await (user === undefined ? readOrder.execute({ id }) : readOwnOrder.execute({ id, user }))) ?? reply.code(404).send({});
});
app.get<{ Querystring: PageQuery }>('/api/v1/orders', async (req) => {
  const { userId } = await verifyCaller(req.headers.authorization);
  return findPage(listOrders, req.query, req.query.status, userId);
});
await app.listen({ port: settings.PORT, host: '127.0.0.1' });
