import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { obtainLimitedTokens, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { cliClient, createConfidentialClient, obtainClientToken, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { createSignedInUser } from '../../support/oauth/signed-in-user.ts';
import { changeDatabaseFunction } from '../../support/services/change-database-function.ts';
import { databaseKind } from '../../support/services/database.ts';
import { startServerPair, type ServerPair } from '../../support/server/server-pair.ts';
import { createDataDirectory, killServerProcesses } from '../../support/server/server-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

const productId = 1;
const price = 10;

const unlimitedBudget = 1_000_000;
const responseSchema = z.object({ status: z.number(), body: z.unknown() });
type Response = z.output<typeof responseSchema>;

describe.skipIf(databaseKind === 'pglite')('limits on two processes', { timeout: 120_000 }, () => {
  let servers: ServerPair;
  let directory: Awaited<ReturnType<typeof createDataDirectory>>;
  let delivery: { method: string; recipient_name: string };
  let currency: string;
  let administrator: string;
  const restoreFunctions: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    directory = await createDataDirectory();
    servers = await startServerPair(directory.path);
    const em = servers.db.em.fork();
    await em.execute('update products set price = ?, tax_rate_bps = 0 where id = ?', [price, productId]);
    await em.execute('delete from product_stock where product_id = ?', [productId]); // so that orders do not wait for each other
    await em.execute(`insert into delivery_methods (code, name, price, currency, requires_address, active)
                      select 'free', 'Free', 0, currency, false, true from products where id = ${productId}`);
    const [product] = await em.execute<{ currency: string }[]>('select currency from products where id = ?', [productId]);
    currency = product?.currency ?? '';
    delivery = { method: 'free', recipient_name: 'Anna Test' };
    const client = await createConfidentialClient(servers.db, ['applications.manage']);
    administrator = await obtainClientToken(servers.origin, client, ['applications.manage']);
  }, 120_000);
  afterEach(async () => {
    for (const restore of restoreFunctions.splice(0).toReversed()) await restore();
  });
  afterAll(async () => {
    await servers.close();
    killServerProcesses();
    await directory[Symbol.asyncDispose]();
  });

  async function call(token: string, method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(`${servers.origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  const monthly = (budget: number) => ({ limits: { currency, per_period: budget, period: 'month' } });

  /** Changes database functions until the end of the test. */
  async function change(name: string, replacements: Readonly<Record<string, string>>): Promise<void> {
    restoreFunctions.push(await changeDatabaseFunction(servers.db.em.fork(), name, replacements));
  }

  /** Delays each order between the check of the limits and the commit, so that concurrent requests overlap. */
  const delayOrders = (): Promise<void> =>
    change('mandate_place_order', { 'insert into orders': 'perform pg_sleep(0.1); insert into orders' });
  const removeRowLock = (): Promise<void> => change('mandate_lock_order_limits', { ' for no key update': '' });
  const removeAdvisoryLocks = (): Promise<void> => change('mandate_lock_order_limits', { 'perform pg_advisory_': '-- ' });

  async function connect(limits: RequestedLimits | undefined) {
    const user = await createSignedInUser(servers);
    const { access_token: token } = await obtainLimitedTokens(servers.origin, user, ['orders.write', 'connected_apps.read'], limits);
    const { body } = await call(token, 'GET', '/connected-apps');
    const [app] = z.object({ data: z.array(z.object({ id: z.number() })) }).parse(body).data;
    const { access_token: manager } = await obtainTokens(servers.origin, user, ['connected_apps.write']);
    const order = { items: [{ product_id: productId, quantity: 1 }], delivery };
    const countOrders = async (): Promise<number> => {
      const [row] = await servers.db.em
        .fork()
        .execute<{ n: number }[]>('select count(*)::int as n from orders where user_id = ?', [user.id]);
      return row?.n ?? -1;
    };
    const placeOrder = (): Promise<Response> => call(token, 'POST', '/orders', order);
    return {
      /** Sends 64 orders at once, to both processes alternately. Returns the IDs of the placed orders. */
      async placeOrdersAtOnce(): Promise<number[]> {
        const responses = await Promise.all(Array.from({ length: 64 }, placeOrder));
        expect(responses.filter(({ status }) => status !== 201 && status !== 403)).toEqual([]);
        return responses.filter(({ status }) => status === 201).map(({ body: placed }) => z.object({ id: z.number() }).parse(placed).id);
      },
      cancel: (id: number) => call(token, 'POST', `/orders/${id}/cancellation`, {}),
      spent: async (): Promise<number> =>
        z.object({ budget: z.object({ spent: z.number() }) }).parse((await call(token, 'GET', '/authorization')).body).budget.spent,
      /**
       * Changes the limits while eight clients place one order after another. Returns the number of orders that were placed after the change
       * had been acknowledged.
       */
      async countOrdersAfter(changeLimits: (id: number, managerToken: string) => Promise<Response>): Promise<number> {
        const acknowledged = new AbortController();
        const clients = Array.from({ length: 8 }, async () => {
          while (!acknowledged.signal.aborted) await placeOrder();
        });
        await waitUntil(async () => (await countOrders()) > 0);
        const { status } = await changeLimits(app?.id ?? 0, manager);
        const countAtAcknowledgment = await countOrders();
        acknowledged.abort();
        expect([200, 204]).toContain(status);
        await Promise.all(clients);
        return (await countOrders()) - countAtAcknowledgment;
      },
    };
  }

  test('64 parallel orders of 10 against a budget of 100: exactly ten succeed, and three more after three cancellations', async () => {
    const app = await connect(monthly(100));
    const placed = await app.placeOrdersAtOnce();
    expect([placed.length, await app.spent()]).toEqual([10, 100]);
    for (const id of placed.slice(0, 3)) expect((await app.cancel(id)).status).toBe(201);
    expect(await app.spent()).toBe(70);
    expect([(await app.placeOrdersAtOnce()).length, await app.spent()]).toEqual([3, 100]);
  });

  test('this test detects a missing lock', async () => {
    await delayOrders();
    await removeRowLock();
    expect((await (await connect(monthly(100))).placeOrdersAtOnce()).length).toBeGreaterThan(10);
  });

  const lowerLimits = (id: number, manager: string): Promise<Response> => call(manager, 'PUT', `/connected-apps/${id}/limits`, monthly(1));
  const removeApp = (id: number, manager: string): Promise<Response> => call(manager, 'DELETE', `/connected-apps/${id}`);
  const setShopMaximum = (maximum: object | null): Promise<Response> =>
    call(administrator, 'PATCH', '/order-limit-settings', { maximum_limits: maximum });
  const setCeiling =
    (ceiling: object | null): (() => Promise<Response>) =>
    async () => {
      const { body } = await call(administrator, 'GET', '/applications?limit=100');
      const applications = z.object({ data: z.array(z.object({ id: z.number(), client_id: z.string() })) }).parse(body).data;
      const id = applications.find(({ client_id: clientId }) => clientId === cliClient.clientId)?.id;
      return call(administrator, 'PATCH', `/applications/${id}`, { order_limits_ceiling: ceiling });
    };

  describe.each([
    ['a lowered limit', () => monthly(unlimitedBudget), () => lowerLimits],
    ['the first limits', () => undefined, () => lowerLimits],
    ['a ceiling', () => undefined, () => setCeiling(monthly(1).limits)],
    ['a revocation', () => monthly(unlimitedBudget), () => removeApp],
  ])('%s that races with orders', (name, limits, changeLimits) => {
    afterEach(async () => {
      await setCeiling(null)();
      await setShopMaximum(null);
    });

    test('no order is placed after the change has been acknowledged', async () => {
      await delayOrders();
      expect(await (await connect(limits())).countOrdersAfter(changeLimits())).toBe(0);
    });

    test('this test detects missing locks', async () => {
      await delayOrders();
      await (name === 'a revocation' ? removeRowLock() : removeAdvisoryLocks());
      if (name === 'a lowered limit') await removeRowLock();
      const countOrdersAfterChange = async (): Promise<number> => (await connect(limits())).countOrdersAfter(changeLimits());
      // On a busy machine, no order may overlap the change in one attempt.
      let attempts = 1;
      while (attempts < 10 && (await countOrdersAfterChange()) === 0) {
        attempts += 1;
        await setCeiling(null)();
      }
      expect(attempts).toBeLessThan(10);
    });
  });
});
