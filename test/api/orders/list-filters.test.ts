import { beforeAll, describe, expect, test } from 'vitest';
import { orderFulfillmentStatuses, orderStatuses, orderPaymentStatuses } from '@mandate/contract';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { signUp, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop(undefined, { previewVersions: true });
let anna: TestUser;
let token: string;
let bensOrder: number;

const call = (method: string, path: string, as: string, body?: object): Promise<ApiResponse> =>
  till.mandate.callApi(method, `/api/v1${path}`, { token: as, ...(body && { body }) });
const list = (query: string, as = token): Promise<ApiResponse> => call('GET', `/orders?${query}`, as);
const ids = ({ body }: ApiResponse): number[] => body.data.map(({ id }: JsonBody) => id);

async function placeOrder(as: string, more: object = {}): Promise<number> {
  const items = [1, 2].map(() => ({ product_id: productId, quantity: 2 }));
  const { status, body, text } = await call('POST', '/orders', as, { items, delivery: pickupDelivery, ...more });
  if (status !== 201) throw new Error(text);
  return body.id;
}

let productId: number;
const orderIds: Record<string, number> = {};

beforeAll(async () => {
  productId = (await till.shop.createProduct({ stock: null })).id;
  anna = await signUp(till.mandate.origin);
  const scopes = ['orders.read', 'orders.write', 'tasks.write', 'tasks.read'] as const;
  token = (await obtainTokens(till.mandate.origin, anna, scopes)).access_token;
  const ben = await signUp(till.mandate.origin);
  bensOrder = await placeOrder((await obtainTokens(till.mandate.origin, ben, scopes)).access_token);
  for (const name of ['pending', 'paid', 'partial', 'returned', 'shipped', 'delivered', 'refunded', 'canceled'])
    orderIds[name] = await placeOrder(token);
  await call('POST', `/orders/${orderIds['canceled']}/cancellation`, token, {});
  for (const name of ['paid', 'partial', 'returned', 'shipped', 'delivered', 'refunded']) await till.createPayment(orderIds[name] ?? 0);
  await till.post(`/orders/${orderIds['partial']}/shipments`, { status: 'shipped', items: [{ line: 1, quantity: 1 }] });
  const { body: lostShipment } = await till.post(`/orders/${orderIds['returned']}/shipments`, { status: 'shipped' });
  await call('PATCH', `/shipments/${lostShipment.id}`, till.shop.token, { status: 'failed' });
  await till.post(`/orders/${orderIds['shipped']}/shipments`, { status: 'shipped' });
  await till.post(`/orders/${orderIds['delivered']}/shipments`, { status: 'delivered' });
  await till.post(`/orders/${orderIds['refunded']}/refunds`, { reason: 'other' });
});

const expectedIds = (...names: string[]): number[] => names.map((name) => orderIds[name] ?? 0).toSorted((a, b) => b - a);

describe('filters for a customer', () => {
  test.each([
    ['payment_status=refunded', ['refunded']],
    ['payment_status=unpaid', ['pending', 'canceled']],
    ['payment_status=unpaid&status=pending', ['pending']],
    ['fulfillment_status=partial', ['partial']],
    ['fulfillment_status=shipped,delivered', ['shipped', 'delivered']],
    ['fulfillment_status=unfulfilled&status=shipped', ['returned']],
    ['fulfillment_status=unfulfilled&payment_status=paid', ['paid', 'returned']],
  ])('%s', async (query, expected) => {
    expect(ids(await list(query))).toEqual(expectedIds(...expected));
    expect(ids(await list(`${query}&user_id=${anna.id}`, till.shop.token))).toEqual(expectedIds(...expected));
  });

  test('id returns only orders of the customer', async () => {
    const wantedIds = [...expectedIds('paid', 'shipped'), bensOrder];
    expect(ids(await list(`id=${wantedIds.join()}`))).toEqual(expectedIds('paid', 'shipped'));
    expect(ids(await list(`id=${wantedIds.join()}&status=paid`))).toEqual(expectedIds('paid'));
    expect(new Set(ids(await list(`id=${wantedIds.join()}`, till.shop.token)))).toEqual(new Set(wantedIds));
    expect(ids(await list('id=9007199254740991'))).toEqual([]);
  });

  test('client_id returns the orders that one application placed', async () => {
    const everything = await list('limit=100');
    const [{ client_id: clientId }] = everything.body.data;
    expect(ids(await list(`client_id=${clientId}&limit=100`))).toEqual(ids(everything));
    expect(ids(await list('client_id=another'))).toEqual([]);
    const allOrders = await list(`client_id=${clientId}&include_total=true`, till.shop.token);
    expect(allOrders.body.total_count).toBeGreaterThan(everything.body.data.length);
    expect(ids(await list('client_id=another', till.shop.token))).toEqual([]);
  });
});

// each pair of filters has its own query plan, and must return the same orders as filtering the whole list
describe('filters for staff', () => {
  const subsets = (names: readonly string[]): string[] => [...names, names.slice(0, 2).join(), names.slice(1).join()];
  const filters = [
    ...subsets(orderFulfillmentStatuses).map((value) => ({ fulfillment_status: value })),
    ...subsets(orderFulfillmentStatuses).flatMap((value) => orderStatuses.map((status) => ({ fulfillment_status: value, status }))),
    ...subsets(orderPaymentStatuses).flatMap((value) =>
      orderFulfillmentStatuses.map((other) => ({ payment_status: value, fulfillment_status: other })),
    ),
  ];
  test('return and count the matching orders for every pair of statuses, newest first', async () => {
    const all: JsonBody[] = (await list('limit=100', till.shop.token)).body.data;
    for (const filter of filters) {
      const matching = all.filter((order) => Object.entries(filter).every(([name, value]) => value.split(',').includes(order[name])));
      const query = new URLSearchParams({ ...filter, include_total: 'true', limit: '100' }).toString();
      const response = await list(query, till.shop.token);
      expect([query, ids(response), response.body.total_count]).toEqual([query, matching.map(({ id }) => id), matching.length]);
    }
  });
});

describe('updated_at', () => {
  test('returns the orders changed in a period, sorted by change, on several pages', async () => {
    const before = await list('limit=1&sort=-updated_at');
    const from = new Date(Date.parse(before.body.data[0].updated_at) + 1).toISOString();
    for (const name of ['shipped', 'pending', 'paid']) await call('PATCH', `/orders/${orderIds[name]}`, token, { note: name });
    for (const as of [token, till.shop.token]) {
      const first = await list(`updated_at_gte=${from}&limit=2&include_total=true`, as);
      expect([ids(first), first.body.total_count]).toEqual([[orderIds['shipped'], orderIds['pending']], 3]);
      const second = await list(`updated_at_gte=${from}&limit=2&sort=updated_at&cursor=${first.body.next_cursor}`, as);
      expect([ids(second), second.body.next_cursor]).toEqual([[orderIds['paid']], null]);
      expect(ids(await list(`updated_at_gte=${from}&sort=-updated_at`, as))).toEqual([
        orderIds['paid'],
        orderIds['pending'],
        orderIds['shipped'],
      ]);
      expect(ids(await list(`updated_at_lt=${from}&limit=100`, as))).not.toContain(orderIds['paid']);
    }
  });

  test('returns 400 for a sort by another timestamp and for a reversed period', async () => {
    const queryError = async (query: string): Promise<unknown> => {
      const { status, body } = await list(query);
      return [status, body.errors[0].parameter, body.errors[0].code];
    };
    expect(await queryError('updated_at_gte=2026-01-01T00:00:00Z&sort=-created_at')).toEqual([400, 'sort', 'conflicting_parameters']);
    expect(await queryError('updated_at_gte=2026-02-01T00:00:00Z&updated_at_lt=2026-01-01T00:00:00Z')).toEqual([
      400,
      'updated_at_gte',
      'conflicting_parameters',
    ]);
  });
});

describe('include=items', () => {
  test.each(['v1', 'v2'])('%s returns each order as GET /orders/{order_id} does', async (version) => {
    const read = async (path: string): Promise<JsonBody> => (await till.mandate.callApi('GET', `/api/${version}${path}`, { token })).body;
    const { data } = await read('/orders?include=items&limit=20');
    expect(data.length).toBe(Object.keys(orderIds).length);
    for (const order of data) expect(order).toEqual(await read(`/orders/${order.id}`));
    expect((await read('/orders')).data[0]).not.toHaveProperty('items');
  });

  test('returns at most 20 orders per page', async () => {
    expect((await list('include=items&limit=20')).status).toBe(200);
    const { status, body } = await list('include=items&limit=21');
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          in: 'query',
          parameter: 'limit',
          code: 'out_of_range',
          detail: 'With `include=items`, a page can contain at most 20 orders. Send `limit=20` or a lower value.',
        },
      ],
    ]);
  });

  test('can be added to a request with a cursor', async () => {
    const { body } = await list('limit=1');
    const next = await list(`limit=1&include=items&cursor=${body.next_cursor}`);
    expect([next.status, next.body.data[0].items.length]).toEqual([200, 2]);
  });
});

describe('400', () => {
  test.each([
    ['id=', 'id', 'invalid_value'],
    ['id=1,x', 'id', 'invalid_value'],
    ['id=0', 'id', 'out_of_range'],
    [`id=${Array.from({ length: 101 }, (_, at) => at + 1).join()}`, 'id', 'out_of_range'],
    ['fulfillment_status=lost', 'fulfillment_status', 'invalid_value'],
    ['updated_at_gte=today', 'updated_at_gte', 'invalid_value'],
    ['include=payments', 'include', 'invalid_value'],
    ['client_id=', 'client_id', 'out_of_range'],
  ])('%s', async (query, parameter, code) => {
    const { status, body } = await list(query);
    expect([status, body.errors[0].parameter, body.errors[0].code]).toEqual([400, parameter, code]);
  });
});

test('an export supports the same filters', async () => {
  const body = { fulfillment_status: ['unfulfilled'], payment_status: ['paid'], updated_at_gte: '2020-01-01T00:00:00Z', columns: ['id'] };
  const { status, text } = await call('POST', '/order-exports', token, body);
  expect([status, text]).toEqual([202, expect.stringContaining('"fulfillment_status":["unfulfilled"]')]);
});
