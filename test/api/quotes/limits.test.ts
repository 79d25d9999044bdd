import { beforeAll, describe, expect, test } from 'vitest';
import { obtainLimitedTokens, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
let anna: TestUser;
beforeAll(async () => {
  anna = await signUp(shop.origin);
});

const limits = { currency: 'EUR', per_order: 80, per_period: 100, period: 'month' };

/** Connects an application with the given limits to Anna's account, and returns functions that send requests with its token. */
async function connect(details: RequestedLimits) {
  const { access_token: token } = await obtainLimitedTokens(shop.origin, anna, ['orders.read', 'orders.write'], details);
  const product = await shop.createProduct({ price: 10, stock: 1000 });
  const call = (method: string, path: string, body?: object): Promise<ApiResponse> =>
    shop.callApi(method, `/api/v1${path}`, { token, ...(body && { body }) });
  return {
    token,
    product,
    call,
    /** Requests a quote for `quantity` units at 10 cents each. */
    quote: async (quantity: number, more: object = {}): Promise<JsonBody> =>
      (await call('POST', '/quotes', { ...buildOrderInput([product, quantity]), ...more })).body,
    convert: ({ id }: JsonBody): Promise<ApiResponse> => call('POST', '/orders', { quote_id: id }),
  };
}

describe('the limits in a quote', () => {
  test('contain the amounts that remain before and after the order', async () => {
    const app = await connect({ limits });
    const quote = await app.quote(3);
    const budget = { period: 'month', limit: 100, remaining: 100, remaining_after_order: 70, ends_at: expect.any(String) };
    expect(quote.limits).toEqual({ exceeded: null, currency: 'EUR', per_order: 80, budget });
    expect((await app.call('GET', '/authorization')).body.budget).toMatchObject({ spent: 0, ends_at: quote.limits.budget.ends_at });
    expect((await app.convert(quote)).status).toBe(201);
    expect((await app.quote(7)).limits.budget).toMatchObject({ remaining: 70, remaining_after_order: 0 });
    expect((await app.call('GET', '/authorization')).body.budget).toMatchObject({ spent: 30, remaining: 70 });
  });

  test.each([
    ['per_order', { limits }, 9, 10],
    ['per_period', { limits: { ...limits, per_order: 1000 } }, 11, null],
    ['actions', { limits, actions: ['pay'] }, 1, 90],
  ])('name the exceeded limit %s', async (exceeded, details, quantity, remainingAfterOrder) => {
    const app = await connect(details);
    const quote = await app.quote(quantity);
    expect(quote).toMatchObject({ status: 'open', limits: { exceeded, budget: { remaining_after_order: remainingAfterOrder } } });
    const { status, body } = await app.convert(quote);
    expect([status, body.code]).toEqual([403, exceeded === 'actions' ? 'forbidden' : 'limit_exceeded']);
    expect((await app.call('GET', `/quotes/${quote.id}`)).body.status).toBe('open');
  });

  test('contain the currency, but no remaining amount, if the order has another currency', async () => {
    const app = await connect({ limits });
    const product = await shop.createProduct({ price: 10, currency: 'USD' });
    const input = { ...buildOrderInput([product, 1]), delivery: { method: 'overseas', recipient_name: 'Anna Test' } };
    const { body } = await app.call('POST', '/quotes', input);
    expect(body.limits).toMatchObject({ exceeded: 'currency', currency: 'EUR', budget: { remaining: 100, remaining_after_order: null } });
  });

  test('contain the end of the authorization', async () => {
    const app = await connect({ limits, valid_until: new Date(Date.now() + 3_600_000).toISOString() });
    await shop.db.em.fork().execute(`update order_limits set valid_until = now() - interval '1 second' where valid_until is not null`);
    expect((await app.quote(1)).limits).toMatchObject({ exceeded: 'valid_until' });
  });

  test('contain no amounts if the customer set none', async () => {
    const app = await connect({ actions: ['place', 'pay'] });
    expect((await app.quote(1)).limits).toEqual({ exceeded: null, currency: null, per_order: null, budget: null });
  });

  test('are visible only to the application that has them', async () => {
    const [app, other] = [await connect({ limits, orders: 'all' }), await connect({ limits, orders: 'all' })];
    const quote = await app.quote(1);
    const read = async (token: string): Promise<JsonBody> => (await shop.callApi('GET', `/api/v1/quotes/${quote.id}`, { token })).body;
    expect([await read(app.token), (await read(other.token)).limits, (await read(shop.token)).limits]).toEqual([quote, null, null]);
    const [event] = await shop.db.em
      .fork()
      .execute<{ data: JsonBody }[]>(`select data from events where subject_type = 'quote' and subject_id = ?`, [quote.id]);
    expect(event?.data).toEqual({ ...quote, limits: null });
  });
});

test('a quote with `hold` is rejected if the order would exceed a limit, and reserves nothing', async () => {
  const app = await connect({ limits });
  expect(await app.quote(9, { hold: true })).toMatchObject({
    code: 'limit_exceeded',
    errors: [{ pointer: '#/items', limit: 80, requested: 90, available: 80 }],
  });
  expect(await shop.getStock(app.product)).toBe(1000);
});

test('limits that were lowered after the quote apply to the order', async () => {
  const app = await connect({ limits });
  const quote = await app.quote(8);
  await shop.db.em.fork().execute('update order_limits set per_order = 70 where per_order = 80');
  const { status, body } = await app.convert(quote);
  expect([status, body.code, body.errors]).toMatchObject([
    403,
    'limit_exceeded',
    [{ pointer: '#/quote_id', limit: 70, requested: 80, available: 70 }],
  ]);
});
