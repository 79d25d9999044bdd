import { expect, test } from 'vitest';
import { createClient, waitForApproval } from '@mandate/client-sdk';
import { connectApplicationAndDecider } from '../support/shop/approval-requests.ts';
import { buildOrderInput } from '../support/shop/test-shop.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { useEventJobs } from '../support/webhooks/use-event-jobs.ts';

const shop = withShop();
useEventJobs(shop);

test('the client reads the budget, requests, lists and cancels approvals, waits for the decision, and orders', async () => {
  const { app, token } = await connectApplicationAndDecider(shop);
  const application = createClient({ baseUrl: shop.origin, auth: app.token });
  const customer = createClient({ baseUrl: shop.origin, auth: token });
  expect(await application.authorization.get()).toMatchObject({
    authorization_details: [{ limits: { per_order: 5000 }, approval: 'above_limit' }],
    budget: { limit: 20_000, spent: 0, remaining: 20_000 },
  });
  const input = buildOrderInput([await shop.createProduct({ price: 6000 }), 1]);
  const rejected = await application.orders.create(input).safe();
  expect(rejected).toMatchObject({ ok: false, error: { code: 'limit_exceeded', errors: [{ limit: 5000, approvable: true }] } });

  const [quote, unused] = [await application.quotes.create(input), await application.quotes.create(input)];
  const { id } = await application.approvals.create({ quote_id: quote.id, message: 'The printer needs paper.' });
  const canceled = await application.approvals.create({ quote_id: unused.id });
  expect(await application.approvals.cancel(canceled.id)).toMatchObject({ status: 'canceled' });
  const waiting = waitForApproval(application, id);
  for await (const pending of customer.approvals.list({ status: ['pending'] })) await customer.approvals.approve(pending.id);
  expect(await waiting).toMatchObject({ id, status: 'approved' });
  const order = await application.orders.create({ quote_id: quote.id });
  expect(await application.approvals.get(id)).toMatchObject({ status: 'used', order_id: order.id });
});
