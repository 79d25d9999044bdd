/** Deliveries look like the `webhooks` of the OpenAPI document. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { eventSubjectScopes, eventTypes } from '@mandate/contract';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { signUpAs, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { openShop, pickup, type Shop } from '../../support/server/shop.ts';
import { carryOutTasks } from '../../support/tasks.ts';
import { deliver, openReceiver, type Received, type Receiver } from '../../support/network/webhook-receiver.ts';

let mandate: Mandate;
let shop: Shop;
let receiver: Receiver;
let deliveries: readonly Received[];

const documentShape = z.object({
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
const ajv = new Ajv2020({ strict: false, allErrors: true });
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both are the same class to its formats
(addFormats as unknown as (to: unknown) => void)(ajv);
ajv.addSchema({ ...document, $id: 'https://shop.example/' });
const pathOf = (type: string): string =>
  `https://shop.example/#/webhooks/${type.replace('/', '~1')}/post/requestBody/content/application~1json/schema`;

const faultsOf = (type: string, payload: unknown): unknown => {
  const validate = ajv.getSchema(pathOf(type));
  if (!validate) return `${type} is not in the document`;
  return validate(payload) ? null : validate.errors;
};

/** Makes something happen to a thing of every kind, for one user who subscribes to everything. */
beforeAll(async () => {
  mandate = await startMandate();
  shop = await openShop(mandate);
  receiver = await openReceiver();
  const anna = await signUpAs(mandate.db, mandate.origin, 'admin');
  const scopes = Object.values(eventSubjectScopes).flatMap(({ own, all }) => [...(own === null ? [] : [own]), ...all]);
  const writing = ['orders.write', 'payments.write', 'refunds.write', 'tasks.write', 'webhooks.write', 'products.write'] as const;
  const { access_token: token } = await tokensFor(mandate.origin, anna, [...new Set([...scopes, ...writing])]);
  const post = async (path: string, body: object, status = 201): Promise<Body> => {
    const answer = await mandate.call('POST', `/api/v1${path}`, { token, body });
    expect(answer.status, answer.text).toBe(status);
    return answer.body;
  };
  const endpoint = await post('/webhook-endpoints', { url: receiver.url, events: ['*'] });
  const product = await shop.product({ stock: 1 });
  const order = await post('/orders', { items: [{ product_id: product.id, quantity: 1 }], delivery: pickup });
  await post(`/orders/${order.id}/payments`, { provider: 'test', method_token: 'test_ok' });
  await post(`/orders/${order.id}/shipments`, { status: 'shipped' });
  await post(`/orders/${order.id}/refunds`, { amount: 100, reason: 'requested_by_customer' });
  await mandate.call('POST', '/api/v1/users', { token: shop.token, body: { name: 'Ben', email: 'ben@example.com' } });
  await post('/order-exports', {}, 202);
  await carryOutTasks(mandate);
  await tokensFor(mandate.origin, anna, ['orders.read']);
  await post(`/webhook-endpoints/${endpoint.id}/test-events`, {}, 202);
  await deliver(mandate);
  deliveries = receiver.received;
}, 60_000);
afterAll(async () => {
  await receiver.close();
  await mandate.close();
});

test('every type of event is in the document, and nothing else', () => {
  expect(Object.keys(document.webhooks)).toEqual([...eventTypes]);
});

test('every delivery has the documented headers and payload', () => {
  const types = deliveries.map(({ body }) => String(body.type));
  const kinds = new Set<string>(types.map((type) => type.split('.', 1).join('')));
  expect(kinds).toEqual(new Set(Object.keys(eventSubjectScopes)));
  const validHeader = (name: string, schema: unknown, value: unknown): boolean =>
    typeof value === 'string' && ajv.validate(z.record(z.unknown()).parse(schema), value) && name === name.toLowerCase();
  for (const { body, headers } of deliveries) {
    expect([body.type, faultsOf(body.type, body)]).toEqual([body.type, null]);
    for (const { name, schema } of Object.values(document.components.parameters))
      expect([name, validHeader(name, schema, headers[name])]).toEqual([name, true]);
  }
});

test('a payload of another type or about another thing is not valid', () => {
  const payload = deliveries.find(({ body }) => body.type === 'order.created')?.body;
  expect(faultsOf('order.paid', payload)).not.toBeNull();
  expect(faultsOf('product.created', { ...payload, type: 'product.created' })).not.toBeNull();
  expect(faultsOf('order.created', { ...payload, data: { object: { ...payload.data.object, total: 'much' } } })).not.toBeNull();
});
