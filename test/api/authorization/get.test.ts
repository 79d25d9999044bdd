import { describe, expect, test } from 'vitest';
import { obtainLimitedTokens } from '../../support/oauth/limited-tokens.ts';
import { obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';

const shop = withShop();

const getAuthorization = (token: string) => shop.callApi('GET', '/api/v1/authorization', { token });

describe('200', () => {
  test('a token with limits: scopes, details and budget use', async () => {
    const anna = await signUp(shop.origin);
    const limits = { currency: 'EUR', per_order: 5000, per_period: 20_000, period: 'month' };
    const { access_token: token } = await obtainLimitedTokens(shop.origin, anna, ['orders.write'], { limits });
    const product = await shop.createProduct({ price: 1234 });
    await shop.placeOrder(buildOrderInput([product, 1]), token);
    const { status, body } = await getAuthorization(token);
    expect(body.budgets).toEqual([body.budget]);
    expect([status, body]).toEqual([
      200,
      {
        client_id: 'mandate-cli',
        user_id: anna.id,
        scopes: ['orders.write'],
        authorization_details: [
          { type: 'mandate_orders', actions: ['place', 'pay', 'cancel'], limits, orders: 'all', approval: 'above_limit' },
        ],
        budget: {
          currency: 'EUR',
          period: 'month',
          limit: 20_000,
          spent: 1234,
          remaining: 18_766,
          starts_at: expect.stringMatching(/^\d{4}-\d{2}-01T00:00:00\.000Z$/),
          ends_at: expect.stringMatching(/^\d{4}-\d{2}-01T00:00:00\.000Z$/),
          time_zone: 'UTC',
          set_by: 'customer',
        },
        budgets: [expect.anything()],
      },
    ]);
    expect(Date.parse(body.budget.ends_at)).toBeGreaterThan(Date.now());
    expect(Date.parse(body.budget.starts_at)).toBeLessThanOrEqual(Date.now());
  });

  test('a token without limits', async () => {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.read']);
    expect((await getAuthorization(token)).body).toEqual({
      client_id: 'mandate-cli',
      user_id: anna.id,
      scopes: ['orders.read'],
      authorization_details: [],
      budget: null,
      budgets: [],
    });
  });

  test('an application that acts on its own behalf', async () => {
    const { body } = await getAuthorization(shop.token);
    expect(body).toMatchObject({ user_id: null, authorization_details: [], budget: null });
    expect(body.scopes).toContain('orders.manage');
  });
});

test('401 without a token', async () => {
  expect((await shop.callApi('GET', '/api/v1/authorization')).body.code).toBe('missing_token');
});
