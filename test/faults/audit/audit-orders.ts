import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { forEachConcurrently, sampleEvenly } from './concurrency.ts';
import type { Findings, AuditOptions } from './findings.ts';
import type { ConfirmedWrite } from '../traffic/confirmed-writes.ts';
import type { Load } from '../traffic/load.ts';
import { unitsPerOrder } from '../traffic/fault-shop.ts';

const order = z.object({
  id: z.number(),
  reference: z.string().nullable(),
  status: z.string(),
  payment_status: z.string(),
  total: z.number(),
  created_at: z.string(),
});
type Order = z.infer<typeof order>;
const page = z.object({ data: z.array(order), next_cursor: z.string().nullable() });
const stockSchema = z.object({ stock: z.number() });
const payments = z.object({ data: z.array(z.object({ status: z.string() })) });
const task = z.object({ status: z.string(), result: z.object({ imported: z.object({ created: z.number() }).nullable() }).nullable() });
const countSchema = z.object({ total_count: z.number() });

/** Maximum number of replayed requests, and maximum number of orders whose payments are checked. */
const replaysMax = 300;
const replaysMaxWithExpiredLeases = 60;

/** Checks orders, stock, payments, cancellations and imports. */
export async function auditOrders(load: Load, findings: Findings, { expireLeases }: AuditOptions): Promise<void> {
  const { administration, ledger } = load;
  // retry every order request that received no response, so that each key has exactly one order
  await forEachConcurrently(ledger.orderRequests.values(), async (request) => {
    if (ledger.orders.has(request.key)) return;
    const placed = await administration.writeUntilConfirmed(request);
    if (placed) ledger.orders.set(request.key, placed);
  });
  for (const { task: id, category, products } of ledger.imports) {
    const { status, result } = task.parse(JSON.parse(await administration.read(`/tasks/${id}`)));
    const created = result?.imported?.created;
    if (created !== products) findings.lost.push(`import ${id} is ${status} with ${created} of ${products} products`);
    const { total_count: there } = countSchema.parse(
      JSON.parse(await administration.read(`/products?category=${category}&limit=1&include_total=true`)),
    );
    if (there !== products)
      (there < products ? findings.lost : findings.duplicated).push(`${there} of ${products} products of import ${id}`);
  }
  const orders = await allOrders(load);
  compareOrders(load, orders, findings);
  await compareStock(load, orders, findings);
  await expectPaid(load, orders, findings, expireLeases);
  const repeated = [...ledger.orders.values(), ...ledger.payments.values(), ...ledger.cancellations.values()];
  const most = expireLeases ? replaysMaxWithExpiredLeases : replaysMax;
  await forEachConcurrently(sampleEvenly(repeated, most), (confirmed) => replay(load, confirmed, findings));
  await forEachConcurrently(sampleEvenly([...ledger.payments.keys()], most), async (id) => {
    const succeeded = await countSucceededPayments(load, id);
    if (succeeded === 0) findings.lost.push(`the payment of order ${id}`);
    if (succeeded > 1) findings.duplicated.push(`order ${id} has ${succeeded} successful payments`);
  });
}

async function countSucceededPayments({ administration }: Load, id: number): Promise<number> {
  const { data } = payments.parse(JSON.parse(await administration.read(`/orders/${id}/payments`)));
  return data.filter(({ status }) => status === 'succeeded').length;
}

/**
 * Waits until every confirmed payment has succeeded. A payment can be confirmed before the server has called the provider. If that
 * server is killed, another server completes the payment later.
 */
async function expectPaid(load: Load, orders: readonly Order[], findings: Findings, expireLeases: boolean): Promise<void> {
  const waiting = new Set(orders.filter((one) => load.ledger.payments.has(one.id) && one.payment_status === 'unpaid').map(({ id }) => id));
  if (waiting.size > 0) findings.notes.push(`another server completed ${waiting.size} payments`);
  for (let turn = 0; waiting.size > 0 && turn < 300; turn += 1, await sleep(200)) {
    if (expireLeases && turn % 50 === 0) await load.administration.environment.sql(expirePaymentChecksSql);
    for (const id of waiting) if ((await countSucceededPayments(load, id)) > 0) waiting.delete(id);
  }
  for (const id of waiting) findings.lost.push(`the payment of order ${id}, which no server completed`);
}

const expirePaymentChecksSql = `update payments set next_check_at = now() where status in ('pending', 'processing') and next_check_at > now()`;

/** Reads all pages of the order list, oldest first. */
async function allOrders({ administration, shop }: Load): Promise<Order[]> {
  const all: Order[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const list = `/orders?user_id=${shop.userId}&sort=created_at&limit=100${after}`;
    const { data, next_cursor: next } = page.parse(JSON.parse(await administration.read(list)));
    all.push(...data);
    cursor = next;
  }
  return all;
}

function compareOrders({ ledger }: Load, orders: readonly Order[], findings: Findings): void {
  const found = new Map<string, Order>();
  for (const [nth, one] of orders.entries()) {
    const reference = one.reference ?? '';
    if (found.has(reference)) findings.duplicated.push(`two orders for the key ${reference}`);
    if (!ledger.orderRequests.has(reference)) findings.duplicated.push(`order ${one.id} without a request`);
    if ((orders[nth - 1]?.created_at ?? '') > one.created_at) findings.unexpected.push(`the order list is not sorted at order ${one.id}`);
    found.set(reference, one);
  }
  for (const { key, text } of ledger.orders.values()) {
    const confirmed = order.parse(JSON.parse(text));
    const kept = found.get(key);
    if (kept?.id !== confirmed.id || kept.total !== confirmed.total) findings.lost.push(`order ${confirmed.id} with the key ${key}`);
    else if (ledger.cancellations.has(kept.id) && kept.status !== 'canceled') findings.lost.push(`the cancellation of order ${kept.id}`);
  }
}

async function compareStock({ administration, shop }: Load, orders: readonly Order[], findings: Findings): Promise<void> {
  let taken = 0;
  for (const id of shop.products) taken += shop.stock - stockSchema.parse(JSON.parse(await administration.read(`/products/${id}`))).stock;
  const sold = orders.filter(({ status }) => status !== 'canceled').length * unitsPerOrder;
  if (taken > sold) findings.duplicated.push(`${taken - sold} units removed from stock without a sale`);
  if (taken < sold) findings.lost.push(`${sold - taken} sold units not removed from stock`);
}

async function replay({ administration }: Load, confirmed: ConfirmedWrite, findings: Findings): Promise<void> {
  const repeated = await administration.writeUntilConfirmed(confirmed);
  if (repeated?.text !== confirmed.text) findings.lost.push(`the response of ${confirmed.path} for the key ${confirmed.key}`);
}
