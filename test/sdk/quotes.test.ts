import { expect, test } from 'vitest';
import { createClient } from '@mandate/client-sdk';
import { buildOrderInput } from '../support/shop/test-shop.ts';
import { withShop } from '../support/shop/with-shop.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write']);

test('the client creates, reads, lists, converts and cancels quotes', async () => {
  const client = createClient({ baseUrl: shop.origin, auth: anna.token });
  const input = buildOrderInput([await shop.createProduct({ price: 250 }), 2]);
  const [quote, unused] = [await client.quotes.create({ ...input, hold: true }), await client.quotes.create(input)];
  expect(quote).toMatchObject({ status: 'open', total: 500, hold: true });
  expect(await client.orders.create({ quote_id: quote.id })).toMatchObject({ total: 500 });
  expect(await client.quotes.get(quote.id)).toMatchObject({ status: 'converted' });
  const again = await client.orders.create({ quote_id: quote.id }).safe();
  expect(again).toMatchObject({ ok: false, error: { code: 'quote_not_open', errors: [{ code: 'converted' }] } });
  expect(await client.quotes.cancel(unused.id)).toMatchObject({ status: 'canceled' });
  const ids: number[] = [];
  for await (const { id } of client.quotes.list({ status: ['converted', 'canceled'] })) ids.push(id);
  expect(ids).toEqual([unused.id, quote.id]);
});
