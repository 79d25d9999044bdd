import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { orderDetailsParameter, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { authorizationPath, buildAuthorizationRequest, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import {
  connectApplication,
  createProductsInCategories,
  limitedTo,
  moveProduct,
  offeredCategories,
} from '../../support/shop/category-limits.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
let products: Record<'books' | 'tea' | 'office', number>;
beforeAll(async () => {
  products = await createProductsInCategories(shop, ['books', 'tea', 'office']);
});

const callAsAdmin = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1${path}`, { token: shop.token, ...(body !== undefined && { body }) });

async function setCeiling({ client }: { readonly client: { readonly clientId: string } }, ceiling: unknown): Promise<ApiResponse> {
  const { body } = await callAsAdmin('GET', '/applications?limit=100');
  const { id } = body.data.find((each: JsonBody) => each.client_id === client.clientId);
  return callAsAdmin('PATCH', `/applications/${id}`, { order_products_ceiling: ceiling });
}
const setMaximum = (_app: unknown, maximum: unknown): Promise<ApiResponse> =>
  callAsAdmin('PATCH', '/order-limit-settings', { maximum_products: maximum });
afterEach(() => callAsAdmin('PATCH', '/order-limit-settings', { maximum_products: null, default_products: null }));

describe('a change by the customer', () => {
  async function connectWithAccount(...categories: string[]) {
    const app = await connectApplication(shop, limitedTo(...categories));
    const { access_token: token } = await obtainTokens(shop.origin, app.anna, ['connected_apps.read', 'connected_apps.write']);
    const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token });
    const { id } = body.data.find((each: JsonBody) => each.application.client_id === app.client.clientId);
    const set = (limits: object): Promise<ApiResponse> =>
      shop.callApi('PUT', `/api/v1/connected-apps/${id}/limits`, { token, body: limits });
    return { ...app, set };
  }

  test('applies to the next order', async () => {
    const app = await connectWithAccount('books', 'tea');
    expect((await app.set(limitedTo('books'))).body.authorization_details).toMatchObject([limitedTo('books')]);
    expect([(await app.order(products.tea)).status, (await app.order(products.books)).status]).toEqual([403, 201]);
    await app.set({});
    expect((await app.order(products.office)).status).toBe(201);
  });

  test('can keep a category without products, but cannot add one', async () => {
    const app = await connectWithAccount('books', 'tea');
    const { id } = await shop.createProduct({ category: 'seasonal' });
    expect((await app.set(limitedTo('seasonal'))).status).toBe(200);
    await moveProduct(shop, id, 'office');
    expect((await app.set(limitedTo('books', 'seasonal'))).status).toBe(200);
    const { status, body } = await app.set(limitedTo('books', 'unheard-of'));
    expect([status, body.errors]).toMatchObject([400, [{ pointer: '#/products/categories/1', code: 'unknown_reference' }]]);
    expect(await app.details()).toMatchObject(limitedTo('books', 'seasonal'));
  });

  test('on the account page is described in words', async () => {
    const app = await connectWithAccount('books', 'tea');
    expect((await app.anna.browser.open('/account/apps')).text).toContain('Only products in these categories: books and tea');
  });
});

/** Two ways in which an administrator can limit an application. Both have the same effect. */
describe.each([
  ['the ceiling of the application', setCeiling],
  ['the maximum of the shop', setMaximum],
])('%s', (_name, limit) => {
  test('limits an existing grant without limits from the next request on', async () => {
    const app = await connectApplication(shop, undefined);
    expect((await app.order(products.office)).status).toBe(201);
    expect((await limit(app, { categories: ['books', 'tea'] })).status).toBe(200);
    const { status, body } = await app.order(products.office);
    expect([status, body.detail]).toEqual([
      403,
      `Only products in the categories books and tea can be ordered, and product ${products.office} is in the category office. Order only products in these categories. Only an administrator of the shop can change this.`,
    ]);
    expect(await app.details()).toMatchObject(limitedTo('books', 'tea'));
    await limit(app, null);
    expect((await app.order(products.office)).status).toBe(201);
  });

  test('and the limits of the customer permit only the categories that they have in common', async () => {
    const app = await connectApplication(shop, limitedTo('books', 'tea'));
    await limit(app, { categories: ['tea', 'office'] });
    expect(await app.details()).toMatchObject(limitedTo('tea'));
    const orders = [await app.order(products.tea), await app.order(products.books), await app.order(products.office)];
    expect(orders.map(({ status }) => status)).toEqual([201, 403, 403]);
    expect(orders[1]?.body.errors).toMatchObject([{ category: 'books', permitted_categories: ['tea'], approvable: false }]);
    expect(orders[2]?.body).toMatchObject({
      detail: expect.stringMatching(/^Only products in the category tea can be ordered, .*The customer can change this/),
      errors: [{ category: 'office', approvable: true }],
    });
    await limit(app, { categories: ['office'] });
    const { body } = await app.order(products.tea);
    expect([body.detail, (await app.details()).products]).toMatchObject([
      expect.stringContaining('have no product category in common, and product'),
      { categories: [] },
    ]);
  });

  test('tightens the consent page, and rejects requests for other categories', async () => {
    const { client, anna, ...app } = await connectApplication(shop, undefined);
    await limit({ client, ...app }, { categories: ['books', 'tea'] });
    const open = (details: RequestedLimits | undefined) =>
      anna.browser.open(
        authorizationPath(
          buildAuthorizationRequest({
            client_id: client.clientId,
            redirect_uri: client.redirectUri,
            scope: 'openid orders.write',
            prompt: 'consent',
            ...(details && { authorization_details: orderDetailsParameter(details) }),
          }).query,
        ),
      );
    expect(Object.fromEntries((await open(limitedTo('books', 'office'))).externalRedirect?.searchParams ?? [])).toMatchObject({
      error: 'invalid_authorization_details',
      error_description: 'products.categories: for this application, the category office is not permitted (permitted: books, tea)',
    });
    const { text } = await open(undefined);
    expect(text).toContain('to order only products in these categories:');
    expect(offeredCategories(text)).toEqual(['books', 'tea']);
  });
});

test('the default is proposed on the consent page, and must be within the maximum', async () => {
  const set = (change: object): Promise<ApiResponse> => callAsAdmin('PATCH', '/order-limit-settings', change);
  expect((await set({ default_products: { categories: ['books', 'tea'] } })).body.default_products).toEqual({
    categories: ['books', 'tea'],
  });
  const app = await connectApplication(shop, undefined, { limit_category: ['books', 'tea'] });
  expect(await app.details()).toMatchObject(limitedTo('books', 'tea'));
  const { status, body } = await set({ maximum_products: { categories: ['books'] } });
  expect([status, body.errors]).toMatchObject([400, [{ pointer: '#/default_products/categories', code: 'out_of_range' }]]);
});
