import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import {
  countEffectsAfter,
  countStatus,
  detectsFault,
  readId,
  repeat,
  useOrderLimitServers,
  type ConnectedApplication,
  type ParsedResponse,
} from './order-limit-servers.ts';

const unlimitedBudget = 1_000_000;

describe.skipIf(databaseKind === 'pglite')('payments for orders of another application, on two processes', { timeout: 120_000 }, () => {
  const { call, monthly, connect, buildOrder, delayPayments, removeRowLock, removeAdvisoryLocks } = useOrderLimitServers();

  const pay = ({ token }: ConnectedApplication, orderId: number | undefined): Promise<ParsedResponse> =>
    call(token, 'POST', `/orders/${orderId}/payments`, { provider: 'manual' });

  /**
   * Connects one application that has limits, and places orders worth 10 each for the same customer through a second application without
   * limits.
   */
  async function connectWithOrders(budget: number, count: number) {
    const app = await connect(monthly(budget));
    const orders = (await repeat(count, () => call(app.manager, 'POST', '/orders', buildOrder()))).map(readId);
    return { app, orders };
  }

  /**
   * Pays for 64 orders worth 10 each concurrently, with a budget of 100. Returns the number of payments, and the amount that counts as
   * spent.
   */
  async function payAtOnce(): Promise<readonly [payments: number, spent: number]> {
    const { app, orders } = await connectWithOrders(100, 64);
    const responses = await repeat(64, (index) => pay(app, orders[index]));
    expect(responses.filter(({ status }) => status !== 201 && status !== 403)).toEqual([]);
    expect(await app.countPayments()).toBe(countStatus(responses, 201));
    return [countStatus(responses, 201), await app.spent()];
  }

  test('of 64 payments of 10 against a budget of 100, exactly ten succeed', async () => {
    expect(await payAtOnce()).toEqual([10, 100]);
  });

  test('this test detects a missing lock', async () => {
    await delayPayments();
    await removeRowLock();
    expect(await detectsFault(async () => (await payAtOnce())[0] > 10)).toBe(true);
  });

  const lowerLimits = ({ id, manager }: ConnectedApplication) => call(manager, 'PUT', `/connected-apps/${id}/limits`, monthly(1));
  const removeApp = ({ id, manager }: ConnectedApplication) => call(manager, 'DELETE', `/connected-apps/${id}`);

  describe.each([
    ['a lowered limit', lowerLimits],
    ['a revocation', removeApp],
  ] as const)('%s that races with payments', (name, changeLimits) => {
    async function countPaymentsAfterChange(): Promise<number> {
      const { app, orders } = await connectWithOrders(unlimitedBudget, 160);
      return countEffectsAfter(
        (index) => pay(app, orders[index]),
        app.countPayments,
        () => changeLimits(app),
      );
    }

    test('nothing is paid after the change has been acknowledged', async () => {
      await delayPayments();
      expect(await countPaymentsAfterChange()).toBe(0);
    });

    test('this test detects missing locks', async () => {
      await delayPayments();
      await removeRowLock();
      if (name === 'a lowered limit') await removeAdvisoryLocks();
      expect(await detectsFault(async () => (await countPaymentsAfterChange()) > 0)).toBe(true);
    });
  });
});
