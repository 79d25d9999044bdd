import { exportColumns, fileFormats, type Order, type OrderSummary } from '@mandate/contract';
import { z } from 'zod';
import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';
import { countOrders, listOrders, type OrderFilters } from '../orders/list-orders.ts';
import { toOrderSummary } from '../orders/order-rows.ts';
import { append, newFile } from '../tasks/stored-file.ts';
import type { Outcome, TaskRun } from '../tasks/task-run.ts';
import type { Exported } from './export-columns.ts';
import { writeRows } from './write-rows.ts';

/** Maximum number of orders that are read at a time, by the kind of rows. */
const ordersAtOnce = { orders: 500, lines: 100 } as const;
/** Maximum number of lines that are in memory at a time, unless a single order has more. */
const linesAtOnce = 500;
/** More than these are not counted beforehand: it would take longer than it is worth. */
const countedMax = 1_000_000;

/** An export as its task keeps it: the request, with everything decided. */
export const orderExport = z.object({
  format: z.enum(fileFormats),
  rows: z.enum(['orders', 'lines']),
  columns: z.array(z.enum([...exportColumns.order, ...exportColumns.line])),
  user_id: z.number().optional(),
  status: z.array(z.string()).optional(),
  payment_status: z.array(z.string()).optional(),
  fulfillment_status: z.array(z.string()).optional(),
  client_id: z.string().optional(),
  reference: z.string().optional(),
  created_at_gte: z.string().optional(),
  created_at_lt: z.string(),
  updated_at_gte: z.string().optional(),
  updated_at_lt: z.string().optional(),
});
export type OrderExport = z.output<typeof orderExport>;

const checkpoint = z.object({
  fileId: z.number(),
  chunks: z.number(),
  rows: z.number(),
  orders: z.number(),
  /** The last order written. */
  after: z.tuple([z.string(), z.number()]).optional(),
});
type Checkpoint = z.output<typeof checkpoint>;

/** Writes orders into a file, oldest first, a batch at a time; after a crash it goes on behind the last batch. */
export async function exportOrders(run: TaskRun): Promise<Outcome> {
  const params = orderExport.parse(run.task.params);
  let at = run.task.checkpoint === null ? await begin(run, params) : checkpoint.parse(run.task.checkpoint);
  for (let more = true; more;) {
    const from = at;
    ({ checkpoint: at, more } = await run.step((em) => exportBatch(em, params, from)));
  }
  return { fileId: at.fileId, format: params.format, rows: at.rows, imported: null };
}

async function begin(run: TaskRun, params: OrderExport): Promise<Checkpoint> {
  const begun = await run.step(async (em) => {
    const fileId = await newFile(em);
    const header = writeRows(params.format, params.columns, [], true);
    const chunks = await append(em, fileId, 0, header);
    const total = await countOrders(em, filtersOf(params), countedMax);
    return { checkpoint: { fileId, chunks, rows: 0, orders: 0 }, processed: 0, total: total > countedMax ? undefined : total };
  });
  return begun.checkpoint;
}

async function exportBatch(em: Em, params: OrderExport, at: Checkpoint) {
  const sort = { by: 'created_at', descending: false } as const;
  const limit = ordersAtOnce[params.rows];
  const found = await listOrders(em, filtersOf(params), { sort, position: at.after, limit });
  const orders = fewLines(found.slice(0, limit).map(toOrderSummary), params.rows === 'lines');
  const rows = params.rows === 'lines' ? await withLines(em, orders) : orders.map((order) => ({ order, line: undefined }));
  const last = orders.at(-1);
  const next: Checkpoint = {
    fileId: at.fileId,
    chunks: await append(em, at.fileId, at.chunks, writeRows(params.format, params.columns, rows, false)),
    rows: at.rows + rows.length,
    orders: at.orders + orders.length,
    after: last ? [last.created_at, last.id] : at.after,
  };
  return { checkpoint: next, processed: next.orders, more: orders.length < found.length };
}

/** As many orders as have not too many lines together; one at least. */
function fewLines(orders: OrderSummary[], counted: boolean): OrderSummary[] {
  if (!counted) return orders;
  let lines = 0;
  const end = orders.findIndex(({ item_count: count }, at) => (lines += count) > linesAtOnce && at > 0);
  return end === -1 ? orders : orders.slice(0, end);
}

const readLines = statement<Order['items'][number] & { order_id: number }>(
  'read_exported_lines',
  `select order_id, line, product_id, sku, name, unit_price, quantity, shipped_quantity, restocked_quantity, tax_rate_bps, tax, total
     from order_items where order_id = any($1::bigint[]) order by order_id, line`,
);

async function withLines(em: Em, orders: readonly OrderSummary[]): Promise<Exported[]> {
  const lines = Map.groupBy(await readLines(em, [orders.map(({ id }) => id)]), (line) => line.order_id);
  return orders.flatMap((order) => (lines.get(order.id) ?? []).map((line) => ({ order, line })));
}

const filtersOf = (params: OrderExport): OrderFilters => ({
  userId: params.user_id,
  status: params.status,
  paymentStatus: params.payment_status,
  fulfillmentStatus: params.fulfillment_status,
  clientId: params.client_id,
  reference: params.reference,
  createdAtGte: params.created_at_gte,
  createdAtLt: params.created_at_lt,
  updatedAtGte: params.updated_at_gte,
  updatedAtLt: params.updated_at_lt,
});
