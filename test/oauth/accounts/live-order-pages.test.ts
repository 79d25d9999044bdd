import { expect, test } from 'vitest';
import { obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { useEventJobs } from '../../support/webhooks/use-event-jobs.ts';

const shop = withShop();
useEventJobs(shop);

/** Returns the path that the page's script requests to wait for a change. */
const readLivePath = (text: string): string => (/data-live="([^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');

test.each(['/account', '/account/orders'])('%s responds to a waiting page as soon as the customer has a new order', async (path) => {
  const anna = await signUp(shop.origin);
  const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
  const product = await shop.createProduct();
  const { text, response } = await anna.browser.open(path);
  expect(response.headers.get('content-security-policy')).toContain(`connect-src 'self'`);
  const waiting = anna.browser.open(readLivePath(text));
  await shop.placeOrder(buildOrderInput([product, 1])); // another customer's order does not end the wait
  const { id } = await shop.placeOrder(buildOrderInput([product, 1]), token);
  const { text: changed } = await waiting;
  expect(changed).toContain(`href="/account/orders/${id}"`);
  expect(readLivePath(changed)).not.toBe(readLivePath(text));
});

test('the page of an order responds to a waiting page as soon as the order is paid', async () => {
  const anna = await signUp(shop.origin);
  const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
  const { id } = await shop.placeOrder(buildOrderInput([await shop.createProduct(), 1]), token);
  const { text } = await anna.browser.open(`/account/orders/${id}`);
  expect(text).toContain('Waiting for payment');
  const waiting = anna.browser.open(readLivePath(text));
  const { body: payment } = await shop.callApi('POST', `/api/v1/orders/${id}/payments`, {
    token: shop.token,
    body: { provider: 'manual' },
  });
  await shop.callApi('POST', `/api/v1/payments/${payment.id}/confirmation`, { token: shop.token, body: {} });
  expect((await waiting).text).toContain('Paid');
});

test('an older page of the list waits for changes to the same orders', async () => {
  const anna = await signUp(shop.origin);
  const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
  const product = await shop.createProduct();
  const [old, newer] = [
    await shop.placeOrder(buildOrderInput([product, 1]), token),
    await shop.placeOrder(buildOrderInput([product, 1]), token),
  ];
  const { text } = await anna.browser.open(`/account/orders?older_than=${newer['id']}`);
  const path = readLivePath(text);
  expect(path).toMatch(new RegExp(`^/account/orders\\?older_than=${newer['id']}&wait=25&seen=`));
  const { text: unchanged } = await anna.browser.open(path.replace('wait=25', 'wait=1'));
  expect(readLivePath(unchanged)).toBe(path);
  const waiting = anna.browser.open(path);
  const cancel = { token: shop.token, body: { reason: 'staff' } };
  expect((await shop.callApi('POST', `/api/v1/orders/${old['id']}/cancellation`, cancel)).status).toBeLessThan(300);
  expect((await waiting).text).toContain('Canceled');
});
