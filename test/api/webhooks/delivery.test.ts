import { Webhook } from 'standardwebhooks';
import { eventTypeWildcards } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { obtainTokens, signUpWithRole } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { readLastMailTo } from '../../support/services/mailbox.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { deliverPendingEvents, advanceDeliveryRetries } from '../../support/webhooks/webhook-receiver.ts';
import { withWebhookReceiver } from '../../support/webhooks/with-webhook-receiver.ts';

const shop = withShop();
const receiver = withWebhookReceiver(shop);

const endpointsPath = '/api/v1/webhook-endpoints';
const call = (method: string, subpath: string, body?: unknown): Promise<ApiResponse> =>
  shop.callApi(method, endpointsPath + subpath, { token: shop.token, ...(body !== undefined && { body }) });
const createEndpoint = async (events = ['*'], url = receiver.url): Promise<JsonBody> => (await call('POST', '', { url, events })).body;
const listDeliveries = async (id: number): Promise<JsonBody[]> => (await call('GET', `/${id}/deliveries`)).body.data;
const receivedTypes = (): string[] => receiver.deliveries.map(({ body }) => body.type);

describe('a delivery', () => {
  test('contains the event as in the feed, signed according to Standard Webhooks', async () => {
    const { id, secret } = await createEndpoint(['product.created']);
    const product = await shop.createProduct();
    await deliverPendingEvents(shop);
    const [first] = receiver.deliveries;
    if (!first) throw new Error('no delivery was received');
    const { headers, text, body } = first;
    expect(receiver.deliveries).toHaveLength(1);
    expect(body).toMatchObject({ type: 'product.created', subject: { id: product.id }, data: { object: product } });
    expect(headers['webhook-id']).toBe(`evt_${body.id}`);
    expect(new Webhook(secret).verify(text, headers)).toEqual(body);
    expect((await shop.callApi('GET', `/api/v1/events/${body.id}`, { token: shop.token })).body).toEqual(body);
    const attempt = { at: expect.any(String), milliseconds: expect.any(Number), status_code: 204, error: null };
    expect(await listDeliveries(id)).toMatchObject([
      { event_id: body.id, event_type: 'product.created', status: 'succeeded', attempts: [attempt], next_attempt_at: null },
    ]);
  });

  test.each(eventTypeWildcards)('reaches an endpoint for %s if the type matches', async (wildcard) => {
    await createEndpoint([wildcard]);
    const product = await shop.createProduct({ stock: 5 });
    const path = '/api/v1/orders';
    const body = { ...buildOrderInput([product, 1]), user_id: (await shop.createUser()).id };
    const { body: order } = await shop.callApi('POST', path, { token: shop.token, body });
    await shop.callApi('POST', `${path}/${order.id}/cancellation`, { token: shop.token, body: {} });
    await deliverPendingEvents(shop);
    const recordedTypes = ['product.created', 'user.created', 'order.created', 'order.canceled'];
    expect(receivedTypes().toSorted()).toEqual(recordedTypes.filter((type) => type.startsWith(wildcard.slice(0, -1))).toSorted());
  });

  test('is attempted ten times over 75 hours, with the same id', async () => {
    const { id } = await createEndpoint(['product.created']);
    receiver.handleDelivery = (_, res) => res.writeHead(500).end('no');
    await shop.createProduct();
    await deliverPendingEvents(shop);
    const delaySeconds: number[] = [];
    for (let i = 1; i < 10; i += 1) {
      const [{ next_attempt_at: next, status }] = await listDeliveries(id);
      expect(status).toBe('pending');
      delaySeconds.push((Date.parse(next) - Date.now()) / 1000);
      await advanceDeliveryRetries(shop, 30 * 3600);
      await deliverPendingEvents(shop);
    }
    const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    for (const [index, planned] of schedule.entries()) {
      expect(delaySeconds[index]).toBeGreaterThan(planned * 0.9 - 3);
      expect(delaySeconds[index]).toBeLessThan(planned * 1.1 + 1);
    }
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(receiver.deliveries).toHaveLength(10);
    const [last] = await listDeliveries(id);
    expect(last).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(last.attempts).toHaveLength(10);
  });

  test.each([
    ['a redirect', 302, { location: 'http://169.254.169.254/latest' }, 'redirect'],
    ['multiple choices', 300, {}, 'redirect'],
    ['an error status', 404, {}, 'status_code'],
  ])('%s is a failure, and redirects are not followed', async (_label, status, headers, error) => {
    const { id } = await createEndpoint(['product.created']);
    receiver.handleDelivery = (_received, res) => res.writeHead(status, headers).end();
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect(await listDeliveries(id)).toMatchObject([{ status: 'pending', attempts: [{ status_code: status, error }] }]);
    expect(receiver.deliveries).toHaveLength(1);
  });

  test('fails if the connection is refused', async () => {
    const { id } = await createEndpoint(['product.created'], 'http://127.0.0.1:1/');
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect(await listDeliveries(id)).toMatchObject([{ attempts: [{ status_code: null, error: 'connection_failed' }] }]);
  });

  test('succeeds without reading a response of one gigabyte', async () => {
    const { id } = await createEndpoint(['product.created']);
    let written = 0;
    receiver.handleDelivery = (_, res) => {
      const more = (): void => {
        while (written < 1e9 && !res.destroyed) {
          written += 65_536;
          if (!res.write(Buffer.alloc(65_536))) return void res.once('drain', more);
        }
      };
      res.writeHead(200);
      more();
    };
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect(await listDeliveries(id)).toMatchObject([{ status: 'succeeded' }]);
    expect(written).toBeLessThan(50e6);
  });

  test.each([
    [429, '120', 115, 125],
    [503, new Date(Date.now() + 3_600_000).toUTCString(), 3_500, 3_610],
    [500, '600', 595, 605],
  ])('is delayed by status %i with Retry-After %s', async (status, retryAfter, least, most) => {
    const { id } = await createEndpoint(['product.created']);
    receiver.handleDelivery = (_, res) => res.writeHead(status, { 'retry-after': retryAfter }).end();
    await shop.createProduct();
    await deliverPendingEvents(shop);
    const [{ next_attempt_at: next }] = await listDeliveries(id);
    expect((Date.parse(next) - Date.now()) / 1000).toBeGreaterThan(least);
    expect((Date.parse(next) - Date.now()) / 1000).toBeLessThan(most);
    // 429 and 503 responses also delay the endpoint's other deliveries
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toHaveLength(status === 500 ? 2 : 1);
  });

  test('reaches only endpoints that subscribed to its type', async () => {
    await createEndpoint(['product.stock_changed', 'product.archived']);
    const { id } = await shop.createProduct();
    await shop.callApi('POST', `/api/v1/products/${id}/stock-adjustments`, {
      token: shop.token,
      body: { delta: 1, reason: 'received' },
    });
    await deliverPendingEvents(shop);
    expect(receivedTypes()).toEqual(['product.stock_changed']);
  });
});

describe('an endpoint', () => {
  test('that responds with 410 is disabled, and its events are kept for redelivery', async () => {
    const { id } = await createEndpoint(['product.created']);
    receiver.handleDelivery = (_, res) => res.writeHead(410).end();
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toHaveLength(1);
    expect((await listDeliveries(id)).map(({ status }) => status)).toEqual(['skipped', 'skipped']);
    expect((await call('POST', `/${id}/redeliveries`, { from_event_id: 1 })).body.code).toBe('webhook_endpoint_disabled');
    receiver.handleDelivery = (_, res) => res.writeHead(200).end();
    expect((await call('PATCH', `/${id}`, { status: 'enabled' })).body).toMatchObject({ status: 'enabled', disabled_reason: null });
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toHaveLength(1);
    expect((await call('POST', `/${id}/redeliveries`, { from_event_id: 1 })).body).toEqual({ deliveries: 2 });
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toHaveLength(3);
  });

  test('that is disabled triggers an e-mail to each administrator, in the language of the administrator', async () => {
    const admins = [await signUpWithRole(shop.db, shop.origin, 'admin'), await signUpWithRole(shop.db, shop.origin, 'admin')];
    await shop.db.em.fork().execute(`update users set locale = 'de' where id = ?`, [admins[1]?.id]);
    await createEndpoint(['product.created']);
    receiver.handleDelivery = (_, res) => res.writeHead(410).end();
    await shop.createProduct();
    await deliverPendingEvents(shop);
    const mails = await Promise.all(admins.map(({ email }) => readLastMailTo(shop.origin, email)));
    const { host } = new URL(receiver.url);
    expect(mails.map(({ subject }) => subject)).toEqual([
      `The webhook endpoint at ${host} has been disabled`,
      `Der Webhook-Endpunkt bei ${host} wurde deaktiviert`,
    ]);
    expect(mails[0]?.text).toContain('The endpoint responded that it no longer exists (410).');
    expect(mails[1]?.html).toContain('<html lang="de"');
    expect(mails[1]?.html).toMatch(new RegExp(`href="http://localhost/console/applications/\\d+"[^>]*>\\s*Anwendung ansehen\\s*<`));
  });

  test.each([
    ['customer', 'Check your account', '/account'],
    ['staff', 'View the endpoint', '/console/developers/webhooks/ID'],
  ] as const)('of a %s that is disabled triggers an e-mail with the button “%s”', async (role, button, page) => {
    const owner = await signUpWithRole(shop.db, shop.origin, role);
    const { access_token: token } = await obtainTokens(shop.origin, owner, ['webhooks.write', 'orders.read', 'orders.write']);
    const { body } = await shop.callApi('POST', endpointsPath, { token, body: { url: receiver.url, events: ['order.created'] } });
    receiver.handleDelivery = (_, res) => res.writeHead(410).end();
    await shop.placeOrder(buildOrderInput([await shop.createProduct(), 1]), token);
    await deliverPendingEvents(shop);
    const { html } = await readLastMailTo(shop.origin, owner.email);
    expect(html).toMatch(new RegExp(`href="http://localhost${page.replace('ID', String(body.id))}"[^>]*>\\s*${button}\\s*<`));
  });

  test('that fails for five days is disabled, unless a delivery succeeds in between', async () => {
    const { id } = await createEndpoint(['product.created']);
    receiver.handleDelivery = (_, res) => res.writeHead(500).end();
    await shop.createProduct();
    await deliverPendingEvents(shop);
    const setFailingSince = (days: number): Promise<unknown> =>
      shop.db.em.fork().execute('update webhook_endpoints set failing_since = now() - make_interval(days => ?) where id = ?', [days, id]);
    await setFailingSince(4);
    await advanceDeliveryRetries(shop, 3600);
    await deliverPendingEvents(shop);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'enabled', failing_since: expect.any(String) });
    receiver.handleDelivery = (_, res) => res.writeHead(204).end();
    await advanceDeliveryRetries(shop, 3600);
    await deliverPendingEvents(shop);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'enabled', failing_since: null });
    receiver.handleDelivery = (_, res) => res.writeHead(500).end();
    await shop.createProduct();
    await deliverPendingEvents(shop);
    await setFailingSince(6);
    await advanceDeliveryRetries(shop, 3600);
    await deliverPendingEvents(shop);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
    const events = await shop.db.em
      .fork()
      .execute(`select 1 from events where type = 'webhook_endpoint.disabled' and subject_id = ?`, [id]);
    expect(events).toHaveLength(1);
  });

  test('that is disabled or deleted receives nothing', async () => {
    const [one, two] = [await createEndpoint(['product.created']), await createEndpoint(['product.created'])];
    await call('PATCH', `/${one.id}`, { status: 'disabled' });
    await shop.createProduct();
    expect((await call('DELETE', `/${two.id}`)).status).toBe(204);
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toEqual([]);
    expect((await call('GET', `/${one.id}`)).body).toMatchObject({ disabled_reason: 'manual' });
    expect((await call('POST', `/${one.id}/test-events`)).body.code).toBe('webhook_endpoint_disabled');
  });

  test('receives a test event regardless of its event types, and no other endpoint does', async () => {
    const [one] = [await createEndpoint(['order.paid']), await createEndpoint(['*'])];
    expect(await call('POST', `/${one.id}/test-events`)).toMatchObject({
      status: 202,
      body: { type: 'webhook_endpoint.test', webhook_endpoint_id: one.id },
    });
    await deliverPendingEvents(shop);
    expect(receiver.deliveries).toMatchObject([{ body: { type: 'webhook_endpoint.test', data: { object: { id: one.id } } } }]);
  });

  test('receives a redelivery with the same event id', async () => {
    const { id } = await createEndpoint(['product.created']);
    await shop.createProduct();
    await deliverPendingEvents(shop);
    const event: number = receiver.deliveries[0]?.body.id;
    expect(await call('POST', `/${id}/redeliveries`, { event_id: event })).toMatchObject({ status: 202, body: { deliveries: 1 } });
    await deliverPendingEvents(shop);
    expect(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).toEqual([`evt_${event}`, `evt_${event}`]);
    expect((await call('POST', `/${id}/redeliveries`, { from_event_id: event })).body).toEqual({ deliveries: 0 });
    expect((await call('POST', `/${id}/redeliveries`, { from_event_id: event, include_succeeded: true })).body).toEqual({ deliveries: 1 });
    await deliverPendingEvents(shop);
    // the range includes both ends
    const range = { from_event_id: event, to_event_id: event, include_succeeded: true };
    expect(await call('POST', `/${id}/redeliveries`, range)).toMatchObject({ status: 202, body: { deliveries: 1 } });
    expect((await call('POST', `/${id}/redeliveries`, { event_id: 999_999 })).status).toBe(404);
    for (const wrong of [{}, { event_id: 1, from_event_id: 1 }, { event_id: 1, to_event_id: 1 }, { from_event_id: 2, to_event_id: 1 }]) {
      expect((await call('POST', `/${id}/redeliveries`, wrong)).body.code).toBe('invalid_request');
    }
  });
});

describe('a signing secret', () => {
  const verifies = (secret: string, { headers, text } = receiver.deliveries.at(-1) ?? { headers: {}, text: '' }): boolean => {
    try {
      return Boolean(new Webhook(secret).verify(text, headers));
    } catch {
      return false;
    }
  };

  test('remains valid after a rotation until the overlap ends', async () => {
    const { id, secret: first } = await createEndpoint(['product.created']);
    const rotated = await call('POST', `/${id}/secret-rotations`, { overlap_seconds: 60 });
    expect(rotated.status).toBe(201);
    const { secret: second } = rotated.body;
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect([verifies(first), verifies(second)]).toEqual([true, true]);
    expect((await call('POST', `/${id}/secret-rotations`, {})).body.code).toBe('secret_still_overlaps');
    await shop.db.em.fork().execute(`update webhook_endpoints set previous_secret_until = now() - interval '1 second' where id = ?`, [id]);
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect([verifies(first), verifies(second)]).toEqual([false, true]);
    const { secret: third } = (await call('POST', `/${id}/secret-rotations`, { overlap_seconds: 0 })).body;
    await shop.createProduct();
    await deliverPendingEvents(shop);
    expect([verifies(second), verifies(third)]).toEqual([false, true]);
  });
});
