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

/** The schema of `data.object`, by the kind of thing that an event is about. */
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

/** The headers of Standard Webhooks 1.0.0, which every delivery has. */
export const webhookParameters: Json = {
  WebhookId: header(
    'webhook-id',
    'Identifies the event: the same for every attempt and every redelivery, so use it to ignore duplicates.',
    {
      type: 'string',
      pattern: '^evt_[0-9]+$',
    },
  ),
  WebhookTimestamp: header('webhook-timestamp', 'Time of this attempt in seconds since 1970. Reject deliveries older than a few minutes.', {
    type: 'string',
    pattern: '^[0-9]+$',
  }),
  WebhookSignature: header(
    'webhook-signature',
    'Signatures, separated by spaces: `v1,` and the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. The key is the part of the secret after `whsec_`, decoded from base64. There are two signatures while a secret is being replaced; accept the delivery if one of them matches.',
    { type: 'string' },
  ),
};

function header(name: string, description: string, schema: Json): Json {
  return { name, in: 'header', description, required: true, schema };
}

/** The `webhooks` of the document: the request that each type of event sends to the endpoints that subscribe to it. */
export const webhooksOf = (tag: string, components: Components): Json =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: delivery(type, tag, components) }]));

function delivery(type: EventType, tag: string, components: Components): Json {
  const [subject = ''] = type.split('.');
  if (!isSubject(subject)) throw new Error(`${type} is about nothing`);
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
      '2XX': { description: 'Received. The body of the response is ignored.' },
      '410': { description: 'Disables the endpoint. After any other failure the delivery is repeated.' },
    },
  };
}

/** An example event about the example of its subject, in the state that the type names. */
function exampleDelivery(type: EventType, subject: string, payload: Json, { schemas }: Components): Json {
  const thing = exampleOf(payload, schemas);
  const state = textOf(type.split('.')[1]);
  if (!isJson(thing)) throw new Error(`${type} has no example`);
  const { id = 1, version = null } = thing;
  const object = { ...thing, ...(statesOf(payload, schemas).includes(state) && { status: state }) };
  return { ...exampleThings['Event'], type, subject: { type: subject, id, version }, data: { object } };
}

/** The values of a schema's `status`. */
function statesOf({ $ref }: Json, schemas: Json): readonly unknown[] {
  const target = schemas[textOf($ref).split('/').at(-1) ?? ''];
  const properties = isJson(target) && isJson(target['properties']) ? target['properties'] : {};
  const { enum: states } = isJson(properties['status']) ? properties['status'] : {};
  return Array.isArray(states) ? states : [];
}
