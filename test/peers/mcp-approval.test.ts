import { expect, test } from 'vitest';
import { callMcpTool, connectMcpClient } from '../support/mcp/mcp-client.ts';
import { signUp } from '../support/oauth/oauth-flow.ts';
import { readMailLink } from '../support/services/mailbox.ts';
import { buildOrderInput } from '../support/shop/test-shop.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { useEventJobs } from '../support/webhooks/use-event-jobs.ts';

const shop = withShop();
useEventJobs(shop);

test('an assistant spends its budget, is rejected, requests an approval, and orders after the approval', async () => {
  const anna = await signUp(shop.origin);
  const consentForm = { decision: 'allow', limit_currency: 'EUR', limit_per_period: '50', limit_period: 'month' };
  const suffix = '?tools=orders,quotes,approvals';
  const assistant = await connectMcpClient(shop.origin, anna, ['orders.read', 'orders.write'], { consentForm, suffix });
  const order = async (price: number) => buildOrderInput([await shop.createProduct({ price }), 1]);
  expect((await callMcpTool(assistant, 'orders_create', await order(4500))).isError).toBe(false);

  const tooMuch = await order(2000);
  const rejected = await callMcpTool(assistant, 'orders_create', tooMuch);
  expect(rejected).toMatchObject({ isError: true, body: { code: 'limit_exceeded' } });
  for (const tool of ['quotes_create', 'approvals_create']) expect(rejected.text).toContain(tool);

  const quote = await callMcpTool(assistant, 'quotes_create', tooMuch);
  const requested = await callMcpTool(assistant, 'approvals_create', { quote_id: quote.body.id, message: 'The printer needs paper.' });
  expect(requested.body).toMatchObject({ status: 'pending', reason: { code: 'per_period', limit: 5000, spent: 4500 } });
  const early = await callMcpTool(assistant, 'orders_create', { quote_id: quote.body.id });
  expect([early.isError, early.text]).toEqual([
    true,
    expect.stringMatching(/approval of this order is pending \(approval \d+\).*`approvals_get`/),
  ]);
  expect(early.text, 'no offer of another request').not.toContain('approvals_create');

  const waiting = callMcpTool(assistant, 'approvals_get', { approval_id: requested.body.id, wait: 30 });
  const page = await anna.browser.open(await readMailLink(shop.origin, anna.email));
  await anna.browser.submit(page, { decision: 'approve' });
  expect((await waiting).body).toMatchObject({ status: 'approved' });
  const placed = await callMcpTool(assistant, 'orders_create', { quote_id: quote.body.id });
  expect([placed.isError, placed.body.total]).toEqual([false, 2000]);
  await assistant.close();
});
