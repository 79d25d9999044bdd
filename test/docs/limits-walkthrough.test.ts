import { expect, test } from 'vitest';
import { z } from 'zod';
import { DeliveryMethod } from '../../server/delivery-methods/delivery-method.entity.ts';
import { readCodeBlocks } from '../support/markdown.ts';
import { submitFormContaining } from '../support/oauth/account-pages.ts';
import { obtainLimitedTokens, type RequestedLimits } from '../support/oauth/limited-tokens.ts';
import { obtainTokens, signUp } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';

const shop = withShop();

test('the steps in docs/limits.md have the documented results', async () => {
  const blocks = (await readCodeBlocks('docs/limits.md')).filter(({ language }) => language === 'json');
  const [details, authorization, problem, approval, quote] = blocks.map(({ text }) => z.unknown().parse(JSON.parse(text)));
  const [requested] = z.array(z.custom<RequestedLimits>()).parse(details);
  await shop.db.em
    .fork()
    .insert(DeliveryMethod, { code: 'collection', name: 'Collection', price: 0, currency: 'GBP', requiresAddress: false, active: true });
  const anna = await signUp(shop.origin);
  const { access_token: token } = await obtainLimitedTokens(shop.origin, anna, ['orders.write', 'payments.write'], requested);
  const send = (path: string, body: unknown) => shop.callApi('POST', `/api/v1${path}`, { token, body });
  const buildInput = async (price: number) => {
    const product = await shop.createProduct({ price, currency: 'GBP' });
    return { items: [{ product_id: product.id, quantity: 1 }], delivery: { method: 'collection', recipient_name: 'Anna Test' } };
  };
  const order = async (price: number) => send('/orders', await buildInput(price));
  expect((await send('/quotes', await buildInput(4500))).body).toMatchObject(z.record(z.unknown()).parse(quote));
  expect((await order(4500)).status).toBe(201);
  expect((await shop.callApi('GET', '/api/v1/authorization', { token })).body).toMatchObject(z.record(z.unknown()).parse(authorization));
  expect((await order(6000)).body).toMatchObject(z.record(z.unknown()).parse(problem));

  const { body: quoteOf60 } = await send('/quotes', await buildInput(6000));
  const requestedApproval = await send('/approvals', { quote_id: quoteOf60.id, message: 'The printer needs paper.' });
  expect(requestedApproval.body).toMatchObject(z.record(z.unknown()).parse(approval));
  const page = await anna.browser.open(`/account/approvals/${requestedApproval.body.id}`);
  await submitFormContaining(anna.browser, page, 'name="decision"', { decision: 'approve' });
  expect((await send('/orders', { quote_id: quoteOf60.id })).status).toBe(201);

  const { access_token: manager } = await obtainTokens(shop.origin, anna, ['connected_apps.read', 'connected_apps.write']);
  const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token: manager });
  const app = body.data.find(({ scopes }: { scopes: string[] }) => scopes.includes('orders.write'));
  const path = `/api/v1/connected-apps/${app.id}/limits`;
  expect((await shop.callApi('GET', path, { token: manager })).body.budget).toMatchObject({ spent: 4500 });
  expect((await shop.callApi('DELETE', path, { token: manager })).status).toBe(204);
  expect((await order(6000)).status).toBe(201);
});
