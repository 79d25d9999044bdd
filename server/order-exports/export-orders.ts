import { orderExportColumns, fileFormats, type OrderSummary } from '@mandate/contract';
import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { countOrders, listOrders, type OrderFilters } from '../orders/list-orders.sql.ts';
import { addTextSearchToOrderFilters } from '../orders/add-text-search-to-order-filters.ts';
import { orderLineFromEntity, orderSummaryFromRow } from '../orders/order-from-row.ts';
import { OrderItem } from '../orders/order-and-order-item.entity.ts';
import { appendToStoredFile, createStoredFile } from '../tasks/stored-task-file.ts';
import type { TaskOutcome, TaskAttempt } from '../tasks/task-attempt.ts';
import type { OrderExportRow } from './order-export-cell-readers.ts';
import { serializeOrderExportRows } from './serialize-order-export-rows.ts';

/** Maximum number of orders per batch, for each kind of exported row. */
const maxBatchOrders = { orders: 500, lines: 100 } as const;
/** Maximum number of order lines per batch. An order with more lines is exported in a batch of its own. */
const maxBatchLines = 500;
/** Maximum number of orders that are counted to report progress. Counting more orders would take too long. */
const countedMax = 1_000_000;

/** Parameters of an export task, that is, the parameters of the request with all defaults resolved. */
export const orderExportTaskParamsSchema = z.object({
  format: z.enum(fileFormats),
  rows: z.enum(['orders', 'lines']),
  columns: z.array(z.enum([...orderExportColumns.order, ...orderExportColumns.line])),
  user_id: z.number().optional(),
  /** The application's client ID, if the user allows the application to access only the orders that it placed. */
  required_client_id: z.string().optional(),
  status: z.array(z.string()).optional(),
  payment_status: z.array(z.string()).optional(),
  fulfillment_status: z.array(z.string()).optional(),
  client_id: z.string().optional(),
  reference: z.string().optional(),
  q: z.string().optional(),
  created_at_gte: z.string().optional(),
  created_at_lt: z.string(),
  updated_at_gte: z.string().optional(),
  updated_at_lt: z.string().optional(),
});
export type OrderExportParams = z.output<typeof orderExportTaskParamsSchema>;

const checkpointSchema = z.object({
  fileId: z.number(),
  chunks: z.number(),
  rows: z.number(),
  orders: z.number(),
  /** Position of the last exported order. */
  after: z.tuple([z.string(), z.number()]).optional(),
});
type Checkpoint = z.output<typeof checkpointSchema>;

/** Writes orders to a file in batches, oldest first. After a crash, the export resumes after the last completed batch. */
export async function exportOrders(run: TaskAttempt): Promise<TaskOutcome> {
  const params = orderExportTaskParamsSchema.parse(run.task.params);
  let checkpoint = run.task.checkpoint === null ? await createCheckpoint(run, params) : checkpointSchema.parse(run.task.checkpoint);
  for (let more = true; more;) {
    const from = checkpoint;
    ({ checkpoint, more } = await run.step((em) => exportBatch(em, params, from)));
  }
  return { fileId: checkpoint.fileId, format: params.format, rows: checkpoint.rows, imported: null };
}

async function createCheckpoint(run: TaskAttempt, params: OrderExportParams): Promise<Checkpoint> {
  const progress = await run.step(async (em) => {
    const fileId = await createStoredFile(em);
    const header = serializeOrderExportRows(params.format, params.columns, [], true);
    const chunks = await appendToStoredFile(em, fileId, 0, header);
    const total = await countOrders(em, await addTextSearchToOrderFilters(em, toFilters(params), params.q), countedMax);
    return { checkpoint: { fileId, chunks, rows: 0, orders: 0 }, processed: 0, total: total > countedMax ? undefined : total };
  });
  return progress.checkpoint;
}

async function exportBatch(em: EntityManager, params: OrderExportParams, checkpoint: Checkpoint) {
  const sort = { by: 'created_at', descending: false } as const;
  const limit = maxBatchOrders[params.rows];
  const filters = await addTextSearchToOrderFilters(em, toFilters(params), params.q);
  const found = await listOrders(em, filters, { sort, position: checkpoint.after, limit });
  const orders = limitLines(found.slice(0, limit).map(orderSummaryFromRow), params.rows === 'lines');
  const rows = params.rows === 'lines' ? await withLines(em, orders) : orders.map((order) => ({ order, line: undefined }));
  const last = orders.at(-1);
  const next: Checkpoint = {
    fileId: checkpoint.fileId,
    chunks: await appendToStoredFile(
      em,
      checkpoint.fileId,
      checkpoint.chunks,
      serializeOrderExportRows(params.format, params.columns, rows, false),
    ),
    rows: checkpoint.rows + rows.length,
    orders: checkpoint.orders + orders.length,
    after: last ? [last.created_at, last.id] : checkpoint.after,
  };
  return { checkpoint: next, processed: next.orders, more: orders.length < found.length };
}

/** Returns the first orders, with at most `maxBatchLines` lines in total, but at least one order. */
function limitLines(orders: OrderSummary[], exportsLines: boolean): OrderSummary[] {
  if (!exportsLines) return orders;
  let lines = 0;
  const end = orders.findIndex(({ item_count: count }, index) => (lines += count) > maxBatchLines && index > 0);
  return end === -1 ? orders : orders.slice(0, end);
}

async function withLines(em: EntityManager, orders: readonly OrderSummary[]): Promise<OrderExportRow[]> {
  const ofOrders = { order: { $in: orders.map(({ id }) => id) } };
  const items = await em.find(OrderItem, ofOrders, { orderBy: { line: 'asc' }, disableIdentityMap: true });
  const lines = Map.groupBy(items, (item) => item.order.id);
  return orders.flatMap((order) => (lines.get(order.id) ?? []).map((item) => ({ order, line: orderLineFromEntity(item) })));
}

const toFilters = (params: OrderExportParams): OrderFilters => ({
  userId: params.user_id,
  requiredClientId: params.required_client_id,
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
