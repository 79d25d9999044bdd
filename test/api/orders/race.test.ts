import { describe, expect, test } from 'vitest';
import { changeDatabaseFunction } from '../../support/services/change-database-function.ts';
import { databaseKind } from '../../support/services/database.ts';
import { startMandateServer, type ApiResponse, type MandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop, pickupDelivery, type TestShop } from '../../support/shop/test-shop.ts';

// PGlite runs one transaction at a time.
describe.skipIf(databaseKind === 'pglite')('concurrent buyers', () => {
  test('with 64 buyers for 10 units, exactly 10 units are sold, without server errors', async () => {
    const { statuses, soldUnits, remainingStock } = await sellTenUnits();
    expect(statuses).toEqual({ 201: 10, 409: 54 });
    expect([soldUnits, remainingStock]).toEqual([10, 0]);
  });

  test('this test detects a missing stock lock', async () => {
    const { soldUnits } = await sellTenUnits(sellWithoutLocking);
    expect(soldUnits).toBeGreaterThan(10);
  });

  test('64 buyers of the same two products in either order: no deadlock, and correct stock', async () => {
    await runWithNewShop(async (mandate, shop) => {
      const [one, two, ben] = [await shop.createProduct({ stock: 64 }), await shop.createProduct({ stock: 40 }), await shop.createUser()];
      const ids = [one.id, two.id];
      const responses = await Promise.all(
        Array.from({ length: 64 }, (_, buyer) =>
          placeOrder(
            mandate,
            shop,
            ben.id,
            (buyer % 2 === 0 ? ids : ids.toReversed()).map((id) => ({ product_id: id, quantity: 1 })),
          ),
        ),
      );
      expect(countByStatus(responses)).toEqual({ 201: 40, 409: 24 });
      expect(await getStock(mandate, ids)).toEqual([24, 0]);
    });
  });

  test('20 requests with one key: one order and one response', async () => {
    const { orders, bodies, statuses } = await sendSameKeyTwentyTimes();
    expect(orders).toBe(1);
    expect(statuses).toEqual({ 201: 20 });
    expect(bodies.size).toBe(1);
  });

  test('160 keys with 16 requests each: one order and one response per key', { timeout: 120_000 }, async () => {
    await runWithNewShop(async (mandate, shop) => {
      const [product, ben] = [await shop.createProduct({ stock: 1000 }), await shop.createUser()];
      const items = [{ product_id: product.id, quantity: 1 }];
      const keys = Array.from({ length: 160 * 16 }, (_, sent) => `key-${sent % 160}`);
      const responses: [string, string][] = [];
      const send = async (): Promise<void> => {
        for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
          const response = await placeOrder(mandate, shop, ben.id, items, { 'idempotency-key': key });
          expect(response.status).toBe(201);
          responses.push([key, response.text]);
        }
      };
      // Groups equal keys, so that the 16 requests with the same key are sent concurrently.
      keys.sort();
      await Promise.all(Array.from({ length: 64 }, send));
      expect(new Set(responses.map(([key, text]) => `${key} ${text}`)).size).toBe(160);
      expect(await queryNumber(mandate, 'select count(*)::int as number from orders', [])).toBe(160);
      expect(await getStock(mandate, [product.id])).toEqual([840]);
    });
  });

  test('this test detects missing idempotency keys', async () => {
    const { orders } = await sendSameKeyTwentyTimes(ignoreIdempotencyKeys);
    expect(orders).toBe(20);
  });
});

type Fault = (mandate: MandateServer) => Promise<unknown>;
const noFault: Fault = () => Promise.resolve();

async function sellTenUnits(fault = noFault) {
  return runWithNewShop(async (mandate, shop) => {
    await fault(mandate);
    const [product, ben] = [await shop.createProduct({ stock: 10 }), await shop.createUser()];
    const items = [{ product_id: product.id, quantity: 1 }];
    const responses = await Promise.all(Array.from({ length: 64 }, () => placeOrder(mandate, shop, ben.id, items)));
    const soldUnits = await queryNumber(mandate, 'select coalesce(sum(quantity), 0)::int as number from order_items where product_id = ?', [
      product.id,
    ]);
    const [remainingStock] = await getStock(mandate, [product.id]);
    return { statuses: countByStatus(responses), soldUnits, remainingStock };
  });
}

async function sendSameKeyTwentyTimes(fault = noFault) {
  return runWithNewShop(async (mandate, shop) => {
    await fault(mandate);
    const [product, ben] = [await shop.createProduct({ stock: 100 }), await shop.createUser()];
    const items = [{ product_id: product.id, quantity: 1 }];
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => placeOrder(mandate, shop, ben.id, items, { 'idempotency-key': 'the-one' })),
    );
    const orders = await queryNumber(mandate, 'select count(*)::int as number from orders', []);
    return { orders, bodies: new Set(responses.map(({ text }) => text)), statuses: countByStatus(responses) };
  });
}

/**
 * Removes the lock from the database function that places orders, drops the stock constraint, and adds a delay. The delay makes
 * transactions overlap.
 */
async function sellWithoutLocking({ db }: MandateServer): Promise<void> {
  const em = db.em.fork();
  await changeDatabaseFunction(em, 'mandate_place_order', {
    'for no key update of s': '',
    'insert into orders': 'perform pg_sleep(0.02); insert into orders',
  });
  await em.execute('alter table product_stock drop constraint product_stock_available_check');
}

async function ignoreIdempotencyKeys({ db }: MandateServer): Promise<void> {
  const em = db.em.fork();
  await em.execute(`create function forget() returns trigger language plpgsql as 'begin new.key := new.key || random(); return new; end'`);
  await em.execute('create trigger forget before insert on idempotency_keys for each row execute function forget()');
}

async function runWithNewShop<Result>(run: (mandate: MandateServer, shop: TestShop) => Promise<Result>): Promise<Result> {
  const mandate = await startMandateServer();
  try {
    return await run(mandate, await createTestShop(mandate));
  } finally {
    await mandate.close();
  }
}

const placeOrder = (
  mandate: MandateServer,
  shop: TestShop,
  userId: number,
  items: object[],
  headers: Record<string, string> = {},
): Promise<ApiResponse> =>
  mandate.callApi('POST', '/api/v1/orders', { token: shop.token, body: { user_id: userId, items, delivery: pickupDelivery }, headers });

const countByStatus = (responses: ApiResponse[]): Record<number, number> =>
  Object.fromEntries([...Map.groupBy(responses, ({ status }) => status)].map(([status, group]) => [status, group.length]));

const getStock = (mandate: MandateServer, productIds: number[]): Promise<number[]> =>
  Promise.all(productIds.map((id) => queryNumber(mandate, 'select available as number from product_stock where product_id = ?', [id])));

async function queryNumber({ db }: MandateServer, query: string, parameters: unknown[]): Promise<number> {
  const [row] = await db.em.fork().execute<{ number: number }[]>(query, parameters);
  return row?.number ?? -1;
}
