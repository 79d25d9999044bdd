import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readDatabaseFunction } from '../support/services/change-database-function.ts';
import { databaseKind } from '../support/services/database.ts';
import type { MandateServer } from '../support/server/start-mandate.ts';
import { startPaymentTestShop } from '../support/shop/payment-test-shop.ts';
import { findAccountingDiscrepancies } from './accounting-invariants.ts';
import { actions, RandomCustomer } from './random-customer.ts';

/** The default duration is long enough to detect a fault in every run. Use `MANDATE_LOAD_SECONDS=60` for a thorough test. */
const seconds = Number(process.env['MANDATE_LOAD_SECONDS'] ?? 8);
const clients = 64;

describe.skipIf(databaseKind === 'pglite')(
  `${clients} concurrent clients with five products`,
  { timeout: seconds * 1000 + 120_000 },
  () => {
    test('no order is lost, duplicated or oversold, and no deadlock or error occurs', async () => {
      const { discrepancies, deadlocks, errors, statuses } = await runShopUnderLoad(seconds);
      expect({ discrepancies, deadlocks, errors }).toEqual({ discrepancies: [], deadlocks: 0, errors: [] });
      expect(statuses[201]).toBeGreaterThan(seconds * 10);
    });

    test('the test detects deadlocks if rows are locked in the order of the request', async () => {
      const { deadlocks } = await runShopUnderLoad(8, lockInRequestOrder);
      expect(deadlocks).toBeGreaterThan(0);
    });

    test('the test detects overselling if stock is read and written without a lock', async () => {
      const { discrepancies } = await runShopUnderLoad(4, readCheckWrite);
      expect(discrepancies).toContainEqual(expect.stringContaining('received stock differs from available plus sold plus reserved stock'));
    });
  },
);

/** Injects a fault into the SQL function that places orders, and returns the modified function. */
type Fault = (placeOrder: string) => string;
const lockInRequestOrder: Fault = (sql) =>
  replaceInSql(sql, 'order by s.product_id', 'order by array_position(p_product_ids, s.product_id)');
/** Computes the new stock from a value that was read without a lock. */
const readCheckWrite: Fault = (sql) =>
  replaceInSql(
    replaceInSql(sql, 'for no key update of s', ''),
    'set available = s.available - w.quantity::int',
    'set available = (select c.available from counted c where c.product_id = s.product_id) - w.quantity::int',
  );

function replaceInSql(text: string, part: string, by: string): string {
  if (!text.includes(part)) throw new Error(`the function does not contain: ${part}`);
  return text.replace(part, by);
}

async function runShopUnderLoad(forSeconds: number, fault?: Fault) {
  const till = await startPaymentTestShop();
  try {
    if (fault) await plantFault(till.mandate, fault);
    const products: number[] = [];
    for (let i = 0; i < 5; i += 1) products.push((await till.shop.createProduct({ stock: 200, price: 250 })).id);
    const userId: number = (await till.shop.createUser()).id;
    const shared = { orders: [], quotes: [] };
    const end = Date.now() + forSeconds * 1000;
    const errors: string[] = [];
    const customers = Array.from({ length: clients }, () => new RandomCustomer(till, products, userId, shared));
    await Promise.all(
      customers.map(async (customer) => {
        while (Date.now() < end) await customer.do(randomStep()).catch((error: unknown) => errors.push(String(error)));
      }),
    );
    const statuses: Record<number, number> = {};
    for (const customer of customers) {
      for (const [status, count] of Object.entries(customer.statuses)) statuses[Number(status)] = (statuses[Number(status)] ?? 0) + count;
    }
    return {
      discrepancies: await findAccountingDiscrepancies(till.mandate.db),
      deadlocks: await countDeadlocks(till.mandate),
      errors,
      statuses,
    };
  } finally {
    await till.mandate.close();
  }
}

/** Half of all steps place an order, because concurrent orders compete for locks. */
const randomStep = () => ({
  action: randomInt(2) === 0 ? ('place' as const) : (actions[randomInt(actions.length)] ?? 'place'),
  a: randomInt(1000),
  b: randomInt(1000),
});

async function plantFault({ db }: MandateServer, fault: Fault): Promise<void> {
  const em = db.em.fork();
  await em.execute(fault(await readDatabaseFunction(em, 'mandate_place_order')));
}

async function countDeadlocks(mandate: MandateServer): Promise<number> {
  await mandate.db.em.fork().execute('select pg_stat_force_next_flush()');
  return queryNumber(mandate, 'select deadlocks::int as number from pg_stat_database where datname = current_database()');
}

async function queryNumber({ db }: MandateServer, query: string): Promise<number> {
  const [row] = await db.em.fork().execute<{ number: number }[]>(query);
  return row?.number ?? -1;
}
