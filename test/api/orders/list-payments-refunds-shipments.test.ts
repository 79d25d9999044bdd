/** Tests that `GET /payments`, `/refunds` and `/shipments` return items only from orders that the caller may see. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import {
  obtainClientToken,
  createConfidentialClient,
  signUp,
  signUpWithRole,
  obtainTokens,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop();
let anna: Buyer;
let ben: Buyer;

type Buyer = {
  readonly person: TestUser;
  readonly token: string;
  readonly orders: number[];
  readonly payments: number[];
  readonly refunds: number[];
  readonly shipments: number[];
};

const get = (path: string, token: string): Promise<ApiResponse> => till.mandate.callApi('GET', `/api/v1${path}`, { token });
const ids = ({ body }: ApiResponse): number[] => body.data.map(({ id }: JsonBody) => id);
const descending = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => b - a);

/**
 * Creates a customer with three orders. The first order has a failed payment, a successful payment and a partial refund, the second order
 * is shipped, and the third order is delivered.
 */
async function createBuyer(): Promise<Buyer> {
  const { origin } = till.mandate;
  const person = await signUp(origin);
  const { access_token: token } = await obtainTokens(origin, person, ['orders.read', 'orders.write', 'payments.read']);
  const orders: number[] = [];
  for (const _ of [1, 2, 3]) {
    const items = [{ product_id: (await till.shop.createProduct()).id, quantity: 2 }];
    orders.push((await till.mandate.callApi('POST', '/api/v1/orders', { token, body: { items, delivery: pickupDelivery } })).body.id);
  }
  const [first = 0, second = 0, third = 0] = orders;
  const payments = [
    await till.createPayment(first, 'test_declined'),
    await till.createPayment(first),
    await till.createPayment(second),
    await till.createPayment(third),
  ];
  const refunds = [await till.post(`/orders/${first}/refunds`, { amount: 1, reason: 'other' })];
  const shipments = [
    await till.post(`/orders/${second}/shipments`, { status: 'shipped', tracking_number: `T-${second}` }),
    await till.post(`/orders/${third}/shipments`, { status: 'delivered', tracking_number: 'shared' }),
  ];
  const created = (responses: ApiResponse[]): number[] => responses.map(({ body }) => body.id);
  return { person, token, orders, payments: created(payments), refunds: created(refunds), shipments: created(shipments) };
}

beforeAll(async () => {
  anna = await createBuyer();
  ben = await createBuyer();
});

const collections = ['payments', 'refunds', 'shipments'] as const;

describe.each(collections)('GET /%s', (name) => {
  test('returns only items of the customer, newest first, with every filter', async () => {
    expect(ids(await get(`/${name}`, anna.token))).toEqual(descending(anna[name]));
    expect(ids(await get(`/${name}?sort=created_at`, anna.token))).toEqual(descending(anna[name]).toReversed());
    expect(ids(await get(`/${name}?user_id=${anna.person.id}`, anna.token))).toEqual(descending(anna[name]));
    for (const order of ben.orders) expect(ids(await get(`/${name}?order_id=${order}`, anna.token))).toEqual([]);
    expect((await get(`/${name}?user_id=${ben.person.id}`, anna.token)).body.code).toBe('forbidden');
  });

  test('returns all items to staff, or those of one customer or order', async () => {
    const everything = ids(await get(`/${name}?limit=100`, till.shop.token));
    expect(everything).toEqual(descending([...anna[name], ...ben[name]]));
    expect(ids(await get(`/${name}?user_id=${ben.person.id}`, till.shop.token))).toEqual(descending(ben[name]));
    const perOrder = await Promise.all(ben.orders.map((order) => get(`/${name}?order_id=${order}`, till.shop.token)));
    expect(descending(perOrder.flatMap(ids))).toEqual(descending(ben[name]));
    const mixed = await get(`/${name}?order_id=${ben.orders[0]}&user_id=${anna.person.id}`, till.shop.token);
    expect(ids(mixed)).toEqual([]);
  });

  test('returns the same items as the list of the order and the single resource', async () => {
    for (const item of (await get(`/${name}`, anna.token)).body.data) {
      expect((await get(`/orders/${item.order_id}/${name}`, anna.token)).body.data).toContainEqual(item);
      expect((await get(`/${name}/${item.id}`, anna.token)).body).toEqual(item);
    }
  });

  test.each(['customer', 'staff'])('filters by status and time, counts, and returns complete pages for %s', async (caller) => {
    const token = caller === 'staff' ? till.shop.token : anna.token;
    const all: JsonBody[] = (await get(`/${name}?limit=100`, token)).body.data;
    for (const status of new Set(all.map((item) => String(item['status'])))) {
      const matching = all.filter((item) => item['status'] === status).map(({ id }) => id);
      const response = await get(`/${name}?status=${status}&include_total=true`, token);
      expect([ids(response), response.body.total_count]).toEqual([matching, matching.length]);
    }
    const [newest] = all;
    expect(ids(await get(`/${name}?created_at_gte=${newest?.created_at}`, token))).toContain(newest?.id);
    expect(ids(await get(`/${name}?created_at_lt=${newest?.created_at}`, token))).not.toContain(newest?.id);
    const pagedIds: number[] = [];
    for (let cursor = ''; ;) {
      const page = await get(`/${name}?limit=1${cursor}`, token);
      pagedIds.push(...ids(page));
      if (!page.body.has_more) break;
      cursor = `&cursor=${page.body.next_cursor}`;
    }
    expect(pagedIds).toEqual(all.map(({ id }) => id));
  });

  test('403 for an application that acts for no user and cannot access all orders', async () => {
    const scopes = ['orders.read', 'payments.read'] as const;
    const token = await obtainClientToken(till.mandate.origin, await createConfidentialClient(till.mandate.db, scopes), scopes);
    expect((await get(`/${name}`, token)).body.code).toBe('forbidden');
  });

  test('a scope over all orders does not replace the scope over this collection', async () => {
    const staff = await signUpWithRole(till.mandate.db, till.mandate.origin, 'staff');
    const insufficientScopes =
      name === 'shipments' ? (['orders.read', 'payments.manage'] as const) : (['payments.read', 'orders.manage'] as const);
    const { access_token: token } = await obtainTokens(till.mandate.origin, staff, insufficientScopes);
    // the granted `manage` scope does not cover this collection, and the staff user has no orders of their own
    expect((await get(`/${name}`, token)).body.data).toEqual([]);
    expect((await get(`/${name}?user_id=${anna.person.id}`, token)).body.code).toBe('forbidden');
  });

  test('400 for a reversed period and an unknown status', async () => {
    const reversed = await get(`/${name}?created_at_gte=2026-02-01T00:00:00Z&created_at_lt=2026-01-01T00:00:00Z`, anna.token);
    expect(reversed.body.errors[0].code).toBe('conflicting_parameters');
    expect((await get(`/${name}?status=lost`, anna.token)).body.errors[0].code).toBe('invalid_value');
  });
});

test('customers can filter their refunds by payment and their shipments by tracking number', async () => {
  const refunded = (await get(`/refunds`, anna.token)).body.data[0].payment_id;
  expect(ids(await get(`/refunds?payment_id=${refunded}`, anna.token))).toEqual(anna.refunds);
  expect(ids(await get(`/refunds?payment_id=${refunded}`, ben.token))).toEqual([]);
  expect(ids(await get('/shipments?tracking_number=shared', anna.token))).toEqual([anna.shipments[1]]);
  expect(ids(await get('/shipments?tracking_number=shared', till.shop.token))).toEqual(
    descending([anna.shipments[1] ?? 0, ben.shipments[1] ?? 0]),
  );
  expect(ids(await get(`/shipments?tracking_number=T-${ben.orders[1]}`, anna.token))).toEqual([]);
});

test('GET /shipments/{shipment_id}: 404 for another customer, and an ETag that PATCH accepts', async () => {
  const path = `/shipments/${anna.shipments[0]}`;
  expect((await get(path, ben.token)).body.code).toBe('not_found');
  const { status, headers, body } = await get(path, anna.token);
  const etag = headers.get('etag') ?? '';
  expect([status, body.id]).toEqual([200, anna.shipments[0]]);
  const change = (ifMatch: string): Promise<ApiResponse> =>
    till.mandate.callApi('PATCH', `/api/v1${path}`, {
      token: till.shop.token,
      body: { carrier: 'Bike' },
      headers: { 'if-match': ifMatch },
    });
  const changed = await change(etag);
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, (await get(path, anna.token)).headers.get('etag')]);
  expect((await change(etag)).body.code).toBe('precondition_failed');
});
