/** Tests that signals trigger event deliveries without polling, and that an idle server does not poll. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { getEventSignalsOfDatabase } from '../../../server/events/event-signals.ts';
import { EventLongPoller } from '../../../server/events/event-long-poll.ts';
import { countQueries } from '../../support/services/count-queries.ts';
import { createMigratedDatabase } from '../../support/services/database.ts';
import { hourMs, readLastSequence, waitForEventSequence, mockPollInterval, startEventJobs } from '../../support/webhooks/event-jobs.ts';
import { startMandateServer } from '../../support/server/start-mandate.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { createTestShop, pickupDelivery } from '../../support/shop/test-shop.ts';
import { startWebhookReceiver } from '../../support/webhooks/webhook-receiver.ts';

requireOneProcess('the tests start the background jobs in the test process');

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

test('an idle server with a long poll does not poll for events or deliveries', async () => {
  const db = await createMigratedDatabase();
  cleanUps.push(() => db.close());
  getEventSignalsOfDatabase(db.em).receivesAllSignals = true;
  const queries = countQueries(db);
  const newEvents = new EventLongPoller(db.em);
  cleanUps.push(() => newEvents.stop());
  cleanUps.push(startEventJobs(db));
  void newEvents.wait(0, 60_000, new AbortController().signal);
  await expect.poll(queries).toBeGreaterThanOrEqual(4); // each job polls once at startup
  const atStart = queries();
  await sleep(3_000);
  expect(queries() - atStart).toBeLessThanOrEqual(1);
});

test('a long poll ends when its client disconnects', async () => {
  mockPollInterval(hourMs, hourMs);
  const db = await createMigratedDatabase();
  const wait = vi.spyOn(EventLongPoller.prototype, 'wait');
  const mandate = await startMandateServer({ db, development: true });
  cleanUps.push(() => mandate.close());
  const { token } = await createTestShop(mandate);
  const caller = new AbortController();
  const request = fetch(`${mandate.origin}/api/v1/events?wait=25`, {
    headers: { authorization: `Bearer ${token}` },
    signal: caller.signal,
  });
  await expect.poll(() => wait.mock.results.length, { timeout: 10_000 }).toBe(1);
  let hasEnded = false;
  void wait.mock.results[0]?.value.then(() => (hasEnded = true));
  await mandate.callApi('GET', '/api/v1/products');
  expect(hasEnded).toBe(false);
  caller.abort();
  await expect(request).rejects.toThrow('aborted');
  await expect.poll(() => hasEnded, { timeout: 5_000 }).toBe(true);
  await mandate.callApi('GET', '/api/v1/products');
  expect(wait).toHaveBeenCalledTimes(1);
});

test("signals alone deliver an order's event to a webhook and a long poll", async () => {
  mockPollInterval(hourMs, hourMs);
  const db = await createMigratedDatabase();
  const mandate = await startMandateServer({ db, development: true });
  cleanUps.push(() => mandate.close());
  const shop = await createTestShop(mandate);
  const { token } = shop;
  const receiver = await startWebhookReceiver();
  cleanUps.push(() => receiver.close());
  const call = (method: string, path: string, body?: unknown) =>
    mandate.callApi(method, `/api/v1${path}`, { token, ...(body !== undefined && { body }) });
  cleanUps.push(startEventJobs(db));
  expect((await call('POST', '/webhook-endpoints', { url: receiver.url, events: ['order.created'] })).status).toBe(201);
  const items = [{ product_id: (await shop.createProduct({ stock: 5 })).id, quantity: 1 }];
  const user = await shop.createUser();
  await expect.poll(() => readLastSequence(db.em)).toBeGreaterThan(0);
  const { body: before } = await call('GET', '/events?limit=100');
  const wait = vi.spyOn(EventLongPoller.prototype, 'wait');
  const waiting = call('GET', `/events?after=${before.latest_id}&wait=20&type=order.*`);
  await expect.poll(() => wait.mock.calls.length, { timeout: 10_000 }).toBeGreaterThan(0);
  const { body: order } = await call('POST', '/orders', { user_id: user.id, items, delivery: pickupDelivery });
  expect((await waiting).body.data).toMatchObject([{ type: 'order.created', subject: { id: order.id } }]);
  await expect.poll(() => receiver.deliveries.length, { timeout: 10_000 }).toBe(1);

  const { body: endpoints } = await call('GET', '/webhook-endpoints');
  const redelivery = await call('POST', `/webhook-endpoints/${endpoints.data[0].id}/redeliveries`, {
    event_id: receiver.deliveries[0]?.body.id,
  });
  expect(redelivery.status).toBe(202);
  await expect.poll(() => receiver.deliveries.length, { timeout: 10_000 }).toBe(2);
});

test('a failed delivery is retried after 5 seconds without polling', { timeout: 30_000 }, async () => {
  mockPollInterval(hourMs, hourMs);
  const db = await createMigratedDatabase();
  const mandate = await startMandateServer({ db, development: true });
  cleanUps.push(() => mandate.close());
  const { token } = await createTestShop(mandate);
  const receiver = await startWebhookReceiver();
  cleanUps.push(() => receiver.close());
  receiver.handleDelivery = (_, res) => res.writeHead(receiver.deliveries.length === 1 ? 500 : 204).end();
  cleanUps.push(startEventJobs(db));
  const { body } = await mandate.callApi('POST', '/api/v1/webhook-endpoints', {
    token,
    body: { url: receiver.url, events: ['order.paid'] },
  });
  await mandate.callApi('POST', `/api/v1/webhook-endpoints/${body.id}/test-events`, { token });
  await expect.poll(() => receiver.deliveries.length, { timeout: 20_000 }).toBe(2);
});

test('the next poll finds an event whose signal was lost', async () => {
  mockPollInterval(200, 200);
  const db = await createMigratedDatabase();
  cleanUps.push(() => db.close());
  cleanUps.push(startEventJobs(db));
  await waitForEventSequence(db.em, 0);
  await db.em.fork().execute(`insert into events (type, subject_type, subject_id, data) values ('order.paid', 'order', 1, '{}')`);
  await waitForEventSequence(db.em, 1);
  expect(await readLastSequence(db.em)).toBe(1);
});
