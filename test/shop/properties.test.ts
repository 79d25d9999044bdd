import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { withPaymentTestShop } from '../support/shop/payment-test-shop.ts';
import { findAccountingDiscrepancies } from './accounting-invariants.ts';
import { actions, RandomCustomer } from './random-customer.ts';

const till = withPaymentTestShop();

const step = fc.record({ action: fc.constantFrom(...actions), a: fc.nat(999), b: fc.nat(999) });

test('random steps in random order never violate an accounting invariant', { timeout: 300_000 }, async () => {
  const statusCounts: Record<number, number> = {};
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
      const products = await Promise.all([0, 1, 2].map(async () => (await till.shop.createProduct({ stock: 12, price: 250 })).id));
      const customer = new RandomCustomer(till, products, (await till.shop.createUser()).id);
      for (const randomStep of steps) await customer.do(randomStep);
      expect(await findAccountingDiscrepancies(till.mandate.db)).toEqual([]);
      for (const [status, count] of Object.entries(customer.statuses))
        statusCounts[Number(status)] = (statusCounts[Number(status)] ?? 0) + count;
    }),
    { numRuns: 25, endOnFailure: true },
  );
  // Many steps must succeed and many must be rejected for the test to be meaningful.
  expect(statusCounts[201]).toBeGreaterThan(200);
  expect(statusCounts[409]).toBeGreaterThan(50);
});

test('violated accounting invariants are detected', async () => {
  const order = await till.placePaidOrder();
  const em = till.mandate.db.em.fork();
  await em.execute('update product_stock set available = available + 1 where product_id = ?', [order.items[0].product_id]);
  await em.execute(`update orders set status = 'shipped', fulfillment_status = 'unfulfilled' where id = ?`, [order.id]);
  const discrepancies = await findAccountingDiscrepancies(till.mandate.db);
  expect(discrepancies.map((one) => one.split(':')[0])).toEqual([
    'received stock differs from available plus sold plus reserved stock',
    'statuses contradict each other',
    'the last event of an order differs from its status',
  ]);
});
