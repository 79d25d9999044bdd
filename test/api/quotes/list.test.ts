import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);
const ben = shop.customer(['orders.read', 'orders.write']);

const ids = async (query: string, as = anna): Promise<number[]> => {
  const { status, body } = await as.callApi('GET', `/api/v1/quotes?${query}`);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.data.map(({ id }: JsonBody) => id);
};

/** Anna's quotes by status, and Ben's quote. */
let quotes: Readonly<Record<'open' | 'converted' | 'canceled' | 'expired' | 'other', JsonBody>>;
beforeAll(async () => {
  const create = async (as = anna): Promise<JsonBody> =>
    (await as.callApi('POST', '/api/v1/quotes', { body: buildOrderInput([await shop.createProduct(), 1]) })).body;
  const [open, converted, canceled, expired] = [await create(), await create(), await create(), await create()];
  quotes = { open, converted, canceled, expired, other: await create(ben) };
  await anna.callApi('POST', '/api/v1/orders', { body: { quote_id: converted.id } });
  await anna.callApi('POST', `/api/v1/quotes/${canceled.id}/cancellation`);
  await shop.db.em.fork().execute(`update quotes set expires_at = now() - interval '1 second' where id = ?`, [expired.id]);
});

describe('a list of quotes', () => {
  test('contains the quotes of the customer without their items, newest first', async () => {
    const { open, converted, canceled, expired, other } = quotes;
    expect(await ids('')).toEqual([expired.id, canceled.id, converted.id, open.id]);
    expect(await ids('', ben)).toEqual([other.id]);
    const { body } = await anna.callApi('GET', '/api/v1/quotes?include_total=true');
    const { items: _items, ...summary } = open;
    expect([body.data.at(-1), body.total_count]).toEqual([summary, 4]);
  });

  test('contains the quotes with one of the requested statuses', async () => {
    for (const status of ['open', 'converted', 'canceled', 'expired'] as const)
      expect(await ids(`status=${status}`)).toEqual([quotes[status].id]);
    expect(await ids('status=open,canceled')).toEqual([quotes.canceled.id, quotes.open.id]);
    const { body } = await anna.callApi('GET', '/api/v1/quotes?status=sold');
    expect(body.errors).toMatchObject([{ parameter: 'status' }]);
  });

  test('contains the quotes of one application, and of a time range', async () => {
    const { open, converted } = quotes;
    expect(await ids(`client_id=${open.client_id}&status=open`)).toEqual([open.id]);
    expect(await ids('client_id=another')).toEqual([]);
    const range = new URLSearchParams({ created_at_gte: open.created_at, created_at_lt: converted.created_at });
    expect(await ids(String(range))).toEqual([open.id]);
    const { body } = await anna.callApi('GET', `/api/v1/quotes?created_at_gte=${converted.created_at}&created_at_lt=${open.created_at}`);
    expect(body.code).toBe('invalid_request');
  });

  test('of staff contains the quotes of every customer, or of one', async () => {
    const list = async (query: string): Promise<number[]> =>
      (await shop.callApi('GET', `/api/v1/quotes?${query}`, { token: shop.token })).body.data.map(({ id }: JsonBody) => id);
    expect(await list('')).toEqual([quotes.other.id, ...(await ids(''))]);
    expect(await list(`user_id=${ben.id}`)).toEqual([quotes.other.id]);
  });
});
