/**
 * Hand-written server that is optimized only for speed. The server uses node:http and pg with prepared statements, and caches verified
 * tokens in a map. The server has no revocation, limits, response validation, logging or other protection.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { Pool, types } from 'pg';
import { z } from 'zod';
import { settings, verifyCaller } from './verify-caller.ts';

types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString: settings.DATABASE_URL, max: 10 });

const columns = `id, user_id, client_id, status, payment_status, fulfillment_status, cancel_reason, currency, tax_mode, subtotal, discount_total,
  shipping_total, tax_total, total, refunded_total, item_count, delivery, reference, note, metadata, version, expires_at, created_at, updated_at,
  paid_at, shipped_at, delivered_at, canceled_at`;

const readOrder = {
  name: 'read-order',
  text: `select ${columns}, (select json_agg(json_build_object('line', line, 'product_id', product_id, 'sku', sku, 'name', name, 'unit_price', unit_price,
      'quantity', quantity, 'shipped_quantity', shipped_quantity, 'restocked_quantity', restocked_quantity, 'tax_rate_bps', tax_rate_bps, 'tax', tax,
      'total', total) order by line) from order_items where order_id = orders.id) as items
    from orders where id = $1 and ($2::bigint is null or user_id = $2)`,
};
type Query = { readonly name: string; readonly text: string };

/** Creates one prepared query for each combination of a filter and a cursor. `fixed` is the number of parameters in `text`. */
function prepareLists(
  name: string,
  text: string,
  fixed: number,
  filter: string,
): Readonly<Record<'all' | 'filtered', Record<'first' | 'next', Query>>> {
  const prepare = (filtered: boolean, after: boolean): Query => {
    let parameter = fixed;
    const next = (): string => `$${(parameter += 1)}`;
    const filterCondition = filtered ? ` and ${filter} = ${next()}` : '';
    const cursorCondition = after ? ` and (created_at, id) < (${next()}::timestamptz, ${next()}::bigint)` : '';
    return {
      name: `${name} ${String(filtered)} ${String(after)}`,
      text: `${text}${filterCondition}${cursorCondition} order by created_at desc, id desc limit ${next()}`,
    };
  };
  return {
    all: { first: prepare(false, false), next: prepare(false, true) },
    filtered: { first: prepare(true, false), next: prepare(true, true) },
  };
}

const listOrders = prepareLists('list-orders', `select ${columns} from orders where user_id = $1`, 1, 'status');
const listProducts = prepareLists(
  'list-products',
  `select id, sku, name, description, category, price, currency, tax_rate_bps, available as stock, status, metadata, version, created_at, updated_at
    from products left join product_stock on product_id = id where status = 'active'`,
  0,
  'category',
);

/** Reads prices, updates stock in product order, and inserts the order and its lines in one statement. */
const placeOrder = {
  name: 'place-order',
  text: `with wanted as (select * from unnest($2::bigint[], $3::int[]) with ordinality as t (product_id, quantity, line)),
    locked as (select s.product_id from product_stock s join wanted w using (product_id) where s.available >= w.quantity
                order by s.product_id for no key update of s),
    priced as (select w.line, w.quantity, p.* from wanted w join products p on p.id = w.product_id where exists (select 1 from locked)),
    taken as (update product_stock s set available = s.available - w.quantity from wanted w
               where s.product_id = w.product_id and (select count(*) from locked) = (select count(*) from wanted)),
    placed as (insert into orders (user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, expires_at)
      select $1, 'pending', 'GBP', sum(price * quantity), 0, 0, sum(price * quantity), count(*), $4::jsonb, now() + interval '30 minutes' from priced
      having count(*) = (select count(*) from locked) returning *),
    lines as (insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
      select o.id, line, priced.id, sku, name, price, quantity, 0, 0, price * quantity from placed o cross join priced returning *)
    select (select to_json(placed) from placed) as placed, (select json_agg(lines) from lines) as items`,
};

type Caller = Awaited<ReturnType<typeof verifyCaller>>;

const verifiedTokens = new Map<string, Promise<Caller>>();

/** Caches each verified token until the process exits. */
function authenticated({ headers: { authorization = '' } }: IncomingMessage): Promise<Caller> {
  const caller = verifiedTokens.get(authorization) ?? verifyCaller(authorization);
  verifiedTokens.set(authorization, caller);
  return caller;
}

const queryRows = async (query: { name: string; text: string }, values: unknown[]): Promise<unknown[]> =>
  (await pool.query<Record<string, unknown>>({ ...query, values })).rows;

const row = z.object({ id: z.number(), created_at: z.date() });

/** A cursor contains the time and the ID of a page's last row. */
async function findPage(
  lists: typeof listOrders,
  fixed: readonly unknown[],
  filter: string | null,
  { cursor = null, limit = '20' }: Readonly<Record<string, string | null>>,
): Promise<object> {
  const size = Number(limit);
  const query = lists[filter === null ? 'all' : 'filtered'][cursor === null ? 'first' : 'next'];
  const rows = await queryRows(query, [...fixed, ...(filter === null ? [] : [filter]), ...(cursor?.split('_') ?? []), size + 1]);
  const data = rows.slice(0, size);
  const hasMore = rows.length > size;
  const last = hasMore ? row.parse(data.at(-1)) : undefined;
  return { data, has_more: hasMore, next_cursor: last ? `${last.created_at.toISOString()}_${last.id}` : null };
}

async function handleRequest(req: IncomingMessage): Promise<[number, unknown]> {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://localhost');
  const parameters = Object.fromEntries(searchParams);
  if (req.method === 'GET' && pathname === '/api/v1/products')
    return [200, await findPage(listProducts, [], searchParams.get('category'), parameters)];
  const { userId } = await authenticated(req);
  if (req.method === 'POST') return [201, await create(req, userId)];
  const id = /^\/api\/v1\/orders\/(\d+)$/.exec(pathname)?.[1];
  if (id === undefined) return [200, await findPage(listOrders, [userId], searchParams.get('status'), parameters)];
  const [order] = await queryRows(readOrder, [id, userId]);
  return order === undefined ? [404, {}] : [200, order];
}

const orderInput = z.object({
  items: z.array(z.object({ product_id: z.number(), quantity: z.number() })),
  delivery: z.unknown(),
});

async function create(req: IncomingMessage, userId: number | undefined): Promise<unknown> {
  const body = orderInput.parse(await json(req));
  const [products, quantities] = [body.items.map((item) => item.product_id), body.items.map((item) => item.quantity)];
  const [order] = await queryRows(placeOrder, [userId, products, quantities, JSON.stringify(body.delivery)]);
  return order;
}

async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const [status, body] = await handleRequest(req);
    const text = JSON.stringify(body);
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
  } catch {
    res.writeHead(401).end();
  }
}

createServer((req, res) => void respond(req, res)).listen(settings.PORT, '127.0.0.1');
