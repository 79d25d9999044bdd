import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTill, type Till } from '../support/order-arithmetic.ts';
import { discrepancies } from './accounting-invariants.ts';
import { acts, RandomCustomer } from './random-customer.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till.mandate.close());

const step = fc.record({ act: fc.constantFrom(...acts), a: fc.nat(999), b: fc.nat(999) });

test('whatever people do in a shop, and in whatever order, its books add up', { timeout: 300_000 }, async () => {
  const seen: Record<number, number> = {};
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
      const products = await Promise.all([0, 1, 2].map(async () => (await till.shop.product({ stock: 12, price: 250 })).id));
      const customer = new RandomCustomer(till, products, (await till.shop.user()).id);
      for (const each of steps) await customer.do(each);
      expect(await discrepancies(till.mandate.db)).toEqual([]);
      for (const [status, count] of Object.entries(customer.statuses)) seen[Number(status)] = (seen[Number(status)] ?? 0) + count;
    }),
    { numRuns: 25, endOnFailure: true },
  );
  // The game is worth something only when a good part of it is let through, and a good part refused.
  expect(seen[201]).toBeGreaterThan(200);
  expect(seen[409]).toBeGreaterThan(50);
});

test('books that do not add up are noticed', async () => {
  const order = await till.paidOrder();
  const em = till.mandate.db.em.fork();
  await em.execute('update product_stock set available = available + 1 where product_id = ?', [order.items[0].product_id]);
  await em.execute(`update orders set status = 'shipped', fulfillment_status = 'unfulfilled' where id = ?`, [order.id]);
  const found = await discrepancies(till.mandate.db);
  expect(found.map((one) => one.split(':')[0])).toEqual([
    'received is not available and sold',
    'statuses contradict each other',
    'the events of an order do not end in its state',
  ]);
});
