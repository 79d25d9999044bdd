import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { deliverPendingEvents } from '../../support/webhooks/webhook-receiver.ts';
import { withWebhookReceiver } from '../../support/webhooks/with-webhook-receiver.ts';

const shop = withShop();
const receiver = withWebhookReceiver(shop);

const read = (path: string): Promise<ApiResponse> => shop.callApi('GET', `/api/v1/webhook-endpoints/${path}`, { token: shop.token });
const listDeliveries = async (id: number): Promise<JsonBody[]> => (await read(`${id}/deliveries`)).body.data;
async function createEndpoint(url = receiver.url): Promise<number> {
  const body = { url, events: ['product.created'] };
  return (await shop.callApi('POST', '/api/v1/webhook-endpoints', { token: shop.token, body })).body.id;
}

describe('GET /webhook-endpoints/{webhook_endpoint_id}/deliveries/{webhook_delivery_id}', () => {
  const getDelivery = async (id: number): Promise<JsonBody> => {
    const [{ id: deliveryId }] = await listDeliveries(id);
    const response = await read(`${id}/deliveries/${deliveryId}`);
    expect(response.status).toBe(200);
    return response.body;
  };
  const deliverProduct = async (url = receiver.url): Promise<number> => {
    const id = await createEndpoint(url);
    await shop.createProduct();
    await deliverPendingEvents(shop);
    return id;
  };

  test('returns the request and the response of an attempt, without credentials in URLs and without cookies', async () => {
    receiver.handleDelivery = (_, res) => {
      const headers = { 'content-type': 'text/html', location: '/sign-in?state=a#b', 'set-cookie': 'session=1', 'x-request-id': 'r-1' };
      res.writeHead(302, headers).end('<p>Sign\u0000 in\u001b[31m</p>\r\n\t“please”');
    };
    const id = await deliverProduct(`${receiver.url}?token=of-the-receiver`);
    const [received] = receiver.deliveries;
    expect(received?.path).toBe('/hooks?token=of-the-receiver');
    const delivery = await getDelivery(id);
    const [summary] = await listDeliveries(id);
    const [attempt] = delivery.attempts;
    expect(delivery).toMatchObject({ ...summary, attempts: [{ ...summary.attempts[0], status_code: 302, error: 'redirect' }] });
    expect(Object.keys(summary.attempts[0]).toSorted()).toEqual(['at', 'error', 'milliseconds', 'status_code']);
    const names = ['content-type', 'user-agent', 'webhook-id', 'webhook-signature', 'webhook-timestamp'];
    expect(attempt.request).toEqual({
      url: receiver.url,
      headers: Object.fromEntries(names.map((name) => [name, received?.headers[name]])),
    });
    expect(attempt.response).toEqual({
      headers: expect.objectContaining({ 'content-type': 'text/html', location: '/sign-in', 'x-request-id': 'r-1' }),
      body: '<p>Sign in[31m</p>\n\t“please”',
      body_truncated: false,
    });
    expect(Object.keys(attempt.response.headers)).not.toContain('set-cookie');
  });

  test.each([
    ['the first 2,048 bytes of a long text, without the cut character', `a${'é'.repeat(20_000)}`, `a${'é'.repeat(1023)}`, true],
    ['a text of 2,048 bytes', 'b'.repeat(2048), 'b'.repeat(2048), false],
    ['an empty body', '', '', false],
    ['no binary data', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), null, false],
  ])('returns %s', async (_label, sent, body, isTruncated) => {
    receiver.handleDelivery = (_, res) => res.writeHead(500).end(sent);
    const { attempts } = await getDelivery(await deliverProduct());
    expect(attempts).toMatchObject([{ status_code: 500, response: { body, body_truncated: isTruncated } }]);
  });

  test('returns the start of a response that the endpoint does not complete', async () => {
    receiver.handleDelivery = (_, res) => {
      res.writeHead(200, { 'content-length': '100' }).write('started', () => res.destroy());
    };
    const { status, attempts } = await getDelivery(await deliverProduct());
    expect(status).toBe('succeeded');
    expect(attempts).toMatchObject([{ status_code: 200, error: null, response: { body: 'started', body_truncated: false } }]);
  });

  test('returns no response if there was none', async () => {
    const { attempts } = await getDelivery(await deliverProduct('http://127.0.0.1:1/'));
    expect(attempts).toMatchObject([{ status_code: null, request: { url: 'http://127.0.0.1:1/' }, response: null }]);
  });

  test('returns attempts of earlier releases, which stored neither request nor response', async () => {
    const id = await deliverProduct();
    const earlier = { at: '2026-11-01T00:00:00.000Z', milliseconds: 5, status_code: 204, error: null };
    await shop.db.em.fork().execute('update webhook_deliveries set log = ?::jsonb where endpoint_id = ?', [JSON.stringify([earlier]), id]);
    expect((await getDelivery(id)).attempts).toEqual([{ ...earlier, request: null, response: null }]);
  });

  test('returns 404 for a delivery of another endpoint', async () => {
    const id = await deliverProduct();
    const [{ id: deliveryId }] = await listDeliveries(id);
    const other = await createEndpoint();
    const { status, body } = await read(`${other}/deliveries/${deliveryId}`);
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect((await read(`${id}/deliveries/999999`)).status).toBe(404);
  });
});
