import type { ZodTypeAny } from 'zod';
import { connectedAppSchema } from '../resources/access/connected-apps.ts';
import { eventSchema, type EventSubject, type EventType, eventTypes } from '../resources/events/events.ts';
import { orderSchema } from '../resources/orders/orders.ts';
import { paymentSchema } from '../resources/orders/payments.ts';
import { productSchema } from '../resources/products/products.ts';
import { refundSchema } from '../resources/orders/refunds.ts';
import { shipmentSchema } from '../resources/orders/shipments.ts';
import { taskSchema } from '../resources/tasks/tasks.ts';
import { userSchema } from '../resources/access/users.ts';
import { webhookEndpointSchema } from '../resources/events/webhooks.ts';
import { createSchemaExample } from './examples/add-openapi-examples.ts';
import { examplesBySchemaName } from './examples/example-values.ts';
import { isJsonObject, type JsonObject, jsonPrimitiveToText } from '../schema/json.ts';
import { type OpenApiComponents, toJsonSchema } from './json-schema.ts';

/** Schemas of `data.object`, by event subject. */
const subjectSchemas: Record<EventSubject, ZodTypeAny> = {
  user: userSchema,
  product: productSchema,
  order: orderSchema,
  payment: paymentSchema,
  refund: refundSchema,
  shipment: shipmentSchema,
  task: taskSchema,
  grant: connectedAppSchema,
  webhook_endpoint: webhookEndpointSchema,
};

const isSubject = (name: string): name is EventSubject => Object.hasOwn(subjectSchemas, name);

/** Headers of every delivery, as defined by Standard Webhooks 1.0.0. */
export const webhookHeaderParameters: JsonObject = {
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
    'Space-separated signatures. Each signature is `v1,` followed by the base64-encoded HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. The key is the base64-decoded part of the secret after `whsec_`. While a secret is being rotated, there are two signatures. Accept the delivery if either of them matches.',
    { type: 'string' },
  ),
};

function header(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'header', description, required: true, schema };
}

/** Returns the `webhooks` section of the document: for each event type, the request that is sent to subscribed endpoints. */
export const createWebhooksSection = (tag: string, components: OpenApiComponents): JsonObject =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: delivery(type, tag, components) }]));

function delivery(type: EventType, tag: string, components: OpenApiComponents): JsonObject {
  const [subject = ''] = type.split('.');
  if (!isSubject(subject)) throw new Error(`${type} has no subject`);
  const payload = toJsonSchema(subjectSchemas[subject], 'response', components);
  const schema = {
    allOf: [
      toJsonSchema(eventSchema, 'response', components),
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
    parameters: Object.keys(webhookHeaderParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: exampleDelivery(type, subject, payload, components) } },
    },
    responses: {
      '2XX': { description: 'The delivery was received. The response body is ignored.' },
      '410': { description: 'Disables the endpoint. After any other error, the delivery is retried.' },
    },
  };
}

/** Returns an example event that contains the example of its subject, with the status that the event type names. */
function exampleDelivery(type: EventType, subject: string, payload: JsonObject, { schemas }: OpenApiComponents): JsonObject {
  const example = createSchemaExample(payload, schemas);
  const state = jsonPrimitiveToText(type.split('.')[1]);
  if (!isJsonObject(example)) throw new Error(`${type} has no example`);
  const { id = 1, version = null } = example;
  const object = { ...example, ...(statesOf(payload, schemas).includes(state) && { status: state }) };
  return { ...examplesBySchemaName['Event'], type, subject: { type: subject, id, version }, data: { object } };
}

/** Returns the possible values of a schema's `status` field. */
function statesOf({ $ref }: JsonObject, schemas: JsonObject): readonly unknown[] {
  const target = schemas[jsonPrimitiveToText($ref).split('/').at(-1) ?? ''];
  const properties = isJsonObject(target) && isJsonObject(target['properties']) ? target['properties'] : {};
  const { enum: states } = isJsonObject(properties['status']) ? properties['status'] : {};
  return Array.isArray(states) ? states : [];
}
