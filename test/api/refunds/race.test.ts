import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { openTill, type Till } from '../../support/order-arithmetic.ts';
import { inTwoProcesses } from '../../support/server/process-mode.ts';

// PGlite has one connection, so nothing can overtake anything there.
describe.skipIf(databaseKind === 'pglite')('16 refunds of 1.00 at once, of an order of 7.65', () => {
  test('pay back 7.00, and nobody sees a failure of ours', async () => {
    const { statuses, made, refunded } = await sixteenRefunds();
    expect(statuses).toEqual({ 201: 7, 409: 9 });
    expect([made, refunded]).toEqual([7, 700]);
  });

  test('without the locks they would be more, and this test would see it', async ({ skip }) => {
    skip(inTwoProcesses, 'needs one process: takes the locks away there');
    const { made } = await sixteenRefunds(forgetLocks);
    expect(made).toBeGreaterThan(7);
  });
});

async function sixteenRefunds(fault: (till: Till) => Promise<void> = () => Promise.resolve()) {
  const till = await openTill();
  try {
    const order = await till.paidOrder({ quantity: 3 });
    await fault(till);
    const answers = await Promise.all(Array.from({ length: 16 }, () => till.post(`/orders/${order.id}/refunds`, { amount: 100 })));
    const statuses = Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, group]) => [status, group.length]));
    const page = await till.get(`/orders/${order.id}/refunds?limit=100`);
    const made: number = page.data.length;
    return { statuses, made, refunded: (await till.get(`/orders/${order.id}`)).refunded_total };
  } finally {
    await till.mandate.close();
  }
}

/** Every row is read without holding it, and what is decided from it is written down a moment later. */
async function forgetLocks({ mandate }: Till): Promise<void> {
  const em = mandate.db.em.fork();
  await em.execute(`create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.3); return new; end'`);
  await em.execute('create trigger dawdle before insert on refunds for each row execute function dawdle()');
  const connection = mandate.db.em.getConnection();
  const execute = connection.execute.bind(connection);
  connection.execute = (query, ...rest) =>
    execute(typeof query === 'string' ? query.replace(/ for (no key )?update\b.*$/, '') : query, ...rest);
}
