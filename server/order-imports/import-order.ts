import { maxImportRowsPerOrder, maxOrderLines } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import type { RowError } from '../imports/parse-import-cells-and-validate-row.ts';
import type { ImportIssue, ImportOutcome } from '../imports/run-import.ts';
import { findOrderOrThrow } from '../orders/find-order.ts';
import type { ClaimedTask } from '../tasks/task-attempt.ts';
import { findOrCreateCustomer } from './find-or-create-customer.ts';
import { findOrCreateProducts } from './find-or-create-products.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import {
  compareOrderWithEarlierImport,
  type ImportedOrderState,
  lockOrderAndCheckIfReplaceable,
  computeOrderFingerprint,
  addFingerprintToEarlierImportedOrder,
} from './compare-with-earlier-order-import.ts';
import { type ImportedOrderData, insertImportedOrder, replaceImportedOrder } from './insert-or-replace-order.ts';
import type { OrderRowGroup } from './group-order-rows.ts';
import { describeDifferenceToEarlierImport } from './describe-order-difference.ts';
import { parseOrderFromRows, type ParsedOrder } from './parse-order-from-rows.ts';

/** Imports an order, unless it has already been imported with the same data. */
export async function importOrder(
  em: EntityManager,
  params: OrderImportParams,
  task: ClaimedTask,
  invoice: OrderRowGroup,
): Promise<ImportOutcome> {
  if (invoice.rows > invoice.records.length) return { outcome: 'refused', issues: [tooManyRows(invoice)] };
  const parsed = parseOrderFromRows(params, invoice);
  if ('outcome' in parsed) return parsed;
  const { head, issues } = parsed;
  const fingerprint = computeOrderFingerprint(params, head, parsed.lines);
  const existing = await compareOrderWithEarlierImport(em, params, head, fingerprint);
  if (existing === 'same') return { outcome: 'unchanged', issues };
  if (existing !== 'new') return reimportOrder(em, params, task, parsed, existing, fingerprint);
  const data = await resolveReferences(em, params, task, parsed, fingerprint);
  if ('outcome' in data) return data;
  const orderId = await insertImportedOrder(em, data);
  if (params.events === 'true') await recordOrderEvent(em, task, 'order.created', orderId);
  return { outcome: 'created', issues };
}

function tooManyRows({ reference, records, rows }: OrderRowGroup): ImportIssue {
  const detail = `The order has ${rows} rows; an order has at most ${maxOrderLines} lines, and an import reads up to ${maxImportRowsPerOrder} rows of an order.`;
  return { line: records[0]?.line ?? 0, ...(reference !== undefined && { reference }), code: 'out_of_range', detail };
}

/** Handles an order that has already been imported. If the data differs, rejects the import or replaces the order. */
async function reimportOrder(
  em: EntityManager,
  params: OrderImportParams,
  task: ClaimedTask,
  parsed: ParsedOrder,
  existing: ImportedOrderState,
  fingerprint: string,
): Promise<ImportOutcome> {
  const difference = describeDifferenceToEarlierImport(parsed.head, parsed.lines, existing);
  if (!difference && existing.fingerprint === null) {
    await addFingerprintToEarlierImportedOrder(em, params, parsed.head, fingerprint);
    return { outcome: 'unchanged', issues: parsed.issues };
  }
  const { at = 0, field, detail = 'the data of the customer or the order differs from that of the last import' } = difference ?? {};
  const line = parsed.lineNumbers[at] ?? parsed.line;
  const differs = (code: string, how: string): ImportOutcome => ({
    outcome: 'differing',
    issues: [...parsed.issues, { line, reference: parsed.head.reference, ...(field !== undefined && { field }), code, detail: how }],
  });
  const was = `Order ${existing.order_id} was imported before with different data: ${detail}.`;
  if (params.changed_orders === 'refuse') {
    return differs('already_imported', `${was} To replace it, import the file again with changed_orders=replace.`);
  }
  if (!(await lockOrderAndCheckIfReplaceable(em, existing.order_id))) {
    const why = 'It cannot be replaced, because it has payments, refunds or shipments, or was canceled here.';
    return differs('not_replaceable', `${was} ${why} Change the order itself, or import it under another reference.`);
  }
  const data = await resolveReferences(em, params, task, parsed, fingerprint);
  if ('outcome' in data) return data;
  await replaceImportedOrder(em, data, existing.order_id);
  if (params.events === 'true') await recordOrderEvent(em, task, 'order.updated', existing.order_id);
  return { outcome: 'updated', issues: parsed.issues };
}

/** Finds or creates an order's customer and products. Returns the outcome `refused` on failure. */
async function resolveReferences(
  em: EntityManager,
  params: OrderImportParams,
  task: ClaimedTask,
  { line, head, lines, issues }: ParsedOrder,
  fingerprint: string,
): Promise<ImportedOrderData | ImportOutcome> {
  const rejected = (error: RowError): ImportOutcome => ({
    outcome: 'refused',
    issues: [...issues, { line, reference: head.reference, ...error }],
  });
  const userId = await findOrCreateCustomer(em, params, head);
  if (typeof userId !== 'number') return rejected(userId);
  const products = await findOrCreateProducts(em, params, head, lines);
  if ('code' in products) return rejected(products);
  return { params, head, userId, clientId: task.client_id, lines, products, fingerprint };
}

async function recordOrderEvent(
  em: EntityManager,
  { client_id: clientId }: ClaimedTask,
  type: 'order.created' | 'order.updated',
  orderId: number,
): Promise<void> {
  const order = await findOrderOrThrow(em, { user: null, clientId, scopes: new Set(['orders.manage']) }, orderId);
  await recordEvent(em, type, order, order.user_id);
}
