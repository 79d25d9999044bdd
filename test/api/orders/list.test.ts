import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);
let productId: number;

beforeAll(async () => {
  productId = (await shop.createProduct({ stock: null })).id;
});

const placeOrder = (reference: string, as = anna.token, more: object = {}): Promise<ApiResponse> =>
  shop.callApi('POST', '/api/v1/orders', {
    token: as,
    body: { items: [{ product_id: productId, quantity: 1 }], delivery: pickupDelivery, reference, ...more },
  });
const list = (query = '', as = anna.token): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/orders${query}`, { token: as });
const references = ({ body }: ApiResponse): string[] => body.data.map((order: JsonBody) => order.reference);

/** Returns the orders on all pages, by following the cursors from the first page to the last. */
async function listAllPages(
  query: string,
  between: (page: number) => Promise<unknown> = () => Promise.resolve(),
  as = anna.token,
): Promise<JsonBody[]> {
  const listedOrders: JsonBody[] = [];
  let cursor: string | null = null;
  for (let page = 0; ; page += 1) {
    const { body }: ApiResponse = await list(`?${query}${cursor === null ? '' : `&cursor=${cursor}`}`, as);
    listedOrders.push(...body.data);
    expect(body.has_more).toBe(body.next_cursor !== null);
    if (body.next_cursor === null) return listedOrders;
    cursor = body.next_cursor;
    await between(page);
  }
}

describe('200', () => {
  test('returns an empty list as one page without a cursor', async () => {
    const ben = await obtainTokens(shop.origin, await signUp(shop.origin), ['orders.read']);
    const { status, body, headers } = await list('', ben.access_token);
    expect([status, body]).toEqual([200, { data: [], has_more: false, next_cursor: null }]);
    expect(headers.get('link')).toBe('</api/v1/orders>; rel="first"');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('returns only orders of the customer, newest first, 20 per page, without lines', async () => {
    const ben = await obtainTokens(shop.origin, await signUp(shop.origin), ['orders.read', 'orders.write']);
    await placeOrder('bens', ben.access_token);
    for (let i = 1; i <= 21; i += 1) await placeOrder(`a-${i}`);
    const first = await list();
    expect(references(first)).toEqual(Array.from({ length: 20 }, (_, i) => `a-${21 - i}`));
    expect(first.body.data[0]).not.toHaveProperty('items');
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await shop.callApi('GET', next, { token: anna.token });
    expect([references(second), second.body.has_more]).toEqual([['a-1'], false]);
    expect(references(await list('', ben.access_token))).toEqual(['bens']);
  });

  test('returns complete pages while other orders are placed and deleted', async () => {
    const before = await listAllPages('limit=100');
    const listed = await listAllPages('limit=7', async (page) => {
      await placeOrder(`while-${page}`);
      if (page === 0) {
        const em = shop.db.em.fork();
        const deletedId = before.at(-1).id;
        await em.execute('delete from order_items where order_id = ?', [deletedId]);
        await em.execute('delete from orders where id = ?', [deletedId]);
      }
    });
    const ids = listed.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(before.slice(0, -1).map(({ id }) => id));
  });

  test('sorts orders of the same millisecond consistently, in both directions', async () => {
    await shop.db.em.fork().execute(`update orders set created_at = '2026-01-01T00:00:00Z' where user_id = ?`, [anna.id]);
    const down = (await listAllPages('limit=3')).map(({ id }) => id);
    const up = (await listAllPages('limit=3&sort=created_at')).map(({ id }) => id);
    expect(down).toEqual([...down].toSorted((a, b) => b - a));
    expect(up).toEqual(down.toReversed());
    expect(new Set(down).size).toBe(down.length);
  });

  test('filters by status, time and reference', async () => {
    const { body: one } = await placeOrder('needle');
    await shop.db.em.fork().execute(`update orders set status = 'canceled', canceled_at = now() where id = ?`, [one.id]);
    expect(references(await list('?status=canceled'))).toEqual(['needle']);
    expect(references(await list('?status=canceled,shipped&reference=needle'))).toEqual(['needle']);
    expect(references(await list('?status=shipped'))).toEqual([]);
    expect(references(await list(`?created_at_gte=${one.created_at}&status=canceled`))).toEqual(['needle']);
    expect(references(await list(`?created_at_lt=${one.created_at}&reference=needle`))).toEqual([]);
    // the same time with a UTC offset
    const timeWithOffset = new Date(Date.parse(one.created_at) + 2 * 3_600_000).toISOString().replace('Z', '%2B02:00');
    expect(references(await list(`?created_at_gte=${timeWithOffset}&reference=needle`))).toEqual(['needle']);
  });

  test('returns the total on request', async () => {
    const [{ count }] = await shop.db.em
      .fork()
      .execute<[{ count: number }]>('select count(*)::int as count from orders where user_id = ?', [anna.id]);
    expect((await list('?include_total=true&limit=1')).body).toMatchObject({ total_count: count, total_count_capped: false });
    expect((await list('?limit=1')).body).not.toHaveProperty('total_count');
  });

  test('returns all orders to staff, with filters by customer and payment status', async () => {
    const ben = await shop.createUser();
    await placeOrder('staff-1', shop.token, { user_id: ben.id });
    expect(references(await list(`?user_id=${ben.id}`, shop.token))).toEqual(['staff-1']);
    expect(references(await list('?payment_status=paid,refunded', shop.token))).toEqual([]);
    expect((await list('?limit=100', shop.token)).body.data.length).toBeGreaterThan((await list('?limit=100')).body.data.length);
  });
});

describe('400', () => {
  test.each([
    ['limit=0', 'limit', 'out_of_range'],
    ['limit=101', 'limit', 'out_of_range'],
    ['limit=abc', 'limit', 'invalid_value'],
    ['limit=', 'limit', 'invalid_value'],
    ['limit=1e1', 'limit', 'invalid_value'],
    ['limit=1&limit=2', 'limit', 'duplicate_parameter'],
    ['status=', 'status', 'invalid_value'],
    ['status=paid,gone', 'status', 'invalid_value'],
    ['statu=paid', 'statu', 'unknown_parameter'],
    ['status[]=paid', 'status[]', 'unknown_parameter'],
    ['sort=total', 'sort', 'invalid_value'],
    ['created_at_gte=yesterday', 'created_at_gte', 'invalid_value'],
    ['created_at_gte=2026-02-01T00:00:00Z&created_at_lt=2026-01-01T00:00:00Z', 'created_at_gte', 'conflicting_parameters'],
    ['cursor=x', 'cursor', 'invalid_cursor'],
    ['include_total=yes', 'include_total', 'invalid_value'],
  ])('%s', async (query, parameter, code) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.errors[0].in, body.errors[0].parameter, body.errors[0].code]).toEqual([400, 'query', parameter, code]);
  });

  test('rejects a period that ends before it starts, for all time zones and fractions of seconds', async () => {
    const period = (from: string, to: string) =>
      list(`?created_at_gte=${encodeURIComponent(from)}&created_at_lt=${encodeURIComponent(to)}`).then(({ status }) => status);
    expect(await period('2026-01-01T01:00:00+02:00', '2026-01-01T00:30:00Z')).toBe(200);
    expect(await period('2026-01-01T00:00:00Z', '2026-01-01T01:00:00+02:00')).toBe(400);
    expect(await period('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')).toBe(200);
    expect(await period('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.0005Z')).toBe(200);
  });

  test('lists the allowed values, and reports all invalid parameters at once', async () => {
    const { body } = await list('?sort=total&colour=red&limit=0');
    expect(body.errors).toHaveLength(3);
    expect(body.errors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ parameter: 'sort', allowed: ['created_at', '-created_at', 'updated_at', '-updated_at'] }),
      ]),
    );
  });

  test('a cursor is valid only for its filter, sort and caller, but with any limit', async () => {
    await placeOrder('c-1');
    await placeOrder('c-2');
    const cursor: string = (await list('?limit=1')).body.next_cursor;
    for (const i of [...Array.from({ length: 20 }, (_, step) => step * 5), cursor.length - 1].filter((at) => at < cursor.length)) {
      const changed = cursor.slice(0, i) + (cursor[i] === 'A' ? 'B' : 'A') + cursor.slice(i + 1);
      expect((await list(`?limit=1&cursor=${changed}`)).body.code).toBe('invalid_cursor');
    }
    expect((await list(`?limit=1&status=paid&cursor=${cursor}`)).body.code).toBe('cursor_mismatch');
    expect((await list(`?limit=1&sort=created_at&cursor=${cursor}`)).body.code).toBe('cursor_mismatch');
    expect((await list(`?limit=1&cursor=${cursor}`, shop.token)).body.code).toBe('cursor_mismatch');
    const ben = await obtainTokens(shop.origin, await signUp(shop.origin), ['orders.read']);
    expect((await list(`?limit=1&cursor=${cursor}`, ben.access_token)).body.code).toBe('cursor_mismatch');
    expect((await list(`?limit=2&cursor=${cursor}`)).status).toBe(200);
  });
});

describe('403', () => {
  test('a customer cannot list the orders of another customer', async () => {
    const ben = await shop.createUser();
    expect((await list(`?user_id=${ben.id}`)).body.code).toBe('forbidden');
    expect((await list(`?user_id=${anna.id}`)).status).toBe(200);
  });
});
