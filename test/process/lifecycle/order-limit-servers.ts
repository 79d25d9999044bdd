import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import type { Scope } from '@mandate/contract';
import { obtainLimitedTokens, obtainLimitedTokensOfApplication, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { createConfidentialClient, createWebApplication, obtainClientToken, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { createSignedInUser } from '../../support/oauth/signed-in-user.ts';
import { changeDatabaseFunction } from '../../support/services/change-database-function.ts';
import { startServerPair, type ServerPair } from '../../support/server/server-pair.ts';
import { createDataDirectory, killServerProcesses } from '../../support/server/server-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

export type ParsedResponse = { readonly status: number; readonly body: unknown };

const productId = 1;
const scopes: readonly Scope[] = ['orders.read', 'orders.write', 'payments.write'];
const idSchema = z.object({ id: z.number() });

export const readId = ({ body }: ParsedResponse): number => idSchema.parse(body).id;
export const repeat = <Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
export const countStatus = (responses: readonly ParsedResponse[], expected: number): number =>
  responses.filter(({ status }) => status === expected).length;

/**
 * Performs a change while eight clients repeat an action. Returns the number of actions that took effect after the change had been
 * acknowledged.
 * @param act performs the action; its argument is the number of the repetition
 */
export async function countEffectsAfter(
  act: (index: number) => Promise<unknown>,
  countEffects: () => Promise<number>,
  change: () => Promise<ParsedResponse>,
): Promise<number> {
  const acknowledged = new AbortController();
  let index = 0;
  const clients = repeat(8, async () => {
    while (!acknowledged.signal.aborted) await act((index += 1));
  });
  await waitUntil(async () => (await countEffects()) > 0);
  const { status } = await change();
  const countAtAcknowledgment = await countEffects();
  acknowledged.abort();
  expect([200, 201, 204]).toContain(status);
  await clients;
  return (await countEffects()) - countAtAcknowledgment;
}

/**
 * Returns whether a race produces a forbidden outcome in at least one of ten attempts, to show that a test can detect a fault. One attempt
 * is not sufficient, because the requests of one attempt might not overlap on a busy machine.
 */
export async function detectsFault(race: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 0; attempt < 10; attempt += 1) if (await race()) return true;
  return false;
}

/**
 * Before the tests of a `describe` block, starts two server processes and creates a product that costs 10. Stops the processes after the
 * tests.
 */
export function useOrderLimitServers() {
  let servers: ServerPair;
  let directory: Awaited<ReturnType<typeof createDataDirectory>>;
  let currency = '';
  let administrator = '';
  const restoreFunctions: (() => Promise<void>)[] = [];
  const execute = <Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> =>
    servers.db.em.fork().execute<Row[]>(sql, [...parameters]);

  beforeAll(async () => {
    directory = await createDataDirectory();
    servers = await startServerPair(directory.path);
    await execute('update products set price = 10, tax_rate_bps = 0 where id = ?', [productId]);
    await execute('delete from product_stock where product_id = ?', [productId]); // prevents orders from waiting for each other's locks
    await execute(`insert into delivery_methods (code, name, price, currency, requires_address, active)
                   select 'free', 'Free', 0, currency, false, true from products where id = ${productId}`);
    const [product] = await execute<{ currency: string }>('select currency from products where id = ?', [productId]);
    currency = product?.currency ?? '';
    const client = await createConfidentialClient(servers.db, ['applications.manage']);
    administrator = await obtainClientToken(servers.origin, client, ['applications.manage']);
  }, 120_000);
  afterEach(async () => {
    for (const restore of restoreFunctions.splice(0).toReversed()) await restore();
  });
  afterAll(async () => {
    await servers.close();
    await killServerProcesses();
    await directory[Symbol.asyncDispose]();
  });

  async function call(token: string, method: string, path: string, body?: unknown): Promise<ParsedResponse> {
    const response = await fetch(`${servers.origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Changes a database function, and restores it at the end of the test. */
  async function change(name: string, replacements: Readonly<Record<string, string>>): Promise<void> {
    restoreFunctions.push(await changeDatabaseFunction(servers.db.em.fork(), name, replacements));
  }

  const buildOrder = (quantity = 1) => ({
    items: [{ product_id: productId, quantity }],
    delivery: { method: 'free', recipient_name: 'Anna Test' },
  });
  const countRows = async (from: string, parameters: readonly unknown[]): Promise<number> => {
    const [row] = await execute<{ n: number }>(`select count(*)::int as n from ${from}`, parameters);
    return row?.n ?? -1;
  };

  /** Until the end of the test, delays each payment between the limit check and the commit. */
  async function delayPayments(): Promise<void> {
    await execute(`create function delay_for_test() returns trigger language plpgsql as 'begin perform pg_sleep(0.1); return new; end'`);
    restoreFunctions.push(async () => void (await execute('drop function delay_for_test cascade')));
    await execute('create trigger delay_for_test before insert on payments for each row execute function delay_for_test()');
  }

  /**
   * Signs up a customer and connects an application with the given limits.
   * @param options.isThirdParty whether a third party operates the application (default: the shop operates it)
   */
  async function connect(limits: RequestedLimits | undefined, { isThirdParty = false } = {}) {
    const user = await createSignedInUser(servers);
    const tokens = isThirdParty
      ? await obtainLimitedTokensOfApplication(servers.origin, user, await createWebApplication(servers.db, scopes), scopes, limits)
      : await obtainLimitedTokens(servers.origin, user, scopes, limits);
    const [app] = await execute<{ id: number }>('select id from connections where user_id = ?', [user.id]);
    const { access_token: manager } = await obtainTokens(servers.origin, user, ['connected_apps.write', 'orders.write']);
    const { access_token: token } = tokens;
    const budgetSchema = z.object({ budget: z.object({ spent: z.number() }) });
    return {
      user,
      id: Number(app?.id),
      token,
      refreshToken: tokens.refresh_token ?? '',
      /** Token of one of the shop's own applications, without limits. */
      manager,
      placeOrder: (): Promise<ParsedResponse> => call(token, 'POST', '/orders', buildOrder()),
      spent: async (): Promise<number> => budgetSchema.parse((await call(token, 'GET', '/authorization')).body).budget.spent,
      countOrders: (): Promise<number> => countRows('orders where user_id = ?', [user.id]),
      countPayments: (): Promise<number> => countRows('payments p join orders o on o.id = p.order_id where o.user_id = ?', [user.id]),
    };
  }

  return {
    get servers() {
      return servers;
    },
    get administrator() {
      return administrator;
    },
    execute,
    call,
    change,
    buildOrder,
    connect,
    delayPayments,
    monthly: (budget: number) => ({ limits: { currency, per_period: budget, period: 'month' } }),
    perOrder: (amount: number) => ({ limits: { currency, per_order: amount } }),

    /** Delays each order between the limit check and the commit, so that concurrent requests overlap. */
    delayOrders: (): Promise<void> => change('mandate_place_order', { 'insert into orders': 'perform pg_sleep(0.1); insert into orders' }),
    removeRowLock: (): Promise<void> => change('mandate_lock_order_limits', { ' for no key update': '' }),
    removeAdvisoryLocks: (): Promise<void> => change('mandate_lock_order_limits', { 'perform pg_advisory_': '-- ' }),
  };
}

export type OrderLimitServers = ReturnType<typeof useOrderLimitServers>;
export type ConnectedApplication = Awaited<ReturnType<OrderLimitServers['connect']>>;
