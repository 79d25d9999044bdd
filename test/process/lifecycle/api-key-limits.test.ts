import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { databaseKind } from '../../support/services/database.ts';
import { countEffectsAfter, countStatus, detectsFault, repeat, useOrderLimitServers } from './order-limit-servers.ts';

describe.skipIf(databaseKind === 'pglite')('API keys with limits on two processes', { timeout: 120_000 }, () => {
  const shop = useOrderLimitServers();
  const { call, monthly, connect, buildOrder, change, delayOrders, removeRowLock } = shop;

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
