import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { startPaymentTestShop, type PaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { usesTwoProcesses } from '../../support/server/process-mode.ts';

// PGlite runs one transaction at a time.
describe.skipIf(databaseKind === 'pglite')('16 concurrent refunds of 1.00 for an order of 7.65', () => {
  test('refund 7.00, without server errors', async () => {
    const { statuses, refundCount, refunded } = await sendSixteenRefunds();
    expect(statuses).toEqual({ 201: 7, 409: 9 });
    expect([refundCount, refunded]).toEqual([7, 700]);
  });

  test('this test detects missing locks', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: removes the locks in the server process');
    const { refundCount } = await sendSixteenRefunds(removeLocks);
    expect(refundCount).toBeGreaterThan(7);
  });
});

async function sendSixteenRefunds(fault: (till: PaymentTestShop) => Promise<void> = () => Promise.resolve()) {
  const till = await startPaymentTestShop();
  try {
    const order = await till.placePaidOrder({ quantity: 3 });
    await fault(till);
    const responses = await Promise.all(Array.from({ length: 16 }, () => till.post(`/orders/${order.id}/refunds`, { amount: 100 })));
    const statuses = Object.fromEntries(
      [...Map.groupBy(responses, ({ status }) => status)].map(([status, group]) => [status, group.length]),
    );
    const page = await till.get(`/orders/${order.id}/refunds?limit=100`);
    const refundCount: number = page.data.length;
    return { statuses, refundCount, refunded: (await till.get(`/orders/${order.id}`)).refunded_total };
  } finally {
    await till.mandate.close();
  }
}

/** Removes the locks from all statements, and delays refund insertions. */
async function removeLocks({ mandate }: PaymentTestShop): Promise<void> {
  const em = mandate.db.em.fork();
  await em.execute(`create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.3); return new; end'`);
  await em.execute('create trigger dawdle before insert on refunds for each row execute function dawdle()');
  const connection = mandate.db.em.getConnection();
  const execute = connection.execute.bind(connection);
  connection.execute = (query, ...rest) =>
    execute(typeof query === 'string' ? query.replace(/ for (no key )?update\b.*$/, '') : query, ...rest);
}
