import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { startMandate, type Answer, type Mandate } from '../../support/server/start-mandate.ts';
import { openShop, pickup, type Shop } from '../../support/server/shop.ts';

// PGlite has one connection, so nothing can overtake anything there.
describe.skipIf(databaseKind === 'pglite')('many buyers at once', () => {
  test('64 buyers of 10 units: exactly 10 are sold, and nobody sees a failure of ours', async () => {
    const { statuses, sold, left } = await buyersOfTenUnits();
    expect(statuses).toEqual({ 201: 10, 409: 54 });
    expect([sold, left]).toEqual([10, 0]);
  });

  test('a statement that does not lock sells more than there is, and this test would see it', async () => {
    const { sold } = await buyersOfTenUnits(sellWithoutLocking);
    expect(sold).toBeGreaterThan(10);
  });

  test('64 buyers of the same two products, named in either order: no deadlock, nothing lost', async () => {
    await inShop(async (mandate, shop) => {
      const [one, two, ben] = [await shop.product({ stock: 64 }), await shop.product({ stock: 40 }), await shop.user()];
      const ids = [one.id, two.id];
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, buyer) =>
          place(
            mandate,
            shop,
            ben.id,
            (buyer % 2 === 0 ? ids : ids.toReversed()).map((id) => ({ product_id: id, quantity: 1 })),
          ),
        ),
      );
      expect(count(answers)).toEqual({ 201: 40, 409: 24 });
      expect(await stockOf(mandate, ids)).toEqual([24, 0]);
    });
  });

  test('20 requests with one key at once: one order, one answer', async () => {
    const { orders, bodies, statuses } = await sameKeyTwentyTimes();
    expect(orders).toBe(1);
    expect(statuses).toEqual({ 201: 20 });
    expect(bodies.size).toBe(1);
  });

  test('160 keys, each sent by 16 at once: 160 orders, and never two answers for one key', { timeout: 120_000 }, async () => {
    await inShop(async (mandate, shop) => {
      const [product, ben] = [await shop.product({ stock: 1000 }), await shop.user()];
      const items = [{ product_id: product.id, quantity: 1 }];
      const keys = Array.from({ length: 160 * 16 }, (_, sent) => `key-${sent % 160}`);
      const answers: [string, string][] = [];
      const send = async (): Promise<void> => {
        for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
          const answer = await place(mandate, shop, ben.id, items, { 'idempotency-key': key });
          expect(answer.status).toBe(201);
          answers.push([key, answer.text]);
        }
      };
      // In order, so that the sixteen of a kind are sent together.
      keys.sort();
      await Promise.all(Array.from({ length: 64 }, send));
      expect(new Set(answers.map(([key, text]) => `${key} ${text}`)).size).toBe(160);
      expect(await number(mandate, 'select count(*)::int as number from orders', [])).toBe(160);
      expect(await stockOf(mandate, [product.id])).toEqual([840]);
    });
  });

  test('without a unique key they would be many, and this test would see it', async () => {
    const { orders } = await sameKeyTwentyTimes(forgetKeys);
    expect(orders).toBe(20);
  });
});

type Fault = (mandate: Mandate) => Promise<unknown>;
const noFault: Fault = () => Promise.resolve();

async function buyersOfTenUnits(fault = noFault) {
  return inShop(async (mandate, shop) => {
    await fault(mandate);
    const [product, ben] = [await shop.product({ stock: 10 }), await shop.user()];
    const items = [{ product_id: product.id, quantity: 1 }];
    const answers = await Promise.all(Array.from({ length: 64 }, () => place(mandate, shop, ben.id, items)));
    const sold = await number(mandate, 'select coalesce(sum(quantity), 0)::int as number from order_items where product_id = ?', [
      product.id,
    ]);
    const [left] = await stockOf(mandate, [product.id]);
    return { statuses: count(answers), sold, left };
  });
}

async function sameKeyTwentyTimes(fault = noFault) {
  return inShop(async (mandate, shop) => {
    await fault(mandate);
    const [product, ben] = [await shop.product({ stock: 100 }), await shop.user()];
    const items = [{ product_id: product.id, quantity: 1 }];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => place(mandate, shop, ben.id, items, { 'idempotency-key': 'the-one' })),
    );
    const orders = await number(mandate, 'select count(*)::int as number from orders', []);
    return { orders, bodies: new Set(answers.map(({ text }) => text)), statuses: count(answers) };
  });
}

/** The function without its lock and without the constraint behind it, and so slow that buyers are sure to meet in it. */
async function sellWithoutLocking({ db }: Mandate): Promise<void> {
  const em = db.em.fork();
  const path = new URL('../../../server/database/migrations/20261123030100_place_order_v4.sql', import.meta.url);
  const naive = readFileSync(path, 'utf8')
    .replace('create function', 'create or replace function')
    .replace('for no key update of s', '')
    .replace('insert into orders', 'perform pg_sleep(0.02); insert into orders');
  await em.execute(naive);
  await em.execute('alter table product_stock drop constraint product_stock_available_check');
}

async function forgetKeys({ db }: Mandate): Promise<void> {
  const em = db.em.fork();
  await em.execute(`create function forget() returns trigger language plpgsql as 'begin new.key := new.key || random(); return new; end'`);
  await em.execute('create trigger forget before insert on idempotency_keys for each row execute function forget()');
}

async function inShop<Result>(scene: (mandate: Mandate, shop: Shop) => Promise<Result>): Promise<Result> {
  const mandate = await startMandate();
  try {
    return await scene(mandate, await openShop(mandate));
  } finally {
    await mandate.close();
  }
}

const place = (mandate: Mandate, shop: Shop, userId: number, items: object[], headers: Record<string, string> = {}): Promise<Answer> =>
  mandate.call('POST', '/api/v1/orders', { token: shop.token, body: { user_id: userId, items, delivery: pickup }, headers });

const count = (answers: Answer[]): Record<number, number> =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, group]) => [status, group.length]));

const stockOf = (mandate: Mandate, productIds: number[]): Promise<number[]> =>
  Promise.all(productIds.map((id) => number(mandate, 'select available as number from product_stock where product_id = ?', [id])));

async function number({ db }: Mandate, query: string, parameters: unknown[]): Promise<number> {
  const [row] = await db.em.fork().execute<{ number: number }[]>(query, parameters);
  return row?.number ?? -1;
}
