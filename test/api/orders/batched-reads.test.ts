import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMandate, type Answer, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { databaseKind } from '../../support/services/database.ts';
import { commandLine, signUp, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { openShop, pickup, type Shop } from '../../support/server/shop.ts';

let mandate: Mandate;
let shop: Shop;

type Customer = { readonly id: number; readonly token: string; readonly orders: readonly number[] };
const customers: Customer[] = [];
/** More than go into one query together. */
const requestsAtOnce = 260;

beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
  const product = await shop.product({ stock: 1000 });
  for (let i = 0; i < 4; i += 1) customers.push(await customerWithOrders(product));
}, 60_000);
afterAll(() => mandate.close());

async function customerWithOrders(product: Body): Promise<Customer> {
  const person = await signUp(mandate.origin);
  const { access_token: token } = await tokensFor(mandate.origin, person, ['orders.read', 'orders.write']);
  const body = { items: [{ product_id: product.id, quantity: 1 }], delivery: pickup };
  const placed = await Promise.all(Array.from({ length: 5 }, () => mandate.call('POST', '/api/v1/orders', { token, body })));
  return { id: person.id, token, orders: placed.map((answer) => answer.body.id) };
}

const read = (id: number, token: string): Promise<Answer> => mandate.call('GET', `/api/v1/orders/${id}`, { token });

describe('many customers reading at once', () => {
  test('each sees their own orders and nobody else’s, also where one query ends and the next begins', async () => {
    const all = customers.flatMap(({ orders }) => orders);
    const asked = Array.from({ length: requestsAtOnce }, (_, n) => ({ id: all[(n * 7) % all.length] ?? 0, as: customers[n % 4] }));
    const answers = await Promise.all(asked.map(({ id, as }) => read(id, as?.token ?? '')));
    for (const [n, answer] of answers.entries()) {
      const { id, as } = asked[n] ?? {};
      const theirs = as?.orders.includes(id ?? 0) === true;
      expect([answer.status, answer.body.id, answer.body.user_id]).toEqual(theirs ? [200, id, as.id] : [404, undefined, undefined]);
    }
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(10);
  });

  test('lists the same query of two customers gives each their own', async () => {
    const lists = await Promise.all(
      Array.from({ length: 40 }, (_, n) => mandate.call('GET', '/api/v1/orders', { token: customers[n % 4]?.token ?? '' })),
    );
    for (const [n, list] of lists.entries()) {
      expect(list.body.data.map((order: Body) => order.id).toSorted()).toEqual(customers[n % 4]?.orders.toSorted());
    }
  });
});

describe.skipIf(databaseKind === 'pglite')('while others read', { timeout: 60_000 }, () => {
  /** Requests one after another by several readers until told to stop; each with when it was sent. */
  function readOn(id: number, token: string, readers: number): { stop: () => Promise<{ sentAt: number; status: number }[]> } {
    const over = new AbortController();
    const seen: { sentAt: number; status: number }[] = [];
    const one = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const sentAt = performance.now();
        seen.push({ sentAt, status: (await read(id, token)).status });
      }
    };
    const all = Promise.all(Array.from({ length: readers }, one));
    return {
      async stop() {
        over.abort();
        await all;
        return seen;
      },
    };
  }

  test('an order that changes hands is nobody’s but the new owner’s in every request sent afterwards', async () => {
    const [before, after] = customers;
    if (!before || !after) throw new Error('no customers');
    const id = before.orders[0] ?? 0;
    const reading = readOn(id, before.token, 24);
    const crowd = readOn(after.orders[0] ?? 0, after.token, 24);
    await read(id, before.token);
    await mandate.db.em.fork().execute('update orders set user_id = ? where id = ?', [after.id, id]);
    const changedAt = performance.now();
    expect((await read(id, after.token)).status).toBe(200);
    for (let i = 0; i < 20; i += 1) await read(id, after.token);
    const [seen] = [await reading.stop(), await crowd.stop()];
    expect(new Set(seen.filter(({ sentAt }) => sentAt > changedAt).map(({ status }) => status))).toEqual(new Set([404]));
    expect(seen.some(({ status }) => status === 200)).toBe(true);
  });

  test('a revoked token is refused in every request sent after the answer to its revocation', async () => {
    const customer = customers[3];
    if (!customer) throw new Error('no customer');
    const reading = readOn(customer.orders[0] ?? 0, customer.token, 24);
    const crowd = readOn(customers[2]?.orders[0] ?? 0, customers[2]?.token ?? '', 24);
    await read(customer.orders[0] ?? 0, customer.token);
    const body = new URLSearchParams({ client_id: commandLine.clientId, token: customer.token });
    await fetch(`${mandate.origin}/oauth/revocation`, { method: 'POST', body });
    const revokedAt = performance.now();
    for (let i = 0; i < 20; i += 1) await read(customer.orders[0] ?? 0, customer.token);
    const [seen, others] = [await reading.stop(), await crowd.stop()];
    expect(new Set(seen.filter(({ sentAt }) => sentAt > revokedAt).map(({ status }) => status))).toEqual(new Set([401]));
    expect(seen.some(({ status }) => status === 200)).toBe(true);
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
