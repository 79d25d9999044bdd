import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Mistake } from '../imports/cell-values.ts';
import type { FileRecord } from '../imports/read-records.ts';
import type { Remark, Verdict } from '../imports/run-import.ts';
import { findOrder } from '../orders/find-order.ts';
import type { ClaimedTask } from '../tasks/task-run.ts';
import { findCustomer } from './find-customer.ts';
import { findProducts } from './find-products.ts';
import type { OrderImport } from './import-orders.ts';
import { insertOrder } from './insert-order.ts';
import { headOf, lineOf, type OrderHead, type OrderLine, sumMistake } from './order-rows.ts';

/** The rows of one reference; or one row that has none, or that nobody can read. */
export type Invoice = { readonly reference: string | undefined; readonly records: readonly FileRecord[] };

/** Where a mistake of an order as a whole is reported. */
type Read = { readonly line: number; readonly head: OrderHead; readonly lines: readonly OrderLine[]; readonly remarks: readonly Remark[] };

const findImported = statement<{ order_id: number }>(
  'find_imported_order',
  'select order_id from imported_orders where source = $1 and reference = $2',
);

/** Brings one order in, unless it is there already. */
export async function importOrder(em: Em, params: OrderImport, task: ClaimedTask, invoice: Invoice): Promise<Verdict> {
  const read = readInvoice(params, invoice);
  if ('outcome' in read) return read;
  const { line, head, lines, remarks } = read;
  const refused = (mistake: Mistake): Verdict => ({
    outcome: 'refused',
    remarks: [...remarks, { line, reference: head.reference, ...mistake }],
  });
  const [imported] = await findImported(em, [params.source, head.reference]);
  if (imported) return { outcome: 'unchanged', remarks };
  const userId = await findCustomer(em, params, head);
  if (typeof userId !== 'number') return refused(userId);
  const products = await findProducts(em, params, head, lines);
  if ('code' in products) return refused(products);
  const orderId = await insertOrder(em, { params, head, userId, clientId: task.client_id, lines, products });
  if (params.events === 'true') await announce(em, task, orderId);
  return { outcome: 'created', remarks };
}

function readInvoice(params: OrderImport, { reference, records }: Invoice): Read | Verdict {
  const remarks: Remark[] = [];
  const named = reference === undefined ? {} : { reference };
  const good: { line: number; data: OrderLine; cells: ReadonlyMap<string, string> }[] = [];
  for (const { line, cells, mistake } of records) {
    const read = cells ? lineOf(params, cells) : { mistakes: [{ code: 'unreadable', detail: mistake }] };
    const missing = cells && reference === undefined ? [{ field: 'reference', code: 'required', detail: 'The row has no reference.' }] : [];
    const mistakes = [...missing, ...('mistakes' in read ? read.mistakes : [])];
    remarks.push(...mistakes.map((each) => ({ line, ...named, ...each })));
    if (cells && 'data' in read && mistakes.length === 0) good.push({ line, data: read.data, cells });
  }
  const [first] = good;
  if (!first || (params.bad_lines === 'refuse_order' && remarks.length > 0)) return { outcome: 'refused', remarks };
  const head = headOf(params, first.cells);
  const lines = good.map(({ data }) => data);
  const mistakes = 'mistakes' in head ? head.mistakes : [sumMistake(lines, head.data)].filter((mistake) => mistake !== undefined);
  if ('mistakes' in head || mistakes.length > 0) {
    return { outcome: 'refused', remarks: [...remarks, ...mistakes.map((mistake) => ({ line: first.line, ...named, ...mistake }))] };
  }
  return { line: first.line, head: head.data, lines, remarks };
}

async function announce(em: Em, { client_id: clientId }: ClaimedTask, orderId: number): Promise<void> {
  const order = await findOrder(em, { user: null, clientId, scopes: new Set(['orders.manage']) }, orderId);
  await recordEvent(em, 'order.created', order, order.user_id);
}
