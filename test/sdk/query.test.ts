import { describe, expect, expectTypeOf, test } from 'vitest';
import { createClient, type Order, type OrderPage } from '@mandate/client-sdk';
import { queryOptions } from '@mandate/client-sdk/query';
import { startStubServer } from './stub-server.ts';

const optionsFor = (baseUrl: string) => queryOptions(createClient({ baseUrl, auth: 'a token' }));
const { signal } = new AbortController();

describe('options for TanStack Query', () => {
  test('a query fetches the resource that its key identifies', async () => {
    await using server = await startStubServer(() => ({ body: { id: 7 } }));
    const { queries, keyOf } = optionsFor(server.url);
    const { queryKey, queryFn } = queries.orders.get(7);
    expect(queryKey).toEqual(['mandate', 'orders', 'get', 7]);
    expect(queryKey.slice(0, 2)).toEqual(keyOf('orders'));
    expect(await queryFn({ signal })).toEqual({ id: 7 });
    expectTypeOf(queryFn).returns.resolves.toEqualTypeOf<Order>();
    await queries.orders.list().queryFn({ signal });
    await queries.payments.list(7, { limit: 5 }).queryFn({ signal });
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/v1/orders/7', '/api/v1/orders', '/api/v1/orders/7/payments?limit=5']);
  });

  test('canceling a query aborts its request', async () => {
    await using server = await startStubServer(() => ({ body: {}, delayMs: 5000 }));
    const ended = optionsFor(server.url)
      .queries.orders.get(7)
      .queryFn({ signal: AbortSignal.timeout(50) });
    await expect(ended).rejects.toMatchObject({ code: 'aborted' });
  });

  test('pages are fetched one after the other', async () => {
    await using server = await startStubServer((_, count) => ({
      body: { data: [], has_more: count < 2, next_cursor: count < 2 ? 'next' : null },
    }));
    const pages = optionsFor(server.url).infiniteQueries.orders.list({ status: ['paid'] });
    const first = await pages.queryFn({ signal, pageParam: pages.initialPageParam });
    expectTypeOf(first).toEqualTypeOf<OrderPage>();
    const second = await pages.queryFn({ signal, pageParam: pages.getNextPageParam(first) });
    expect(pages.getNextPageParam(second)).toBeUndefined();
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/v1/orders?status=paid', '/api/v1/orders?status=paid&cursor=next']);
    expect(pages.queryKey).not.toEqual(optionsFor(server.url).queries.orders.list({ status: ['paid'] }).queryKey);
  });

  test('a mutation changes the resource in its path, with a new idempotency key for each call', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: { id: 1 } }));
    const { mutations } = optionsFor(server.url);
    const create = mutations.orders.create();
    const order = { items: [{ product_id: 1, quantity: 1 }], delivery: { method: 'pickup', recipient_name: 'Ann' } };
    await create.mutationFn(order);
    await create.mutationFn(order);
    await mutations.products.update(3, { ifMatch: '"1"' }).mutationFn({ name: 'New' });
    await mutations.payments.cancel(5).mutationFn();
    await mutations.orderImports.create().mutationFn({ body: 'reference\n', query: { source: 'old-shop' } });
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /api/v1/orders',
      'POST /api/v1/orders',
      'PATCH /api/v1/products/3',
      'POST /api/v1/payments/5/cancellation',
      'POST /api/v1/order-imports?source=old-shop',
    ]);
    expect(server.seen[2]).toMatchObject({ body: '{"name":"New"}', headers: { 'if-match': '"1"' } });
    expect(new Set(server.seen.slice(0, 2).map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
    expect(create.mutationKey).toEqual(['mandate', 'orders', 'create']);
  });
});
