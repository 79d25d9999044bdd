import { beforeAll, describe, expect, test } from 'vitest';
import { maxWebhookEndpoints } from '@mandate/contract';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { dumpDatabase } from '../../support/services/database-dump.ts';

const shop = withShop({ sampleData: false });
let token: string;
let otherToken: string;

beforeAll(async () => {
  const person = async (): Promise<string> =>
    (await shop.createAccount('customer', ['webhooks.read', 'webhooks.write', 'orders.read'])).token;
  [token, otherToken] = [await person(), await person()];
});

const call = (method: string, path = '', body?: unknown, headers: Record<string, string> = {}, as = token): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1/webhook-endpoints${path}`, { token: as, headers, ...(body !== undefined && { body }) });
const endpointBody = { url: 'https://example.com/hooks', events: ['order.paid', 'order.created'] };
const createEndpoint = async (): Promise<JsonBody> => (await call('POST', '', endpointBody)).body;

describe('201', () => {
  test('creates an endpoint, returns its secret once, and stores no plain text of it', async () => {
    const { status, body, headers } = await call('POST', '', { ...endpointBody, description: 'My shop' });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/webhook-endpoints/${body.id}`);
    const { secret, ...shown } = body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({
      ...endpointBody,
      description: 'My shop',
      status: 'enabled',
      disabled_reason: null,
      client_id: 'mandate-cli',
      version: 1,
    });
    expect(shown.scopes.toSorted()).toEqual(['orders.read', 'webhooks.read', 'webhooks.write']);
    expect((await call('GET', `/${body.id}`)).body).toEqual(shown);
    const dump = await dumpDatabase(shop.db);
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(secret.slice('whsec_'.length));
  });

  test('limits the number of endpoints per user', async () => {
    const { token: separateToken } = await shop.createAccount('customer', ['webhooks.write']);
    const responses = await Promise.all(
      Array.from({ length: maxWebhookEndpoints + 3 }, () => call('POST', '', endpointBody, {}, separateToken)),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(maxWebhookEndpoints);
    expect(responses.filter(({ body }) => body.code === 'too_many_webhook_endpoints')).toHaveLength(3);
  });
});

describe('200', () => {
  test('lists the endpoints of the user, newest first, in pages', async () => {
    const [one, two] = [await createEndpoint(), await createEndpoint()];
    const { body } = await call('GET', '?limit=1');
    expect(body).toMatchObject({ data: [{ id: two.id }], has_more: true });
    expect((await call('GET', `?limit=1&cursor=${body.next_cursor}`)).body.data).toMatchObject([{ id: one.id }]);
    expect((await call('GET', '', undefined, {}, otherToken)).body.data).toEqual([]);
  });

  test('increments the version only if a value changes', async () => {
    const { id } = await createEndpoint();
    const { headers } = await call('GET', `/${id}`);
    const etag = headers.get('etag') ?? '';
    expect((await call('GET', `/${id}`, undefined, { 'if-none-match': etag })).status).toBe(304);
    expect((await call('PATCH', `/${id}`, {})).body.version).toBe(1);
    expect((await call('PATCH', `/${id}`, endpointBody)).body.version).toBe(1);
    const changed = await call('PATCH', `/${id}`, { events: ['*'], description: 'x' }, { 'if-match': etag });
    expect(changed).toMatchObject({ status: 200, body: { version: 2, events: ['*'], description: 'x', url: endpointBody.url } });
    expect((await call('PATCH', `/${id}`, { description: null }, { 'if-match': etag })).status).toBe(412);
    expect((await call('DELETE', `/${id}`, undefined, { 'if-match': etag })).status).toBe(412);
    expect((await call('PATCH', `/${id}`, { description: null })).body.description).toBeNull();
  });

  test('a change limits the endpoint to the scopes of the token', async () => {
    const person = await signUp(shop.origin);
    const { access_token: wideToken } = await obtainTokens(shop.origin, person, ['webhooks.write', 'orders.read', 'payments.read']);
    const { access_token: narrowToken } = await obtainTokens(shop.origin, person, ['webhooks.write']);
    const { id } = (await call('POST', '', endpointBody, {}, wideToken)).body;
    expect((await call('PATCH', `/${id}`, { url: 'https://elsewhere.example.org/' }, {}, narrowToken)).body.scopes).toEqual([
      'webhooks.write',
    ]);
  });
});

describe('400 and 404', () => {
  test.each([
    [{ ...endpointBody, events: [] }, '#/events'],
    [{ ...endpointBody, events: ['order.eaten'] }, '#/events/0'],
    [{ ...endpointBody, url: 7 }, '#/url'],
    [{ ...endpointBody, url: `https://example.com/${'a'.repeat(2000)}` }, '#/url'],
    [{ events: ['*'] }, '#/url'],
    [{ ...endpointBody, events: ['orders.*'] }, '#/events/0'],
    [{ ...endpointBody, secret: 'mine' }, '#/secret'],
  ])('%j is rejected', async (body, pointer) => {
    const response = await call('POST', '', body);
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('a change also rejects an invalid URL', async () => {
    const { id } = await createEndpoint();
    expect((await call('PATCH', `/${id}`, { url: 'https://10.0.0.1/' })).body.errors[0].pointer).toBe('#/url');
  });

  test('an endpoint of another user is not found by any operation', async () => {
    const { id } = await createEndpoint();
    const requests: [string, string, unknown?][] = [
      ['GET', `/${id}`],
      ['PATCH', `/${id}`, {}],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/secret-rotations`, {}],
      ['GET', `/${id}/deliveries`],
      ['POST', `/${id}/redeliveries`, { event_id: 1 }],
      ['POST', `/${id}/test-events`],
    ];
    for (const [method, path, body] of requests)
      expect((await call(method, path, body, {}, otherToken)).status, `${method} ${path}`).toBe(404);
    expect((await call('GET', `/${id}`)).status).toBe(200);
  });

  test('an idempotency key starts one delivery', async () => {
    const { id } = await createEndpoint();
    const key = { 'idempotency-key': 'once' };
    const [first, again] = [
      await call('POST', `/${id}/test-events`, undefined, key),
      await call('POST', `/${id}/test-events`, undefined, key),
    ];
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const tests = await shop.db.em.fork().execute(`select 1 from events where type = 'webhook_endpoint.test' and subject_id = ?`, [id]);
    expect(tests).toHaveLength(1);
  });
});
