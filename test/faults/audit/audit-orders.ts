import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { forEach, sample, type Findings, type Thoroughness } from './violations.ts';
import type { Confirmed } from './confirmed-writes.ts';
import type { Load } from '../traffic/load.ts';
import { unitsOfAnOrder } from '../traffic/shop.ts';

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
const stocked = z.object({ stock: z.number() });
const payments = z.object({ data: z.array(z.object({ status: z.string() })) });
const task = z.object({ status: z.string(), result: z.object({ imported: z.object({ created: z.number() }).nullable() }).nullable() });
const counted = z.object({ total_count: z.number() });

/** Requests that are sent once more, and orders whose payments are read. */
const againMax = 300;
const againMaxHurried = 60;

/** Orders, stock, payments, cancellations and imports. */
export async function auditOrders(load: Load, findings: Findings, { hurry }: Thoroughness): Promise<void> {
  const { administration, ledger } = load;
  // whoever got no answer asks again, so that from now on there is exactly one order for each key
  await forEach(ledger.asked.values(), async (asked) => {
    if (ledger.orders.has(asked.key)) return;
    const placed = await administration.untilConfirmed(asked);
    if (placed) ledger.orders.set(asked.key, placed);
  });
  for (const { task: id, category, products } of ledger.imports) {
    const { status, result } = task.parse(JSON.parse(await administration.read(`/tasks/${id}`)));
    const created = result?.imported?.created;
    if (created !== products) findings.lost.push(`import ${id} is ${status} with ${created} of ${products} products`);
    const { total_count: there } = counted.parse(
      JSON.parse(await administration.read(`/products?category=${category}&limit=1&include_total=true`)),
    );
    if (there !== products) (there < products ? findings.lost : findings.doubled).push(`${there} of ${products} products of import ${id}`);
  }
  const orders = await allOrders(load);
  compare(load, orders, findings);
  await compareStock(load, orders, findings);
  await allPaid(load, orders, findings, hurry);
  const again = [...ledger.orders.values(), ...ledger.payments.values(), ...ledger.cancellations.values()];
  const most = hurry ? againMaxHurried : againMax;
  await forEach(sample(again, most), (confirmed) => sendAgain(load, confirmed, findings));
  await forEach(sample([...ledger.payments.keys()], most), async (id) => {
    const succeeded = await succeededPayments(load, id);
    if (succeeded === 0) findings.lost.push(`the payment of order ${id}`);
    if (succeeded > 1) findings.doubled.push(`order ${id} was paid ${succeeded} times`);
  });
}

async function succeededPayments({ administration }: Load, id: number): Promise<number> {
  const { data } = payments.parse(JSON.parse(await administration.read(`/orders/${id}/payments`)));
  return data.filter(({ status }) => status === 'succeeded').length;
}

/** What was confirmed may have been the beginning alone: whoever was to ask the provider is gone, and somebody else does it later. */
async function allPaid(load: Load, orders: readonly Order[], findings: Findings, hurry: boolean): Promise<void> {
  const waiting = new Set(orders.filter((one) => load.ledger.payments.has(one.id) && one.payment_status === 'unpaid').map(({ id }) => id));
  if (waiting.size > 0) findings.notes.push(`${waiting.size} payments were finished later by another server`);
  for (let turn = 0; waiting.size > 0 && turn < 300; turn += 1, await sleep(200)) {
    if (hurry && turn % 50 === 0) await load.administration.stage.sql(lookAtPayments);
    for (const id of waiting) if ((await succeededPayments(load, id)) > 0) waiting.delete(id);
  }
  for (const id of waiting) findings.lost.push(`the payment of order ${id}, which nobody finished`);
}

const lookAtPayments = `update payments set next_check_at = now() where status in ('pending', 'processing') and next_check_at > now()`;

/** Page by page, oldest first, as a caller reads them. */
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

function compare({ ledger }: Load, orders: readonly Order[], findings: Findings): void {
  const found = new Map<string, Order>();
  for (const [nth, one] of orders.entries()) {
    const reference = one.reference ?? '';
    if (found.has(reference)) findings.doubled.push(`two orders for the key ${reference}`);
    if (!ledger.asked.has(reference)) findings.doubled.push(`order ${one.id} that nobody asked for`);
    if ((orders[nth - 1]?.created_at ?? '') > one.created_at) findings.unexpected.push(`the list is not in order at ${one.id}`);
    found.set(reference, one);
  }
  for (const { key, text } of ledger.orders.values()) {
    const confirmed = order.parse(JSON.parse(text));
    const kept = found.get(key);
    if (kept?.id !== confirmed.id || kept.total !== confirmed.total) findings.lost.push(`order ${confirmed.id} of the key ${key}`);
    else if (ledger.cancellations.has(kept.id) && kept.status !== 'canceled') findings.lost.push(`the cancellation of order ${kept.id}`);
  }
}

async function compareStock({ administration, shop }: Load, orders: readonly Order[], findings: Findings): Promise<void> {
  let taken = 0;
  for (const id of shop.products) taken += shop.stock - stocked.parse(JSON.parse(await administration.read(`/products/${id}`))).stock;
  const sold = orders.filter(({ status }) => status !== 'canceled').length * unitsOfAnOrder;
  if (taken > sold) findings.doubled.push(`${taken - sold} units of stock were taken that nobody bought`);
  if (taken < sold) findings.lost.push(`${sold - taken} units were sold that were not taken from stock`);
}

async function sendAgain({ administration }: Load, confirmed: Confirmed, findings: Findings): Promise<void> {
  const again = await administration.untilConfirmed(confirmed);
  if (again?.text !== confirmed.text) findings.lost.push(`the answer of ${confirmed.path} to the key ${confirmed.key}`);
}
