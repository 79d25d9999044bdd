import { expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

const codes = (data: JsonBody[]): string[] => data.map(({ code }) => code);

test('200: lists active delivery methods for all callers, cheapest first', async () => {
  const { status, body } = await shop.callApi('GET', '/api/v1/delivery-methods');
  expect([status, codes(body.data), body.has_more]).toEqual([200, ['pickup', 'overseas', 'standard'], false]);
  expect((await shop.callApi('GET', '/api/v1/delivery-methods?x=1')).body.errors[0].code).toBe('unknown_parameter');
});

test('200 with the ETag that PUT accepts; 404 for a deleted or unknown method', async () => {
  const { status, body, headers } = await shop.callApi('GET', '/api/v1/delivery-methods/standard');
  expect([status, body]).toEqual([
    200,
    { code: 'standard', name: 'Standard', price: 395, currency: 'EUR', requires_address: true, version: 1 },
  ]);
  const { code: _, version: __, ...method } = body;
  const etag = headers.get('etag') ?? '';
  const replaced = await shop.callApi('PUT', '/api/v1/delivery-methods/standard', {
    token: shop.token,
    body: method,
    headers: { 'if-match': etag },
  });
  expect([replaced.status, replaced.body.version]).toEqual([200, 2]);
  for (const code of ['drone', 'unknown']) {
    expect((await shop.callApi('GET', `/api/v1/delivery-methods/${code}`)).body.code).toBe('not_found');
  }
  const created = await shop.callApi('PUT', '/api/v1/delivery-methods/tram', { token: shop.token, body: method });
  expect(created.headers.get('location')).toBe('/api/v1/delivery-methods/tram');
  expect((await shop.callApi('GET', '/api/v1/delivery-methods/tram')).headers.get('etag')).toBe(created.headers.get('etag'));
});

test('more than a hundred methods are listed in pages, even with equal prices', async () => {
  const em = shop.db.em.fork();
  await em.execute(`insert into delivery_methods (code, name, price, currency)
    select 'm' || n, 'Method', n % 7, 'EUR' from generate_series(1, 130) n`);
  const first = await shop.callApi('GET', '/api/v1/delivery-methods');
  expect([first.body.data.length, first.body.has_more]).toEqual([100, true]);
  const allMethods: JsonBody[] = [];
  for (let cursor = ''; ;) {
    const { body } = await shop.callApi('GET', `/api/v1/delivery-methods?limit=9${cursor}`);
    allMethods.push(...body.data);
    if (!body.has_more) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  const expected = await em.execute<{ code: string }[]>('select code from delivery_methods where active order by price, code');
  expect(codes(allMethods)).toEqual(expected.map(({ code }) => code));
});
