import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });
const anna = shop.customer(['orders.read', 'orders.write']);
const staff = shop.staff(['orders.manage', 'tasks.read', 'tasks.write']);
let product: JsonBody;
let ofAnna: JsonBody;
let ofMiller: JsonBody;
let miller: JsonBody;

beforeAll(async () => {
  product = await shop.createProduct();
  ofAnna = await shop.placeOrder({ ...buildOrderInput([product, 1]), reference: 'PO-77' }, anna.token);
  const user = { name: '100%_Miller & Sons', email: 'Office@Miller.example' };
  miller = (await shop.callApi('POST', '/api/v1/users', { token: shop.token, body: user })).body;
  ofMiller = await shop.placeOrder({ ...buildOrderInput([product, 2]), user_id: miller.id });
  await shop.placeOrder();
});

const list = (query: string, token = staff.token): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/orders?${query}`, { token });
const search = async (text: string, more = '', token = staff.token): Promise<number[]> => {
  const { status, body } = await list(`q=${encodeURIComponent(text)}${more}`, token);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.data.map(({ id }: JsonBody) => id);
};

describe('q', () => {
  test('finds orders by number, reference, SKU, e-mail address and part of the name', async () => {
    expect(await search(String(ofAnna.id))).toEqual([ofAnna.id]);
    expect(await search('PO-77')).toEqual([ofAnna.id]);
    expect(await search(product.sku)).toEqual([ofMiller.id, ofAnna.id]);
    expect(await search('office@miller.EXAMPLE')).toEqual([ofMiller.id]);
    expect(await search('miller & s')).toEqual([ofMiller.id]);
    expect(await search('100%_mil')).toEqual([ofMiller.id]);
  });

  test('supports no wildcards, and finds neither parts of e-mail addresses nor very short parts of names', async () => {
    for (const text of ['1%0_Mil', '%%%', '___', 'office@', 'Mi', 'PO-7', '99999999999999999999']) expect(await search(text)).toEqual([]);
  });

  test('combines with other filters, pages and totals', async () => {
    expect(await search(product.sku, '&status=canceled')).toEqual([]);
    expect(await search(product.sku, `&id=${ofAnna.id}`)).toEqual([ofAnna.id]);
    expect(await search(product.sku, '&sort=created_at')).toEqual([ofAnna.id, ofMiller.id]);
    const { body: first } = await list(`q=${product.sku}&limit=1&include_total=true`);
    expect([first.data[0].id, first.total_count]).toEqual([ofMiller.id, 2]);
    expect((await list(`q=${product.sku}&limit=1&cursor=${first.next_cursor}`)).body.data[0].id).toBe(ofAnna.id);
    const { status, body } = await list(`q=other&limit=1&cursor=${first.next_cursor}`);
    expect([status, body.code]).toEqual([400, 'cursor_mismatch']);
  });

  test("finds only a customer's own orders", async () => {
    expect(await search(product.sku, '', anna.token)).toEqual([ofAnna.id]);
    for (const text of [String(ofMiller.id), 'miller', 'office@miller.example']) expect(await search(text, '', anna.token)).toEqual([]);
  });

  test('filters an export', async () => {
    const body = { q: 'miller', columns: ['id'] };
    const started = await shop.callApi('POST', '/api/v1/order-exports', { token: staff.token, body });
    const { file } = await completeTask(shop, staff.token, started);
    expect(parse(file, { columns: true })).toEqual([{ id: String(ofMiller.id) }]);
  });
});

describe('include=customer,client', () => {
  test('returns the names of the customer and of the application', async () => {
    const { body } = await list(`include=customer,client&q=${product.sku}`);
    expect(body.data.map(({ customer, client }: JsonBody) => ({ customer, client }))).toEqual([
      { customer: { id: miller.id, name: miller.name }, client: { client_id: ofMiller.client_id, name: expect.any(String) } },
      { customer: { id: anna.id, name: anna.name }, client: { client_id: ofAnna.client_id, name: expect.any(String) } },
    ]);
    const v2 = await shop.callApi('GET', `/api/v2/orders?include=customer&id=${ofMiller.id}`, { token: staff.token });
    expect(v2.body.data[0]).toMatchObject({ customer: { name: miller.name }, shipping_method: 'pickup' });
  });

  test('returns null for an order without an application, and a null name for a deleted application', async () => {
    const em = shop.db.em.fork();
    await em.execute('update orders set client_id = null where id = ?', [ofAnna.id]);
    await em.execute(`update orders set client_id = 'deleted' where id = ?`, [ofMiller.id]);
    const { body } = await list(`include=items,client&q=${product.sku}`);
    expect(body.data.map(({ client }: JsonBody) => client)).toEqual([{ client_id: 'deleted', name: null }, null]);
    expect(body.data[0].items).toHaveLength(1);
  });

  test('without the parameter, no name is returned', async () => {
    const { body } = await list(`id=${ofMiller.id}`);
    expect(body.data[0]).not.toHaveProperty('customer');
    expect(body.data[0]).not.toHaveProperty('client');
  });

  test.each(['customer', 'client', 'items,customer'])('403 for a customer with include=%s', async (include) => {
    const { status, body } = await list(`include=${include}`, anna.token);
    expect([status, body.code, body.detail]).toEqual([403, 'forbidden', expect.stringContaining('`orders.manage`')]);
  });
});
