import type { ZodTypeAny } from 'zod';
import { connectedApp } from '../resources/access/connected-apps.ts';
import { event, type EventSubject, type EventType, eventTypes } from '../resources/events/events.ts';
import { order } from '../resources/orders/orders.ts';
import { payment } from '../resources/orders/payments.ts';
import { product } from '../resources/products/products.ts';
import { refund } from '../resources/orders/refunds.ts';
import { shipment } from '../resources/orders/shipments.ts';
import { task } from '../resources/tasks/tasks.ts';
import { user } from '../resources/access/users.ts';
import { webhookEndpoint } from '../resources/events/webhooks.ts';
import { exampleOf } from './examples/examples.ts';
import { exampleThings } from './examples/example-values.ts';
import { isJson, type Json, textOf } from '../schema/json.ts';
import { type Components, jsonSchema } from './schema.ts';

/** Schemas of `data.object`, by event subject. */
const subjectSchemas: Record<EventSubject, ZodTypeAny> = {
  user,
  product,
  order,
  payment,
  refund,
  shipment,
  task,
  grant: connectedApp,
  webhook_endpoint: webhookEndpoint,
};

const isSubject = (name: string): name is EventSubject => Object.hasOwn(subjectSchemas, name);

/** Headers of every delivery, as defined by Standard Webhooks 1.0.0. */
export const webhookParameters: Json = {
  WebhookId: header('webhook-id', 'ID of the event, the same for every attempt and redelivery. Use it to ignore duplicates.', {
    type: 'string',
    pattern: '^evt_[0-9]+$',
  }),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'Time of this attempt, in seconds since the Unix epoch. Reject deliveries older than a few minutes.',
    {
      type: 'string',
      pattern: '^[0-9]+$',
    },
  ),
  WebhookSignature: header(
    'webhook-signature',
    'Space-separated signatures. Each is `v1,` followed by the base64-encoded HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. The key is the base64-decoded part of the secret after `whsec_`. While a secret is being rotated there are two signatures; accept the delivery if one of them matches.',
    { type: 'string' },
  ),
};

function header(name: string, description: string, schema: Json): Json {
  return { name, in: 'header', description, required: true, schema };
}

/** Returns the `webhooks` section of the document: for each event type, the request that is sent to subscribed endpoints. */
export const webhooksOf = (tag: string, components: Components): Json =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: delivery(type, tag, components) }]));

function delivery(type: EventType, tag: string, components: Components): Json {
  const [subject = ''] = type.split('.');
  if (!isSubject(subject)) throw new Error(`${type} has no subject`);
  const payload = jsonSchema(subjectSchemas[subject], 'response', components);
  const schema = {
    allOf: [
      jsonSchema(event, 'response', components),
      {
        type: 'object',
        properties: {
          type: { type: 'string', const: type },
          data: { type: 'object', properties: { object: payload } },
        },
      },
    ],
  };
  return {
    operationId: `webhook.${type}`,
    tags: [tag],
    summary: `Deliver ${type}`,
    description: 'Sent to webhook endpoints at least once, in no guaranteed order.',
    security: [],
    parameters: Object.keys(webhookParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: exampleDelivery(type, subject, payload, components) } },
    },
    responses: {
      '2XX': { description: 'The delivery was received. The response body is ignored.' },
      '410': { description: 'Disables the endpoint. After any other error the delivery is retried.' },
    },
  };
}

/** Returns an example event with the example of its subject, in the status that the event type names. */
function exampleDelivery(type: EventType, subject: string, payload: Json, { schemas }: Components): Json {
  const example = exampleOf(payload, schemas);
  const state = textOf(type.split('.')[1]);
  if (!isJson(example)) throw new Error(`${type} has no example`);
  const { id = 1, version = null } = example;
  const object = { ...example, ...(statesOf(payload, schemas).includes(state) && { status: state }) };
  return { ...exampleThings['Event'], type, subject: { type: subject, id, version }, data: { object } };
}

/** Returns the possible values of the `status` field of a schema. */
function statesOf({ $ref }: Json, schemas: Json): readonly unknown[] {
  const target = schemas[textOf($ref).split('/').at(-1) ?? ''];
  const properties = isJson(target) && isJson(target['properties']) ? target['properties'] : {};
  const { enum: states } = isJson(properties['status']) ? properties['status'] : {};
  return Array.isArray(states) ? states : [];
}
