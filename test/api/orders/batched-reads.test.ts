import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { databaseKind } from '../../support/services/database.ts';
import { cliClient, signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

type Customer = { readonly id: number; readonly token: string; readonly orders: readonly number[] };
const customers: Customer[] = [];
/** Number of concurrent requests, larger than the batch size. */
const concurrentRequests = 260;

beforeAll(async () => {
  const product = await shop.createProduct({ stock: 1000 });
  for (let i = 0; i < 4; i += 1) customers.push(await createCustomerWithOrders(product));
}, 60_000);

async function createCustomerWithOrders(product: JsonBody): Promise<Customer> {
  const person = await signUp(shop.origin);
  const { access_token: token } = await obtainTokens(shop.origin, person, ['orders.read', 'orders.write']);
  const body = buildOrderInput([product, 1]);
  const placed = await Promise.all(Array.from({ length: 5 }, () => shop.callApi('POST', '/api/v1/orders', { token, body })));
  return { id: person.id, token, orders: placed.map((response) => response.body.id) };
}

const getOrder = (id: number, token: string): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/orders/${id}`, { token });

describe('concurrent reads of many customers', () => {
  test('return only the orders of each customer, even across batch boundaries', async () => {
    const all = customers.flatMap(({ orders }) => orders);
    const requests = Array.from({ length: concurrentRequests }, (_, n) => ({ id: all[(n * 7) % all.length] ?? 0, as: customers[n % 4] }));
    const responses = await Promise.all(requests.map(({ id, as }) => getOrder(id, as?.token ?? '')));
    for (const [n, response] of responses.entries()) {
      const { id, as } = requests[n] ?? {};
      const belongsToCustomer = as?.orders.includes(id ?? 0) === true;
      expect([response.status, response.body.id, response.body.user_id]).toEqual(
        belongsToCustomer ? [200, id, as.id] : [404, undefined, undefined],
      );
    }
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(10);
  });

  test('of order lists return only the orders of each customer', async () => {
    const lists = await Promise.all(
      Array.from({ length: 40 }, (_, n) => shop.callApi('GET', '/api/v1/orders', { token: customers[n % 4]?.token ?? '' })),
    );
    for (const [n, list] of lists.entries()) {
      expect(list.body.data.map((order: JsonBody) => order.id).toSorted()).toEqual(customers[n % 4]?.orders.toSorted());
    }
  });
});

describe.skipIf(databaseKind === 'pglite')('during other reads', { timeout: 60_000 }, () => {
  /** Sends requests from several readers until `stop` is called. `stop` returns the status and time of each request. */
  function readUntilStopped(id: number, token: string, readers: number): { stop: () => Promise<{ sentAt: number; status: number }[]> } {
    const abortController = new AbortController();
    const observations: { sentAt: number; status: number }[] = [];
    const one = async (): Promise<void> => {
      while (!abortController.signal.aborted) {
        const sentAt = performance.now();
        observations.push({ sentAt, status: (await getOrder(id, token)).status });
      }
    };
    const all = Promise.all(Array.from({ length: readers }, one));
    return {
      async stop() {
        abortController.abort();
        await all;
        return observations;
      },
    };
  }

  test('an order with a new owner is visible only to the new owner in all later requests', async () => {
    const [before, after] = customers;
    if (!before || !after) throw new Error('no customers');
    const id = before.orders[0] ?? 0;
    const reading = readUntilStopped(id, before.token, 24);
    const otherReads = readUntilStopped(after.orders[0] ?? 0, after.token, 24);
    await getOrder(id, before.token);
    await shop.db.em.fork().execute('update orders set user_id = ? where id = ?', [after.id, id]);
    const changedAt = performance.now();
    expect((await getOrder(id, after.token)).status).toBe(200);
    for (let i = 0; i < 20; i += 1) await getOrder(id, after.token);
    const [observations] = [await reading.stop(), await otherReads.stop()];
    expect(new Set(observations.filter(({ sentAt }) => sentAt > changedAt).map(({ status }) => status))).toEqual(new Set([404]));
    expect(observations.some(({ status }) => status === 200)).toBe(true);
  });

  test('a revoked token is rejected in every request after the revocation response', async () => {
    const customer = customers[3];
    if (!customer) throw new Error('no customer');
    const reading = readUntilStopped(customer.orders[0] ?? 0, customer.token, 24);
    const otherReads = readUntilStopped(customers[2]?.orders[0] ?? 0, customers[2]?.token ?? '', 24);
    await getOrder(customer.orders[0] ?? 0, customer.token);
    const body = new URLSearchParams({ client_id: cliClient.clientId, token: customer.token });
    await fetch(`${shop.origin}/oauth/revocation`, { method: 'POST', body });
    const revokedAt = performance.now();
    for (let i = 0; i < 20; i += 1) await getOrder(customer.orders[0] ?? 0, customer.token);
    const [observations, otherObservations] = [await reading.stop(), await otherReads.stop()];
    expect(new Set(observations.filter(({ sentAt }) => sentAt > revokedAt).map(({ status }) => status))).toEqual(new Set([401]));
    expect(observations.some(({ status }) => status === 200)).toBe(true);
    expect(new Set(otherObservations.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
