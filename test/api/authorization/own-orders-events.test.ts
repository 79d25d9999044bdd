import { beforeEach, describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { obtainLimitedTokens, obtainLimitedTokensOfApplication, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { createWebApplication, obtainTokens, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { createDeliveryWorker, deliverPendingEvents } from '../../support/webhooks/webhook-receiver.ts';
import { withWebhookReceiver } from '../../support/webhooks/with-webhook-receiver.ts';

const till = withPaymentTestShop();
const receiver = withWebhookReceiver({
  get db() {
    return till.mandate.db;
  },
});

const scopes: Scope[] = [
  'orders.read',
  'orders.write',
  'payments.read',
  'events.read',
  'webhooks.read',
  'webhooks.write',
  'tasks.read',
  'tasks.write',
];

let anna: TestUser;
beforeEach(async () => {
  anna = await signUp(till.mandate.origin);
});

const api = (method: string, path: string, token: string, body?: unknown): Promise<ApiResponse> =>
  till.mandate.callApi(method, `/api/v1${path}`, { token, ...(body !== undefined && { body }) });
const sequenceEvents = (): Promise<number> => assignEventSequenceNumbers(till.mandate.db.em.fork());

/** Obtains a token for a new third-party application. */
async function connect(details: RequestedLimits | undefined): Promise<string> {
  const client = await createWebApplication(till.mandate.db, scopes);
  return (await obtainLimitedTokensOfApplication(till.mandate.origin, anna, client, scopes, details)).access_token;
}

async function placeOrder(token?: string): Promise<JsonBody> {
  const items = [{ product_id: (await till.shop.createProduct()).id, quantity: 2 }];
  const body = { items, delivery: pickupDelivery, ...(token === undefined && { user_id: anna.id }) };
  const placed = await api('POST', '/orders', token ?? till.shop.token, body);
  expect(placed.status, placed.text).toBe(201);
  return placed.body;
}

/** Pays for an order, ships it and refunds part of it. */
async function completeOrder({ id }: JsonBody): Promise<void> {
  await till.createPayment(id);
  await till.post(`/orders/${id}/shipments`, { status: 'shipped' });
  await till.post(`/orders/${id}/refunds`, { amount: 1 });
}

const orderSubjects = new Set(['order', 'payment', 'refund', 'shipment']);
/** Returns the IDs of the orders that the events concern, and the subject types of these events. */
const summarize = (events: readonly JsonBody[]) => {
  const concerned = events.filter(({ subject }) => orderSubjects.has(subject.type));
  return {
    orders: [...new Set(concerned.map(({ subject, data }) => (subject.type === 'order' ? subject.id : data.object.order_id)))].toSorted(
      (a, b) => a - b,
    ),
    subjects: new Set(concerned.map(({ subject }) => subject.type)),
  };
};

describe('GET /events of an application that can access only its own orders', () => {
  test('returns only events about its own orders, their payments, refunds and shipments', async () => {
    const token = await connect({});
    const [own, other] = [await placeOrder(token), await placeOrder()];
    for (const order of [own, other]) await completeOrder(order);
    await sequenceEvents();
    const { body } = await api('GET', '/events?limit=100', token);
    expect(summarize(body.data)).toEqual({ orders: [own.id], subjects: orderSubjects });
    const all = await api('GET', `/events?limit=100&subject_type=order&subject_id=${other.id}`, till.shop.token);
    expect(all.body.data.length).toBeGreaterThan(0);
    expect((await api('GET', `/events/${all.body.data[0].id}`, token)).status).toBe(404);
    expect((await api('GET', `/events?subject_type=order&subject_id=${other.id}`, token)).body.data).toEqual([]);
  });

  test('ends a long poll only with an event about its own order', async () => {
    const token = await connect({});
    await sequenceEvents();
    const { latest_id: after } = (await api('GET', '/events?limit=1', token)).body;
    let hasResponse = false;
    const waiting = api('GET', `/events?after=${after}&wait=25&type=order.created`, token).finally(() => (hasResponse = true));
    const waitingForAnyOrder = api('GET', `/events?after=${after}&wait=25&type=order.created`, till.shop.token);
    await placeOrder();
    await sequenceEvents();
    expect((await waitingForAnyOrder).body.data).toHaveLength(1);
    expect(hasResponse).toBe(false);
    const own = await placeOrder(token);
    await sequenceEvents();
    expect(summarize((await waiting).body.data).orders).toEqual([own.id]);
  });

  test('returns no events about exports of other orders', async () => {
    const token = await connect({});
    const { access_token: unrestricted } = await obtainTokens(till.mandate.origin, anna, scopes);
    const tasks = [];
    for (const exporter of [unrestricted, token]) {
      const { task } = await completeTask(till.mandate, exporter, await api('POST', '/order-exports', exporter, { format: 'csv' }));
      tasks.push(task.id);
    }
    await sequenceEvents();
    const { body } = await api('GET', '/events?limit=100&type=task.succeeded', token);
    expect(body.data.map(({ subject }: JsonBody) => subject.id)).toEqual(tasks.slice(1));
  });

  test('returns all events with access to all orders', async () => {
    const token = await connect({ orders: 'all' });
    const [own, other] = [await placeOrder(token), await placeOrder()];
    await sequenceEvents();
    expect(summarize((await api('GET', '/events?limit=100', token)).body.data).orders).toEqual([own.id, other.id]);
  });
});

describe('webhooks of an application', () => {
  const register = async (token: string): Promise<JsonBody> => {
    const { status, body, text } = await api('POST', '/webhook-endpoints', token, { url: receiver.url, events: ['*'] });
    expect(status, text).toBe(201);
    return body;
  };
  const received = () => summarize(receiver.deliveries.map(({ body }) => body));

  test('that can access only its own orders receive only events about these', async () => {
    const token = await connect({});
    await register(token);
    const [own, other] = [await placeOrder(token), await placeOrder()];
    for (const order of [own, other]) await completeOrder(order);
    await deliverPendingEvents(till.mandate);
    expect(received()).toEqual({ orders: [own.id], subjects: orderSubjects });
  });

  test('that can access all orders receive events about all orders, until the customer restricts its access', async () => {
    const token = await connect({ orders: 'all' });
    await register(token);
    const [own, other] = [await placeOrder(token), await placeOrder()];
    await deliverPendingEvents(till.mandate);
    expect(received().orders).toEqual([own.id, other.id]);
    receiver.deliveries.length = 0;
    // The events of these orders are queued for delivery before the application's access is restricted.
    const [nextOwn] = [await placeOrder(token), await placeOrder()];
    await assignEventSequenceNumbers(till.mandate.db.em.fork(), createWebhookDeliveriesForEvents);
    const manager = await obtainTokens(till.mandate.origin, anna, ['connected_apps.read', 'connected_apps.write']);
    const apps = (await api('GET', '/connected-apps', manager.access_token)).body.data;
    const { id } = apps.find(({ application }: JsonBody) => application.client_id !== 'mandate-cli');
    expect((await api('PUT', `/connected-apps/${id}/limits`, manager.access_token, { orders: 'own' })).status).toBe(200);
    await createDeliveryWorker(till.mandate).waitUntilIdle();
    expect(received().orders).toEqual([nextOwn.id]);
  });

  test('of the shop that can access only its own orders receive no other events, even if it has access to all orders on another device', async () => {
    const { access_token: unrestricted } = await obtainTokens(till.mandate.origin, anna, scopes);
    const ofUser = await register(unrestricted);
    const { access_token: token } = await obtainLimitedTokens(till.mandate.origin, anna, scopes, { orders: 'own' });
    expect((await api('GET', `/webhook-endpoints/${ofUser.id}`, token)).status).toBe(404);
    expect((await api('DELETE', `/webhook-endpoints/${ofUser.id}`, unrestricted)).status).toBe(204);
    const restricted = await register(token);
    expect((await api('GET', '/webhook-endpoints', token)).body.data).toMatchObject([{ id: restricted.id }]);
    await placeOrder();
    await deliverPendingEvents(till.mandate);
    expect(received().orders).toEqual([]);
    // The endpoint remains restricted even after the device that registered it has been disconnected.
    const { access_token: manager } = await obtainTokens(till.mandate.origin, anna, ['connected_apps.read', 'connected_apps.write']);
    for (const { id } of (await api('GET', '/connected-apps', manager)).body.data) {
      const { body } = await api('GET', `/connected-apps/${id}/limits`, manager);
      if (body.authorization_details.length > 0) await api('DELETE', `/connected-apps/${id}`, manager);
    }
    expect((await api('GET', '/events?limit=1', token)).status).toBe(401);
    await placeOrder();
    const own = await placeOrder(unrestricted);
    await deliverPendingEvents(till.mandate);
    expect(received().orders).toEqual([own.id]);
  });
});
