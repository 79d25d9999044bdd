import { expect, test } from 'vitest';
import { z } from 'zod';
import { DeliveryMethod } from '../../server/delivery-methods/delivery-method.entity.ts';
import { readCodeBlocks } from '../support/markdown.ts';
import { obtainLimitedTokens, type RequestedLimits } from '../support/oauth/limited-tokens.ts';
import { obtainTokens, signUp } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';

const shop = withShop();

test('the steps in docs/limits.md have the documented results', async () => {
  const blocks = (await readCodeBlocks('docs/limits.md')).filter(({ language }) => language === 'json');
  const [details, authorization, problem, quote] = blocks.map(({ text }) => z.unknown().parse(JSON.parse(text)));
  const [requested] = z.array(z.custom<RequestedLimits>()).parse(details);
  await shop.db.em
    .fork()
    .insert(DeliveryMethod, { code: 'collection', name: 'Collection', price: 0, currency: 'GBP', requiresAddress: false, active: true });
  const anna = await signUp(shop.origin);
  const { access_token: token } = await obtainLimitedTokens(shop.origin, anna, ['orders.write', 'payments.write'], requested);
  const order = async (price: number, path = '/api/v1/orders') => {
    const product = await shop.createProduct({ price, currency: 'GBP' });
    const delivery = { method: 'collection', recipient_name: 'Anna Test' };
    return shop.callApi('POST', path, { token, body: { items: [{ product_id: product.id, quantity: 1 }], delivery } });
  };
  expect((await order(4500, '/api/v1/quotes')).body).toMatchObject(z.record(z.unknown()).parse(quote));
  expect((await order(4500)).status).toBe(201);
  expect((await shop.callApi('GET', '/api/v1/authorization', { token })).body).toMatchObject(z.record(z.unknown()).parse(authorization));
  expect((await order(6000)).body).toMatchObject(z.record(z.unknown()).parse(problem));

  const { access_token: manager } = await obtainTokens(shop.origin, anna, ['connected_apps.read', 'connected_apps.write']);
  const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token: manager });
  const app = body.data.find(({ scopes }: { scopes: string[] }) => scopes.includes('orders.write'));
  const path = `/api/v1/connected-apps/${app.id}/limits`;
  expect((await shop.callApi('GET', path, { token: manager })).body.budget).toMatchObject({ spent: 4500 });
  expect((await shop.callApi('DELETE', path, { token: manager })).status).toBe(204);
  expect((await order(6000)).status).toBe(201);
});
