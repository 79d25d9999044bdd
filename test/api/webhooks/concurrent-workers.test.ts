import { describe, expect, test } from 'vitest';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { claimDueDeliveries, recordDeliveryAttempt } from '../../../server/webhooks/delivery/delivery-queue.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  deliverPendingEvents,
  createDeliveryWorker,
  startWebhookReceiver,
  advanceDeliveryRetries,
} from '../../support/webhooks/webhook-receiver.ts';
import { withWebhookReceiver } from '../../support/webhooks/with-webhook-receiver.ts';
import { waitUntil } from '../../support/wait-until.ts';

const shop = withShop();
const receiver = withWebhookReceiver(shop);

const call = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1/webhook-endpoints${path}`, { token: shop.token, ...(body !== undefined && { body }) });
const createEndpoint = async (events: string[], url = receiver.url): Promise<JsonBody> => (await call('POST', '', { url, events })).body;

describe('several delivery workers', () => {
  test('share the pending deliveries, and send each one once', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, async () => (await createEndpoint(['product.created'])).id));
    for (let i = 0; i < 5; i += 1) await shop.createProduct();
    const deliverers = [createDeliveryWorker(shop), createDeliveryWorker(shop), createDeliveryWorker(shop)];
    await Promise.all([
      assignEventSequenceNumbers(shop.db.em.fork(), createWebhookDeliveriesForEvents),
      assignEventSequenceNumbers(shop.db.em.fork(), createWebhookDeliveriesForEvents),
    ]);
    await Promise.all(deliverers.map((one) => one.waitUntilIdle()));
    expect(receiver.deliveries).toHaveLength(30);
    for (const id of ids) expect((await call('GET', `/${id}/deliveries?limit=100&status=succeeded`)).body.data).toHaveLength(5);
  });

  test('take over a claimed delivery after the lease of a crashed worker has expired', async () => {
    await createEndpoint(['product.created']);
    await shop.createProduct();
    await assignEventSequenceNumbers(shop.db.em.fork(), createWebhookDeliveriesForEvents);
    const capacity = { total: 10, each: 10, left: new Map() };
    const [claimed] = await claimDueDeliveries(shop.db.em.fork(), 0, capacity);
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toEqual([]);
    await advanceDeliveryRetries(shop, 31);
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toHaveLength(1);
    // if the crashed worker's attempt completes late, nothing changes
    if (!claimed) throw new Error('no delivery was claimed');
    const lateAttempt = {
      at: new Date(),
      milliseconds: 1,
      statusCode: 500,
      error: 'status_code',
      exchange: { request: null, response: null },
    };
    expect(await recordDeliveryAttempt(shop.db.em.fork(), claimed, 'pending', 0, lateAttempt)).toBe(false);
  });

  test('an endpoint that never responds does not delay other endpoints', async () => {
    const unresponsive = await startWebhookReceiver();
    unresponsive.handleDelivery = () => undefined;
    await createEndpoint(['product.created'], unresponsive.url);
    await createEndpoint(['product.created']);
    for (let i = 0; i < 20; i += 1) await shop.createProduct();
    const deliverer = createDeliveryWorker(shop);
    await assignEventSequenceNumbers(shop.db.em.fork(), createWebhookDeliveriesForEvents);
    await deliverer.run();
    await waitUntil(() => receiver.deliveries.length >= 20);
    expect(unresponsive.deliveries.length).toBeLessThanOrEqual(8);
    await deliverer.stop();
    await unresponsive.close();
  });
});
