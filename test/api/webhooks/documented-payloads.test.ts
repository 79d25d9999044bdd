/** Tests that deliveries match the `webhooks` section of the OpenAPI document. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient, type Client } from '@mandate/client-sdk';
import { followEvents, iterateEvents } from '@mandate/client-sdk/webhooks';
import { eventSubjectDefinitions, eventTypes } from '@mandate/contract';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { runPendingTasks } from '../../support/shop/run-tasks.ts';
import {
  deliverPendingEvents,
  startWebhookReceiver,
  type ReceivedDelivery,
  type WebhookReceiver,
} from '../../support/webhooks/webhook-receiver.ts';

const shop = withShop();
let receiver: WebhookReceiver;
let deliveries: readonly ReceivedDelivery[];
let client: Client;

const createOperation = z
  .object({
    requestBody: z.object({ content: z.object({ 'application/json': z.object({ example: z.record(z.unknown()) }) }) }),
    responses: z.object({
      '201': z.object({ content: z.object({ 'application/json': z.object({ schema: z.object({ $ref: z.string() }) }) }) }),
    }),
  })
  .optional()
  .catch(undefined);
const documentShape = z.object({
  paths: z.record(z.object({ post: createOperation })),
  components: z.object({
    schemas: z.record(z.record(z.unknown())),
    parameters: z.record(z.object({ name: z.string(), schema: z.unknown() })),
  }),
  webhooks: z.record(
    z.object({
      post: z.object({
        parameters: z.array(z.object({ $ref: z.string() })),
        requestBody: z.object({ content: z.object({ 'application/json': z.object({ schema: z.unknown() }) }) }),
      }),
    }),
  ),
});
const document = documentShape.parse(createOpenApiDocument('https://shop.example'));
/** Path (below `/api/v1`) and example body of each POST request that creates a resource, keyed by the resource's schema name. */
const createOperations = new Map(
  Object.entries(document.paths).flatMap(([path, { post: operation }]): [string, [string, object]][] => {
    const schema = operation?.responses['201']?.content['application/json'].schema.$ref.split('/').at(-1);
    const example = operation?.requestBody?.content['application/json'].example;
    return schema === undefined || example === undefined ? [] : [[schema, [path.replace('/api/v1', ''), example]]];
  }),
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the formats work with both classes
(addFormats as unknown as (to: unknown) => void)(ajv);
ajv.addSchema({ ...document, $id: 'https://shop.example/' });
const payloadSchemaUri = (type: string): string =>
  `https://shop.example/#/webhooks/${type.replace('/', '~1')}/post/requestBody/content/application~1json/schema`;

const validationErrors = (type: string, payload: unknown): unknown => {
  const validate = ajv.getSchema(payloadSchemaUri(type));
  if (!validate) return `${type} is not in the document`;
  return validate(payload) ? null : validate.errors;
};

/**
 * Creates events for every type of subject, for one user who subscribes to all events. Uses the example bodies wherever they are
 * sufficient.
 */
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  const anna = await signUpWithRole(shop.db, shop.origin, 'admin');
  const scopes = Object.values(eventSubjectDefinitions).flatMap(({ own, all }) => [...(own === null ? [] : [own]), ...all]);
  const otherScopes = [
    'events.read',
    'orders.write',
    'payments.write',
    'refunds.write',
    'tasks.write',
    'webhooks.write',
    'products.write',
  ] as const;
  const { access_token: token } = await obtainTokens(shop.origin, anna, [...new Set([...scopes, ...otherScopes])]);
  const post = async (path: string, body: object, status = 201): Promise<JsonBody> => {
    const response = await shop.callApi('POST', `/api/v1${path}`, { token, body });
    expect(response.status, response.text).toBe(status);
    return response.body;
  };
  client = createClient({ baseUrl: shop.origin, auth: token });
  const endpoint = await post('/webhook-endpoints', { url: receiver.url, events: ['*'] });
  const product = await shop.createProduct({ stock: 1 });
  await post('/quotes', buildOrderInput([product, 1]));
  const order = await post('/orders', buildOrderInput([product, 1]));
  await post(`/orders/${order.id}/payments`, { provider: 'test', method_token: 'test_ok' });
  await post(`/orders/${order.id}/shipments`, { status: 'shipped' });
  await post(`/orders/${order.id}/refunds`, { amount: 100, reason: 'requested_by_customer' });
  await shop.callApi('POST', '/api/v1/users', { token: shop.token, body: { name: 'Ben', email: 'ben@example.com' } });
  await post('/order-exports', {}, 202);
  await runPendingTasks(shop);
  await obtainTokens(shop.origin, anna, ['orders.read']);
  await post(`/webhook-endpoints/${endpoint.id}/test-events`, {}, 202);
  await deliverPendingEvents(shop);
  const delivered = new Set(receiver.deliveries.map(({ body }) => String(body.type).split('.', 1).join('')));
  for (const [subject, { schema }] of Object.entries(eventSubjectDefinitions)) {
    const [path, example] = createOperations.get(schema) ?? [];
    if (!delivered.has(subject) && path !== undefined && example) await post(path, example);
  }
  await deliverPendingEvents(shop);
  deliveries = receiver.deliveries;
}, 60_000);
afterAll(async () => {
  await receiver.close();
});

test('the document contains exactly the event types', () => {
  expect(Object.keys(document.webhooks)).toEqual([...eventTypes]);
});

test('every delivery has the documented headers and payload', () => {
  const types = deliveries.map(({ body }) => String(body.type));
  const subjectTypes = new Set<string>(types.map((type) => type.split('.', 1).join('')));
  expect(subjectTypes, 'change a resource of each missing subject in beforeAll()').toEqual(new Set(Object.keys(eventSubjectDefinitions)));
  const isValidHeader = (name: string, schema: unknown, value: unknown): boolean =>
    typeof value === 'string' && ajv.validate(z.record(z.unknown()).parse(schema), value) && name === name.toLowerCase();
  for (const { body, headers } of deliveries) {
    expect([body.type, validationErrors(body.type, body)]).toEqual([body.type, null]);
    for (const { name, schema } of Object.values(document.components.parameters))
      expect([name, isValidHeader(name, schema, headers[name])]).toEqual([name, true]);
  }
});

const eventErrors = (schema: string, event: unknown): unknown => {
  const validate = ajv.getSchema(`https://shop.example/#/components/schemas/${schema}`);
  return validate?.(event) === true ? null : (validate?.errors ?? `${schema} is not in the document`);
};

test('every event in the feed matches the alternative of its subject', async () => {
  const { data: events } = await client.events.list({ limit: 100 });
  expect(new Set(events.map(({ subject }) => subject.type))).toEqual(new Set(Object.keys(eventSubjectDefinitions)));
  for (const event of events) {
    const schema = `${event.subject.type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
    expect([event.type, eventErrors('Event', event), eventErrors(schema, event)]).toEqual([event.type, null, null]);
    expect(eventErrors('OtherEvent', event)).not.toBeNull();
  }
});

test('the client narrows the resource of an event by its type', async () => {
  const totals: number[] = [];
  for await (const event of followEvents(client, { type: ['order.*', 'refund.created'] })) {
    if (event.type === 'order.paid') totals.push(event.data.object.total);
    if (event.type !== 'refund.created') continue;
    totals.push(event.data.object.amount);
    break;
  }
  expect(totals).toEqual([expect.any(Number), 100]);
});

test('the client iterates over all stored events, page by page, and ends', async () => {
  const ids: number[] = [];
  const pageSizes: number[] = [];
  const listTwoAtATime: typeof client.events.list = (query, options) => client.events.list({ ...query, limit: 2 }, options);
  const source = {
    events: {
      list: async (...args: Parameters<typeof listTwoAtATime>) => {
        const page = await listTwoAtATime(...args);
        pageSizes.push(page.data.length);
        return page;
      },
    },
  };
  for await (const event of iterateEvents(source)) ids.push(event.id);
  const { data: events } = await client.events.list({ limit: 100 });
  expect(ids).toEqual(events.map(({ id }) => id));
  expect(pageSizes.length).toBe(Math.ceil(ids.length / 2));
  const [, second] = events;
  const paid: string[] = [];
  for await (const event of iterateEvents(client, { after: second?.id, type: ['order.paid'] })) paid.push(event.type);
  expect(paid).toEqual(events.filter(({ id, type }) => type === 'order.paid' && id > (second?.id ?? 0)).map(({ type }) => type));
  for await (const event of iterateEvents(client, { signal: AbortSignal.abort() })) ids.push(event.id);
  expect(ids).toHaveLength(events.length);
});

test('an event of a newer type is valid, but an event with the resource of another type is not', async () => {
  const { data } = await client.events.list({ type: ['order.paid'] });
  const [event] = data;
  expect(eventErrors('Event', { ...event, type: 'order.archived' })).toBeNull();
  expect(eventErrors('Event', { ...event, type: 'parcel.lost', data: { object: { weight: 2 } } })).toBeNull();
  expect(eventErrors('KnownEvent', { ...event, type: 'order.archived' })).not.toBeNull();
  expect(eventErrors('Event', { ...event, type: 'product.created' })).not.toBeNull();
});

test('a payload of another type or with invalid data is rejected', () => {
  const payload = deliveries.find(({ body }) => body.type === 'order.created')?.body;
  expect(validationErrors('order.paid', payload)).not.toBeNull();
  expect(validationErrors('product.created', { ...payload, type: 'product.created' })).not.toBeNull();
  expect(validationErrors('order.created', { ...payload, data: { object: { ...payload.data.object, total: 'much' } } })).not.toBeNull();
});
