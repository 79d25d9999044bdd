import { expect, test } from 'vitest';
import { obtainLimitedTokens, obtainLimitedTokensOfApplication } from '../../support/oauth/limited-tokens.ts';
import { createWebApplication, signUp } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const staff = shop.staff(['users.manage', 'connected_apps.read']);

const limits = { currency: 'EUR', per_order: 5000, per_period: 10_000, period: 'month' };

test('GET /users/{user_id}/connected-apps: staff see the applications of a customer with their limits and spending', async () => {
  const anna = await signUp(shop.origin);
  const app = await createWebApplication(shop.db, ['orders.write']);
  const { access_token: token } = await obtainLimitedTokensOfApplication(shop.origin, anna, app, ['orders.write'], { limits });
  await obtainLimitedTokens(shop.origin, anna, ['connected_apps.read'], undefined);
  const product = await shop.createProduct({ price: 2500 });
  const order = await shop.callApi('POST', '/api/v1/orders', { token, body: buildOrderInput([product, 1]) });
  expect(order.status, order.text).toBe(201);
  const path = `/api/v1/users/${anna.id}/connected-apps`;
  const { status, body } = await staff.callApi('GET', path);
  expect(status).toBe(200);
  // The oldest application is the one through which the test read the customer's ID.
  expect(body.data.slice(0, 2)).toMatchObject([
    {
      application: { client_id: 'mandate-cli', first_party: true },
      scopes: expect.arrayContaining(['connected_apps.read']),
      limits: { budget: null, budgets: [] },
    },
    {
      application: { client_id: app.clientId, first_party: false },
      scopes: expect.arrayContaining(['orders.write']),
      limits: {
        authorization_details: [{ limits }],
        customer_limits: [{ limits }],
        budget: { limit: 10_000, spent: order.body.total, remaining: 10_000 - order.body.total },
        budgets: [{ set_by: 'customer' }],
      },
    },
  ]);
  const first = await staff.callApi('GET', `${path}?limit=1`);
  const second = await staff.callApi('GET', `${path}?limit=1&cursor=${first.body.next_cursor}`);
  expect([...first.body.data, ...second.body.data]).toEqual(body.data.slice(0, 2));
});

test('an application that can access only its own orders does not see what other applications may spend', async () => {
  const scopes = ['users.manage'] as const;
  const application = await createWebApplication(shop.db, scopes);
  const tokens = await obtainLimitedTokensOfApplication(shop.origin, staff, application, scopes, { orders: 'own' });
  const { status, body } = await shop.callApi('GET', `/api/v1/users/${(await signUp(shop.origin)).id}/connected-apps`, {
    token: tokens.access_token,
  });
  expect([status, body.code]).toEqual([403, 'forbidden']);
});
