import { importOrderRowsMax, orderLinesMax } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { recordEvent } from '../events/record-event.ts';
import type { Mistake } from '../imports/parse-cells.ts';
import type { Remark, Verdict } from '../imports/run-import.ts';
import { findOrder } from '../orders/find-order.ts';
import type { ClaimedTask } from '../tasks/task-context.ts';
import { findCustomer } from './find-customer.ts';
import { findProducts } from './find-products.ts';
import type { OrderImport } from './order-import-parameters.ts';
import { findImported, type ImportedOrder, lockForReplacement, orderFingerprint, storeFingerprint } from './imported-order.ts';
import { type ImportedData, insertOrder, replaceOrder } from './insert-order.ts';
import type { Invoice } from './invoice.ts';
import { orderDifference } from './order-difference.ts';
import { readInvoice, type ReadInvoice } from './read-invoice.ts';

/** Imports one order, unless it was imported before with the same data. */
export async function importOrder(em: Em, params: OrderImport, task: ClaimedTask, invoice: Invoice): Promise<Verdict> {
  if (invoice.rows > invoice.records.length) return { outcome: 'refused', remarks: [tooManyRows(invoice)] };
  const read = readInvoice(params, invoice);
  if ('outcome' in read) return read;
  const { head, remarks } = read;
  const fingerprint = orderFingerprint(params, head, read.lines);
  const earlier = await findImported(em, params, head, fingerprint);
  if (earlier === 'same') return { outcome: 'unchanged', remarks };
  if (earlier !== 'new') return importAgain(em, params, task, read, earlier, fingerprint);
  const data = await resolved(em, params, task, read, fingerprint);
  if ('outcome' in data) return data;
  const orderId = await insertOrder(em, data);
  if (params.events === 'true') await announce(em, task, 'order.created', orderId);
  return { outcome: 'created', remarks };
}

function tooManyRows({ reference, records, rows }: Invoice): Remark {
  const detail = `The order has ${rows} rows; an order has at most ${orderLinesMax} lines, and an import reads up to ${importOrderRowsMax} rows of one.`;
  return { line: records[0]?.line ?? 0, ...(reference !== undefined && { reference }), code: 'out_of_range', detail };
}

/** An order that was imported before: with other data it is refused or replaced. */
async function importAgain(
  em: Em,
  params: OrderImport,
  task: ClaimedTask,
  read: ReadInvoice,
  earlier: ImportedOrder,
  fingerprint: string,
): Promise<Verdict> {
  const difference = orderDifference(read.head, read.lines, earlier);
  if (!difference && earlier.fingerprint === null) {
    await storeFingerprint(em, params, read.head, fingerprint);
    return { outcome: 'unchanged', remarks: read.remarks };
  }
  const { at = 0, field, detail = 'the data of the customer or of the order differ from those of the last import' } = difference ?? {};
  const line = read.lineNumbers[at] ?? read.line;
  const differs = (code: string, how: string): Verdict => ({
    outcome: 'differing',
    remarks: [...read.remarks, { line, reference: read.head.reference, ...(field !== undefined && { field }), code, detail: how }],
  });
  const was = `Order ${earlier.order_id} was imported before with different data: ${detail}.`;
  if (params.changed_orders === 'refuse') {
    return differs('already_imported', `${was} To replace it, import the file again with changed_orders=replace.`);
  }
  if (!(await lockForReplacement(em, earlier.order_id))) {
    const why = 'It cannot be replaced, because it has payments, refunds or shipments, or was canceled here.';
    return differs('not_replaceable', `${was} ${why} Change the order itself, or import it under another reference.`);
  }
  const data = await resolved(em, params, task, read, fingerprint);
  if ('outcome' in data) return data;
  await replaceOrder(em, data, earlier.order_id);
  if (params.events === 'true') await announce(em, task, 'order.updated', earlier.order_id);
  return { outcome: 'updated', remarks: read.remarks };
}

/** The order with its customer and products, or why it has none. */
async function resolved(
  em: Em,
  params: OrderImport,
  task: ClaimedTask,
  { line, head, lines, remarks }: ReadInvoice,
  fingerprint: string,
): Promise<ImportedData | Verdict> {
  const refused = (mistake: Mistake): Verdict => ({
    outcome: 'refused',
    remarks: [...remarks, { line, reference: head.reference, ...mistake }],
  });
  const userId = await findCustomer(em, params, head);
  if (typeof userId !== 'number') return refused(userId);
  const products = await findProducts(em, params, head, lines);
  if ('code' in products) return refused(products);
  return { params, head, userId, clientId: task.client_id, lines, products, fingerprint };
}

async function announce(
  em: Em,
  { client_id: clientId }: ClaimedTask,
  type: 'order.created' | 'order.updated',
  orderId: number,
): Promise<void> {
  const order = await findOrder(em, { user: null, clientId, scopes: new Set(['orders.manage']) }, orderId);
  await recordEvent(em, type, order, order.user_id);
}
