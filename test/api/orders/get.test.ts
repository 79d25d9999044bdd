import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);
let placed: JsonBody;

beforeAll(async () => {
  const product = await shop.createProduct();
  const body = buildOrderInput([product, 1]);
  placed = (await shop.callApi('POST', '/api/v1/orders', { token: anna.token, body })).body;
});

const get = (id: number | string, as: string) => shop.callApi('GET', `/api/v1/orders/${id}`, { token: as });

describe('200', () => {
  test('returns an order to its customer as it was placed', async () => {
    expect((await get(placed.id, anna.token)).body).toEqual(placed);
  });

  test('returns it to staff and applications with orders.manage', async () => {
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'admin');
    const { access_token } = await obtainTokens(shop.origin, staffUser, ['orders.read', 'orders.manage']);
    for (const as of [access_token, shop.token]) expect((await get(placed.id, as)).body).toEqual(placed);
  });
});

describe('400', () => {
  test.each(['0', '01', '1.0', '1e3', '0x10', '-1', '%201', 'abc', '9007199254740992', '99999999999999999'])(
    'rejects %s as an id',
    async (id) => {
      const { status, body } = await get(id, anna.token);
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      expect(body.errors).toMatchObject([{ in: 'path', parameter: 'order_id' }]);
    },
  );
});

describe('404', () => {
  test('an order of another customer and an unknown order return the same error', async () => {
    const other = await shop.createAccount('customer', ['orders.read']);
    const [foreign, absent] = [await get(placed.id, other.token), await get(987_654, other.token)];
    const comparableFields = ({ status, body }: typeof foreign, id: number): unknown => [
      status,
      body.code,
      body.title,
      body.detail.replace(String(id), 'N'),
    ];
    expect(comparableFields(foreign, placed.id)).toEqual(comparableFields(absent, 987_654));
    expect(comparableFields(foreign, placed.id)).toEqual([404, 'not_found', 'Not found', 'Order N was not found.']);
  });

  test('staff without orders.manage cannot read orders of customers', async () => {
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'admin');
    const { access_token } = await obtainTokens(shop.origin, staffUser, ['orders.read']);
    expect((await get(placed.id, access_token)).status).toBe(404);
  });

  test('a demoted staff user can no longer read orders of customers', async () => {
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const { access_token } = await obtainTokens(shop.origin, staffUser, ['orders.read', 'orders.manage']);
    expect((await get(placed.id, access_token)).status).toBe(200);
    await shop.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [staffUser.id]);
    expect((await get(placed.id, access_token)).status).toBe(404);
  });
});
