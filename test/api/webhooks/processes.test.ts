import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { assignEventSequence } from '../../../server/events/assign-sequence.ts';
import { claimDeliveries, recordDeliveryAttempt } from '../../../server/webhooks/delivery/delivery-queue.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { startMandate, type Answer, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { openShop, type Shop } from '../../support/server/shop.ts';
import { deliver, delivererOf, openReceiver, passSeconds, type Receiver } from '../../support/network/webhook-receiver.ts';

let mandate: Mandate;
let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
});
afterAll(() => mandate.close());
beforeEach(async () => {
  receiver = await openReceiver();
});
afterEach(async () => {
  await receiver.close();
  await mandate.db.em.fork().execute('delete from webhook_endpoints');
});

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  mandate.call(method, `/api/v1/webhook-endpoints${path}`, { token: shop.token, ...(body !== undefined && { body }) });
const endpoint = async (events: string[], url = receiver.url): Promise<Body> => (await call('POST', '', { url, events })).body;

describe('several processes', () => {
  test('share what is to be sent, and send each once', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, async () => (await endpoint(['product.created'])).id));
    for (let i = 0; i < 5; i += 1) await shop.product();
    const deliverers = [delivererOf(mandate), delivererOf(mandate), delivererOf(mandate)];
    await Promise.all([
      assignEventSequence(mandate.db.em.fork(), createWebhookDeliveriesForEvents),
      assignEventSequence(mandate.db.em.fork(), createWebhookDeliveriesForEvents),
    ]);
    await Promise.all(deliverers.map((one) => one.waitUntilIdle()));
    expect(receiver.received).toHaveLength(30);
    for (const id of ids) expect((await call('GET', `/${id}/deliveries?limit=100&status=succeeded`)).body.data).toHaveLength(5);
  });

  test('take over what one of them had in hand when it died, once its time is over', async () => {
    await endpoint(['product.created']);
    await shop.product();
    await assignEventSequence(mandate.db.em.fork(), createWebhookDeliveriesForEvents);
    const room = { total: 10, each: 10, left: new Map() };
    const [taken] = await claimDeliveries(mandate.db.em.fork(), 0, room);
    await deliver(mandate);
    expect(receiver.received).toEqual([]);
    await passSeconds(mandate, 31);
    await deliver(mandate);
    expect(receiver.received).toHaveLength(1);
    // and whoever comes back too late changes nothing
    if (!taken) throw new Error('nothing was taken');
    const late = { at: new Date(), milliseconds: 1, statusCode: 500, error: 'status_code' };
    expect(await recordDeliveryAttempt(mandate.db.em.fork(), taken, 'pending', 0, late)).toBe(false);
  });

  test('an endpoint that never answers holds up nobody else', async () => {
    const silent = await openReceiver();
    silent.answer = () => undefined;
    await endpoint(['product.created'], silent.url);
    await endpoint(['product.created']);
    for (let i = 0; i < 20; i += 1) await shop.product();
    const deliverer = delivererOf(mandate);
    await assignEventSequence(mandate.db.em.fork(), createWebhookDeliveriesForEvents);
    await deliverer.run();
    while (receiver.received.length < 20) await sleep(10);
    expect(silent.received.length).toBeLessThanOrEqual(8);
    await deliverer.stop();
    await silent.close();
  });
});
