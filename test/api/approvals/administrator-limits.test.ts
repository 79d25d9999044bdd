import { afterEach, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { connectApplicationAndDecider, requestApprovalOf60, type RequestingApplication } from '../../support/shop/approval-requests.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const connect = () => connectApplicationAndDecider(shop);
const callAsAdmin = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1${path}`, { token: shop.token, ...(body !== undefined && { body }) });

type Limit = (app: RequestingApplication, limits: Record<string, unknown> | null) => Promise<void>;

const setCeiling: Limit = async ({ clientId }, limits) => {
  const { body } = await callAsAdmin('GET', '/applications?limit=100');
  const { id } = body.data.find((each: JsonBody) => each.client_id === clientId);
  expect((await callAsAdmin('PATCH', `/applications/${id}`, { order_limits_ceiling: limits })).status).toBe(200);
};

const setShopMaximum: Limit = async (_app, limits) => {
  expect((await callAsAdmin('PATCH', '/order-limit-settings', { maximum_limits: limits })).status).toBe(200);
};

afterEach(() => callAsAdmin('PATCH', '/order-limit-settings', { maximum_limits: null }));

/** Two ways in which an administrator can limit an application. Both have the same effect. */
describe.each([
  ['the ceiling of the application', setCeiling],
  ['the maximum of the shop', setShopMaximum],
])('%s', (_name, limit) => {
  test('cannot be exceeded with an approval, because the request for approval is rejected', async () => {
    const { app } = await connect();
    await limit(app, { currency: 'EUR', per_order: 7000 });
    const quote = await app.createQuote(8000);
    const order = await app.orderFromQuote(quote.id);
    expect([order.status, order.body.errors]).toEqual([403, [expect.objectContaining({ code: 'limit_exceeded', approvable: false })]]);
    expect(order.body.detail).not.toContain('approval');
    const { status, body } = await app.requestApproval(quote.id);
    expect([status, body.code, body.detail]).toEqual([
      403,
      'limit_exceeded',
      'The shop allows this application 70.00 EUR per order, and this order costs 80.00 EUR. Lower the total. Only an administrator of the shop can change this.',
    ]);
    expect(body.errors).toMatchObject([{ pointer: '#/quote_id', limit: 7000, requested: 8000, available: 7000, approvable: false }]);
    expect((await app.call('GET', '/approvals')).body.data).toEqual([]);
    await requestApprovalOf60(app);
  });

  test('applies to an order that the customer has already approved, and to its payment', async () => {
    const { app, decide } = await connect();
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    expect((await decide(id, 'approval')).status).toBe(201);
    await limit(app, { currency: 'EUR', per_order: 5999 });
    const rejected = await app.orderFromQuote(quoteId);
    expect([rejected.status, rejected.body.detail]).toEqual([403, expect.stringContaining('The shop allows this application 59.99 EUR')]);
    expect((await app.call('GET', `/approvals/${id}`)).body.status).toBe('approved');
    await limit(app, { currency: 'EUR', per_order: 6000 });
    const placed = await app.orderFromQuote(quoteId);
    expect([placed.status, placed.body.total]).toEqual([201, 6000]);

    const pay = (): Promise<ApiResponse> => app.post(`/orders/${placed.body.id}/payments`, { provider: 'manual' });
    await limit(app, { currency: 'EUR', per_order: 5999 });
    expect((await pay()).body).toMatchObject({ code: 'limit_exceeded', detail: expect.stringContaining('The shop allows') });
    await limit(app, null);
    expect((await pay()).status).toBe(201);
  });

  test("counts an approved order toward its budget, unlike the customer's limits", async () => {
    const { app, decide } = await connect();
    await limit(app, { currency: 'EUR', per_period: 10_000, period: 'month' });
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    await decide(id, 'approval');
    expect((await app.orderFromQuote(quoteId)).status).toBe(201);
    expect(await app.readBudget()).toMatchObject({ limit: 10_000, spent: 6000, remaining: 4000 });
    const second = await app.requestApproval((await app.createQuote(6000)).id);
    expect([second.status, second.body.detail]).toEqual([
      403,
      expect.stringContaining('The shop allows this application 100.00 EUR per month. 60.00 EUR has already been spent, 40.00 EUR remains'),
    ]);
    await limit(app, null);
    expect(await app.readBudget()).toMatchObject({ limit: 20_000, spent: 0 });
  });
});
