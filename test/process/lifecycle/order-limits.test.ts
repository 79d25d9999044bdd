import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { cliClient, sendRefreshRequest } from '../../support/oauth/oauth-flow.ts';
import { databaseKind } from '../../support/services/database.ts';
import {
  countEffectsAfter,
  detectsFault,
  readId,
  repeat,
  useOrderLimitServers,
  type ConnectedApplication,
  type ParsedResponse,
} from './order-limit-servers.ts';

const unlimitedBudget = 1_000_000;

describe.skipIf(databaseKind === 'pglite')('limits on two processes', { timeout: 120_000 }, () => {
  const shop = useOrderLimitServers();
  const { call, monthly, connect, delayOrders, removeRowLock, removeAdvisoryLocks } = shop;

  /** Sends 64 concurrent orders, alternating between the two processes. Returns the IDs of the placed orders. */
  async function placeOrdersAtOnce({ placeOrder }: ConnectedApplication): Promise<number[]> {
    const responses = await repeat(64, placeOrder);
    expect(responses.filter(({ status }) => status !== 201 && status !== 403)).toEqual([]);
    return responses.filter(({ status }) => status === 201).map(readId);
  }

  test('of 64 parallel orders of 10 against a budget of 100, exactly ten succeed, and three more after three cancellations', async () => {
    const app = await connect(monthly(100));
    const placed = await placeOrdersAtOnce(app);
    expect([placed.length, await app.spent()]).toEqual([10, 100]);
    for (const id of placed.slice(0, 3)) expect((await call(app.token, 'POST', `/orders/${id}/cancellation`, {})).status).toBe(201);
    expect(await app.spent()).toBe(70);
    expect([(await placeOrdersAtOnce(app)).length, await app.spent()]).toEqual([3, 100]);
  });

  test('this test detects a missing lock', async () => {
    await delayOrders();
    await removeRowLock();
    expect((await placeOrdersAtOnce(await connect(monthly(100)))).length).toBeGreaterThan(10);
  });

  type LimitChange = (app: ConnectedApplication) => Promise<ParsedResponse>;
  const lowerLimits: LimitChange = ({ id, manager }) => call(manager, 'PUT', `/connected-apps/${id}/limits`, monthly(1));
  const removeApp: LimitChange = ({ id, manager }) => call(manager, 'DELETE', `/connected-apps/${id}`);
  const narrowByRefresh: LimitChange = async ({ refreshToken }) => {
    const form = { authorization_details: orderDetailsParameter(monthly(1)) };
    const { status } = await sendRefreshRequest(shop.servers.origin, refreshToken, form);
    return { status, body: undefined };
  };
  const setShopMaximum = (maximum: object | null): Promise<ParsedResponse> =>
    call(shop.administrator, 'PATCH', '/order-limit-settings', { maximum_limits: maximum });
  const setCeiling = async (ceiling: object | null): Promise<ParsedResponse> => {
    const { body } = await call(shop.administrator, 'GET', '/applications?limit=100');
    const applications = z.object({ data: z.array(z.object({ id: z.number(), client_id: z.string() })) }).parse(body).data;
    const id = applications.find(({ client_id: clientId }) => clientId === cliClient.clientId)?.id;
    return call(shop.administrator, 'PATCH', `/applications/${id}`, { order_limits_ceiling: ceiling });
  };

  describe.each<[name: string, limits: () => RequestedLimits | undefined, changeLimits: LimitChange]>([
    ['a lowered limit', () => monthly(unlimitedBudget), lowerLimits],
    ['a limit narrowed by a refresh', () => monthly(unlimitedBudget), narrowByRefresh],
    ['the first limits', () => undefined, lowerLimits],
    ['a ceiling', () => undefined, () => setCeiling(monthly(1).limits)],
    ['the first maximum of the shop', () => undefined, () => setShopMaximum(monthly(1).limits)],
    ['a lowered maximum of the shop', () => monthly(unlimitedBudget), () => setShopMaximum(monthly(1).limits)],
    ['a revocation', () => monthly(unlimitedBudget), removeApp],
  ])('%s that races with orders', (name, limits, changeLimits) => {
    afterEach(async () => {
      await setCeiling(null);
      await setShopMaximum(null);
    });

    async function countOrdersAfterChange(): Promise<number> {
      await setCeiling(null);
      await setShopMaximum(name === 'a lowered maximum of the shop' ? monthly(unlimitedBudget).limits : null);
      const app = await connect(limits(), { isThirdParty: name.endsWith('of the shop') });
      return countEffectsAfter(app.placeOrder, app.countOrders, () => changeLimits(app));
    }

    test('no order is placed after the change has been acknowledged', async () => {
      await delayOrders();
      expect(await countOrdersAfterChange()).toBe(0);
    });

    test('this test detects missing locks', async () => {
      await delayOrders();
      if (name !== 'a revocation') await removeAdvisoryLocks();
      if (['a lowered limit', 'a limit narrowed by a refresh', 'a revocation'].includes(name)) await removeRowLock();
      expect(await detectsFault(async () => (await countOrdersAfterChange()) > 0)).toBe(true);
    });
  });
});
