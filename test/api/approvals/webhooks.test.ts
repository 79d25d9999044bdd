import { expect, test } from 'vitest';
import { connectApplicationAndDecider, connectRequestingApplication, requestApprovalOf60 } from '../../support/shop/approval-requests.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { deliverPendingEvents } from '../../support/webhooks/webhook-receiver.ts';
import { withWebhookReceiver } from '../../support/webhooks/with-webhook-receiver.ts';

const shop = withShop();

const [receiver, receiverOfOther] = [withWebhookReceiver(shop), withWebhookReceiver(shop)];

test('webhooks report each decision to the application that requested the approval, and nothing to another application', async () => {
  const { anna, app, decide } = await connectApplicationAndDecider(shop);
  const other = await connectRequestingApplication(shop, anna);
  for (const [owner, { url }] of [[app, receiver] as const, [other, receiverOfOther] as const])
    expect((await owner.post('/webhook-endpoints', { url, events: ['approval.*', 'order.*'] })).status).toBe(201);
  const [approved, declined] = [await requestApprovalOf60(app), await requestApprovalOf60(app)];
  await decide(approved.id, 'approval');
  await decide(declined.id, 'decline');
  await deliverPendingEvents(shop);
  const received = receiver.deliveries.map(({ body: { type, data } }) => [type, data.object.id, data.object.status]);
  expect(received).toEqual(
    expect.arrayContaining([
      ['approval.approved', approved.id, 'approved'],
      ['approval.declined', declined.id, 'declined'],
    ]),
  );
  expect(received).toHaveLength(4);
  expect(receiverOfOther.deliveries).toEqual([]);
  const own = await other.createQuote(1000);
  expect((await other.orderFromQuote(own.id)).status).toBe(201);
  await deliverPendingEvents(shop);
  expect(receiverOfOther.deliveries.map(({ body }) => body.type)).toEqual(['order.created']);
});
