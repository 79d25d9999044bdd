import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { cliClient, obtainTokens, sendRefreshRequest } from '../../support/oauth/oauth-flow.ts';
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

// All tests share the two processes, because starting them takes several seconds.
describe.skipIf(databaseKind === 'pglite')('limits on two processes', { timeout: 120_000 }, () => {
  const shop = useOrderLimitServers();
  const { call, monthly, connect, buildOrder, change, delayOrders, delayPayments, removeRowLock, removeAdvisoryLocks } = shop;

  describe('orders of applications', () => {
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

  describe('orders with API keys', () => {
    /** Creates an API key with a budget for a new customer. */
    async function createKey(budget: number) {
      const { user, countOrders } = await connect(undefined);
      const scopes = ['orders.read', 'orders.write'] as const;
      const { access_token: manager } = await obtainTokens(shop.servers.origin, user, ['api_keys.manage', ...scopes]);
      const input = { name: 'Coffee machine', scopes, order_limits: monthly(budget) };
      const { id, key } = z.object({ id: z.number(), key: z.string() }).parse((await call(manager, 'POST', '/api-keys', input)).body);
      return {
        countOrders,
        placeOrder: () => call(key, 'POST', '/orders', buildOrder()),
        revoke: () => call(manager, 'DELETE', `/api-keys/${id}`),
      };
    }

    /** Sends 64 concurrent orders worth 10 each, with a budget of 100. Returns the number of orders that were placed. */
    async function orderAtOnce(): Promise<number> {
      const key = await createKey(100);
      const responses = await repeat(64, key.placeOrder);
      expect(responses.filter(({ status }) => status !== 201 && status !== 403)).toEqual([]);
      expect(await key.countOrders()).toBe(countStatus(responses, 201));
      return countStatus(responses, 201);
    }

    test('of 64 parallel orders of 10 against a budget of 100, exactly ten succeed', async () => {
      expect(await orderAtOnce()).toBe(10);
    });

    test('this test detects a missing lock', async () => {
      await delayOrders();
      await removeRowLock();
      expect(await detectsFault(async () => (await orderAtOnce()) > 10)).toBe(true);
    });

    async function countOrdersAfterRevocation(): Promise<number> {
      const key = await createKey(1_000_000);
      return countEffectsAfter(key.placeOrder, key.countOrders, key.revoke);
    }

    test('no order is placed after the revocation of a key has been acknowledged', async () => {
      await delayOrders();
      expect(await countOrdersAfterRevocation()).toBe(0);
    });

    test.each([
      ['lock', removeRowLock],
      ['check of the revocation', () => change('mandate_lock_order_limits', { 'not mandate_is_grant_active_v1(p_grant_id)': 'false' })],
    ])('this test detects a missing %s', async (_name, plantFault) => {
      await delayOrders();
      await plantFault();
      expect(await detectsFault(async () => (await countOrdersAfterRevocation()) > 0)).toBe(true);
    });
  });

  describe('payments for orders of another application', () => {
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
});
