import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { obtainLimitedTokens } from '../../support/oauth/limited-tokens.ts';
import { databaseKind } from '../../support/services/database.ts';
import { startServerPair, type ServerPair } from '../../support/server/server-pair.ts';
import { createDataDirectory, killServerProcesses } from '../../support/server/server-process.ts';
import { createSignedInUser } from '../../support/oauth/signed-in-user.ts';

const productId = 1;
const price = 10;

describe.skipIf(databaseKind === 'pglite')('a budget on two processes', { timeout: 120_000 }, () => {
  let servers: ServerPair;
  let directory: Awaited<ReturnType<typeof createDataDirectory>>;
  let delivery: { method: string; recipient_name: string };
  let currency: string;
  beforeAll(async () => {
    directory = await createDataDirectory();
    servers = await startServerPair(directory.path);
    const em = servers.db.em.fork();
    await em.execute('update products set price = ?, tax_rate_bps = 0 where id = ?', [price, productId]);
    await em.execute('update product_stock set available = 100000 where product_id = ?', [productId]);
    await em.execute(`insert into delivery_methods (code, name, price, currency, requires_address, active)
                      select 'free', 'Free', 0, currency, false, true from products where id = ${productId}`);
    const [product] = await em.execute<{ currency: string }[]>('select currency from products where id = ?', [productId]);
    currency = product?.currency ?? '';
    delivery = { method: 'free', recipient_name: 'Anna Test' };
  }, 120_000);
  afterAll(async () => {
    await servers.close();
    killServerProcesses();
    await directory[Symbol.asyncDispose]();
  });

  async function connect(budget: number) {
    const limits = { currency, per_period: budget, period: 'month' };
    const { access_token: token } = await obtainLimitedTokens(servers.origin, await createSignedInUser(servers), ['orders.write'], {
      limits,
    });
    const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${servers.origin}/api/v1${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    };
    const order = { items: [{ product_id: productId, quantity: 1 }], delivery };
    return {
      /** Sends 64 orders at once, to both processes alternately. Returns the IDs of the placed orders. */
      async placeOrdersAtOnce(): Promise<number[]> {
        const responses = await Promise.all(Array.from({ length: 64 }, () => call('POST', '/orders', order)));
        expect(responses.filter(({ status }) => status !== 201 && status !== 403)).toEqual([]);
        return responses.filter(({ status }) => status === 201).map(({ body }) => z.object({ id: z.number() }).parse(body).id);
      },
      cancel: (id: number) => call('POST', `/orders/${id}/cancellation`, {}),
      spent: async (): Promise<number> =>
        z.object({ budget: z.object({ spent: z.number() }) }).parse((await call('GET', '/authorization')).body).budget.spent,
    };
  }

  test('64 parallel orders of 10 against a budget of 100: exactly ten succeed, and three more after three cancellations', async () => {
    const app = await connect(100);
    const placed = await app.placeOrdersAtOnce();
    expect([placed.length, await app.spent()]).toEqual([10, 100]);
    for (const id of placed.slice(0, 3)) expect((await app.cancel(id)).status).toBe(201);
    expect(await app.spent()).toBe(70);
    expect([(await app.placeOrdersAtOnce()).length, await app.spent()]).toEqual([3, 100]);
  });

  test('this test detects a missing lock', async () => {
    const path = new URL('../../../server/database/migrations/20261124100100_place_order_v6.sql', import.meta.url);
    const withLock = readFileSync(path, 'utf8').replace('create function', 'create or replace function');
    const withoutLock = withLock
      .replace('where grant_id = p_grant_id for no key update', 'where grant_id = p_grant_id')
      .replace('insert into orders', 'perform pg_sleep(0.05); insert into orders')
      .replace('for no key update of s', '');
    expect(withoutLock).not.toContain('grant_id = p_grant_id for no key update');
    await servers.db.em.fork().execute(withoutLock);
    try {
      expect((await (await connect(100)).placeOrdersAtOnce()).length).toBeGreaterThan(10);
    } finally {
      await servers.db.em.fork().execute(withLock);
    }
  });
});
