import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxWebhookEndpoints } from '@mandate/contract';
import { startMandate, type Answer, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { signUp, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { dumpOf } from '../../support/dump.ts';

let mandate: Mandate;
let token: string;
let other: string;

beforeAll(async () => {
  mandate = await startMandate();
  const person = async (): Promise<string> =>
    (await tokensFor(mandate.origin, await signUp(mandate.origin), ['webhooks.read', 'webhooks.write', 'orders.read'])).access_token;
  [token, other] = [await person(), await person()];
});
afterAll(() => mandate.close());

const call = (method: string, path = '', body?: unknown, headers: Record<string, string> = {}, as = token): Promise<Answer> =>
  mandate.call(method, `/api/v1/webhook-endpoints${path}`, { token: as, headers, ...(body !== undefined && { body }) });
const wanted = { url: 'https://example.com/hooks', events: ['order.paid', 'order.created'] };
const endpoint = async (): Promise<Body> => (await call('POST', '', wanted)).body;

describe('201', () => {
  test('an endpoint is made, and its secret shown once and kept nowhere', async () => {
    const { status, body, headers } = await call('POST', '', { ...wanted, description: 'My shop' });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/webhook-endpoints/${body.id}`);
    const { secret, ...shown } = body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({
      ...wanted,
      description: 'My shop',
      status: 'enabled',
      disabled_reason: null,
      client_id: 'mandate-cli',
      version: 1,
    });
    expect(shown.scopes.toSorted()).toEqual(['orders.read', 'webhooks.read', 'webhooks.write']);
    expect((await call('GET', `/${body.id}`)).body).toEqual(shown);
    const dump = await dumpOf(mandate.db);
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(secret.slice('whsec_'.length));
  });

  test('there is an end to how many', async () => {
    const { access_token: busy } = await tokensFor(mandate.origin, await signUp(mandate.origin), ['webhooks.write']);
    const made = await Promise.all(Array.from({ length: maxWebhookEndpoints + 3 }, () => call('POST', '', wanted, {}, busy)));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(maxWebhookEndpoints);
    expect(made.filter(({ body }) => body.code === 'too_many_webhook_endpoints')).toHaveLength(3);
  });
});

describe('200', () => {
  test('the list has one’s own, newest first, page by page', async () => {
    const [one, two] = [await endpoint(), await endpoint()];
    const { body } = await call('GET', '?limit=1');
    expect(body).toMatchObject({ data: [{ id: two.id }], has_more: true });
    expect((await call('GET', `?limit=1&cursor=${body.next_cursor}`)).body.data).toMatchObject([{ id: one.id }]);
    expect((await call('GET', '', undefined, {}, other)).body.data).toEqual([]);
  });

  test('a change counts, and what changes nothing does not', async () => {
    const { id } = await endpoint();
    const { headers } = await call('GET', `/${id}`);
    const etag = headers.get('etag') ?? '';
    expect((await call('GET', `/${id}`, undefined, { 'if-none-match': etag })).status).toBe(304);
    expect((await call('PATCH', `/${id}`, {})).body.version).toBe(1);
    expect((await call('PATCH', `/${id}`, wanted)).body.version).toBe(1);
    const changed = await call('PATCH', `/${id}`, { events: ['*'], description: 'x' }, { 'if-match': etag });
    expect(changed).toMatchObject({ status: 200, body: { version: 2, events: ['*'], description: 'x', url: wanted.url } });
    expect((await call('PATCH', `/${id}`, { description: null }, { 'if-match': etag })).status).toBe(412);
    expect((await call('DELETE', `/${id}`, undefined, { 'if-match': etag })).status).toBe(412);
    expect((await call('PATCH', `/${id}`, { description: null })).body.description).toBeNull();
  });

  test('whoever changes it gives it what their token can see', async () => {
    const person = await signUp(mandate.origin);
    const { access_token: wide } = await tokensFor(mandate.origin, person, ['webhooks.write', 'orders.read', 'payments.read']);
    const { access_token: narrow } = await tokensFor(mandate.origin, person, ['webhooks.write']);
    const { id } = (await call('POST', '', wanted, {}, wide)).body;
    expect((await call('PATCH', `/${id}`, { url: 'https://elsewhere.example.org/' }, {}, narrow)).body.scopes).toEqual(['webhooks.write']);
  });
});

describe('400 and 404', () => {
  test.each([
    [{ ...wanted, events: [] }, '#/events'],
    [{ ...wanted, events: ['order.eaten'] }, '#/events/0'],
    [{ ...wanted, url: 7 }, '#/url'],
    [{ ...wanted, url: `https://example.com/${'a'.repeat(2000)}` }, '#/url'],
    [{ events: ['*'] }, '#/url'],
    [{ ...wanted, events: ['orders.*'] }, '#/events/0'],
    [{ ...wanted, secret: 'mine' }, '#/secret'],
  ])('%j is refused', async (body, pointer) => {
    const answer = await call('POST', '', body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('a bad address is refused in a change as well', async () => {
    const { id } = await endpoint();
    expect((await call('PATCH', `/${id}`, { url: 'https://10.0.0.1/' })).body.errors[0].pointer).toBe('#/url');
  });

  test('somebody else’s is not found, by any operation', async () => {
    const { id } = await endpoint();
    const tries: [string, string, unknown?][] = [
      ['GET', `/${id}`],
      ['PATCH', `/${id}`, {}],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/secret-rotations`, {}],
      ['GET', `/${id}/deliveries`],
      ['POST', `/${id}/redeliveries`, { event_id: 1 }],
      ['POST', `/${id}/test-events`],
    ];
    for (const [method, path, body] of tries) expect((await call(method, path, body, {}, other)).status, `${method} ${path}`).toBe(404);
    expect((await call('GET', `/${id}`)).status).toBe(200);
  });

  test('what starts a delivery starts one for each key', async () => {
    const { id } = await endpoint();
    const key = { 'idempotency-key': 'once' };
    const [first, again] = [
      await call('POST', `/${id}/test-events`, undefined, key),
      await call('POST', `/${id}/test-events`, undefined, key),
    ];
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const tests = await mandate.db.em.fork().execute(`select 1 from events where type = 'webhook_endpoint.test' and subject_id = ?`, [id]);
    expect(tests).toHaveLength(1);
  });
});
