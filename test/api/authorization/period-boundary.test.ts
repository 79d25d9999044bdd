import { afterEach, expect, test } from 'vitest';
import { changeDatabaseFunction } from '../../support/services/change-database-function.ts';
import { connectLimitedApplication } from '../../support/shop/limited-application.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';

const till = withPaymentTestShop();

let restoreClock: () => Promise<void> = async () => undefined;
/**
 * Changes the database function that places orders, so that the function checks the limits at the given time instead of the current time.
 */
async function setTimeOfOrders(epochMs: number): Promise<void> {
  await restoreClock();
  const time = `decided_at := timestamptz '${new Date(epochMs).toISOString()}'`;
  const em = till.mandate.db.em.fork();
  restoreClock = await changeDatabaseFunction(em, 'mandate_place_order', { 'decided_at := clock_timestamp()': time });
}
afterEach(async () => {
  await restoreClock();
  restoreClock = async () => undefined;
});

test.each(['day', 'week', 'month'])(
  'orders placed just before and after local midnight count in different periods: a %s',
  async (period) => {
    const details = { limits: { currency: 'EUR', per_period: 100, period } };
    const app = await connectLimitedApplication(till, details, [], { time_zone: 'Pacific/Auckland' });
    const startsAt = Date.parse((await app.budget()).starts_at);
    const localTime = new Intl.DateTimeFormat('en-GB', { timeZone: 'Pacific/Auckland', timeStyle: 'medium' });
    expect([localTime.format(startsAt - 1), localTime.format(startsAt)]).toEqual(['23:59:59', '00:00:00']);

    await setTimeOfOrders(startsAt - 1);
    expect((await app.order(10)).status).toBe(201);
    const exceeded = await app.order(1);
    expect([exceeded.body.code, exceeded.body.detail]).toEqual([
      'limit_exceeded',
      expect.stringContaining(`wait until ${new Date(startsAt).toISOString()}`),
    ]);
    expect(await app.budget(), 'the order counts in the previous period').toMatchObject({ spent: 0, remaining: 100 });

    await setTimeOfOrders(startsAt);
    expect((await app.order(10)).status).toBe(201);
    expect((await app.order(1)).body.code).toBe('limit_exceeded');
    expect(await app.budget()).toMatchObject({ spent: 100, remaining: 0 });
  },
);
