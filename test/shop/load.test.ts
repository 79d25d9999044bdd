import { readFileSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { databaseKind } from '../support/services/database.ts';
import type { Mandate } from '../support/server/start-mandate.ts';
import { openTill } from '../support/order-arithmetic.ts';
import { discrepancies } from './accounting-invariants.ts';
import { acts, RandomCustomer } from './random-customer.ts';

/** Long enough to see a fault every time; `MANDATE_LOAD_SECONDS=60` for a thorough look. */
const seconds = Number(process.env['MANDATE_LOAD_SECONDS'] ?? 8);
const clients = 64;

describe.skipIf(databaseKind === 'pglite')(`${clients} clients at once over few products`, { timeout: seconds * 1000 + 120_000 }, () => {
  test('nothing is lost, doubled or oversold, nobody waits in a circle, nothing breaks', async () => {
    const { wrong, deadlocks, broken, statuses } = await busyShop(seconds);
    expect({ wrong, deadlocks, broken }).toEqual({ wrong: [], deadlocks: 0, broken: [] });
    expect(statuses[201]).toBeGreaterThan(seconds * 10);
  });

  test('locks in the order of the request make people wait in a circle, and this test would see it', async () => {
    const { deadlocks } = await busyShop(8, lockAsAsked);
    expect(deadlocks).toBeGreaterThan(0);
  });

  test('reading, checking and then writing sells what is not there, and this test would see it', async () => {
    const { wrong } = await busyShop(4, readCheckWrite);
    expect(wrong).toContainEqual(expect.stringContaining('received is not available and sold'));
  });
});

/** The function that places orders, made worse. */
type Fault = (placeOrder: string) => string;
const lockAsAsked: Fault = (sql) => replaced(sql, 'order by s.product_id', 'order by array_position(p_product_ids, s.product_id)');
/** What was read is what is written, whatever happened in between. */
const readCheckWrite: Fault = (sql) =>
  replaced(
    replaced(sql, 'for no key update of s', ''),
    'set available = s.available - w.quantity::int',
    'set available = (select c.available from counted c where c.product_id = s.product_id) - w.quantity::int',
  );

function replaced(text: string, part: string, by: string): string {
  if (!text.includes(part)) throw new Error(`the function no longer says: ${part}`);
  return text.replace(part, by);
}

async function busyShop(forSeconds: number, fault?: Fault) {
  const till = await openTill();
  try {
    if (fault) await plant(till.mandate, fault);
    const products: number[] = [];
    for (let i = 0; i < 5; i += 1) products.push((await till.shop.product({ stock: 200, price: 250 })).id);
    const userId: number = (await till.shop.user()).id;
    const orders: number[] = [];
    const end = Date.now() + forSeconds * 1000;
    const broken: string[] = [];
    const customers = Array.from({ length: clients }, () => new RandomCustomer(till, products, userId, orders));
    await Promise.all(
      customers.map(async (customer) => {
        while (Date.now() < end) await customer.do(someStep()).catch((error: unknown) => broken.push(String(error)));
      }),
    );
    const statuses: Record<number, number> = {};
    for (const customer of customers) {
      for (const [status, count] of Object.entries(customer.statuses)) statuses[Number(status)] = (statuses[Number(status)] ?? 0) + count;
    }
    return { wrong: await discrepancies(till.mandate.db), deadlocks: await deadlocksOf(till.mandate), broken, statuses };
  } finally {
    await till.mandate.close();
  }
}

/** Half of all steps place an order: that is where people meet. */
const someStep = () => ({
  act: randomInt(2) === 0 ? ('place' as const) : (acts[randomInt(acts.length)] ?? 'place'),
  a: randomInt(1000),
  b: randomInt(1000),
});

async function plant({ db }: Mandate, fault: Fault): Promise<void> {
  const path = new URL('../../server/database/migrations/20261123030100_place_order_v4.sql', import.meta.url);
  await db.em.fork().execute(fault(readFileSync(path, 'utf8').replace('create function', 'create or replace function')));
}

async function deadlocksOf(mandate: Mandate): Promise<number> {
  await mandate.db.em.fork().execute('select pg_stat_force_next_flush()');
  return number(mandate, 'select deadlocks::int as number from pg_stat_database where datname = current_database()');
}

async function number({ db }: Mandate, query: string): Promise<number> {
  const [row] = await db.em.fork().execute<{ number: number }[]>(query);
  return row?.number ?? -1;
}
