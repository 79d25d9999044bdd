import { eventSubjectDefinitions, type EventType, eventTypes } from '../resources/events/events.ts';
import { findOrGenerateSchemaExample } from './examples/add-openapi-examples.ts';
import { examplesBySchemaName } from './examples/schema-examples.ts';
import { isJsonObject, type JsonObject, jsonPrimitiveToText } from '../schema/json.ts';
import type { OpenApiComponents } from './json-schema-from-zod.ts';
import { eventSchemaNameFromSubject, subjectFromEventType } from './split-event-schema-by-subject.ts';

/** Headers of every delivery, as defined by Standard Webhooks 1.0.0. */
export const webhookHeaderOpenApiParameters: JsonObject = {
  WebhookId: header('webhook-id', 'ID of the event, the same for every attempt and redelivery. Use this ID to ignore duplicates.', {
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
    'Space-separated signatures. Each signature is `v1,` followed by the base64-encoded HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. The key is the base64-decoded part of the secret after `whsec_`. While a secret is being rotated, the header contains two signatures. Accept the delivery if either signature matches.',
    { type: 'string' },
  ),
};

function header(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'header', description, required: true, schema };
}

/**
 * Tag of the `webhooks` section. This tag differs from the tags of all operations, because client generators write one file for each tag.
 * If an operation had the same tag, the file for the deliveries would replace the file for the operations.
 */
export const webhookDeliveriesTag = { name: 'Webhook deliveries', description: 'Requests that the service sends to webhook endpoints.' };

/** Returns the `webhooks` section of the document: for each event type, the request that is sent to subscribed endpoints. */
export const createOpenApiWebhooksSection = (components: OpenApiComponents): JsonObject =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: delivery(type, components) }]));

function delivery(type: EventType, components: OpenApiComponents): JsonObject {
  const subject = subjectFromEventType(type);
  const payload = { $ref: `#/components/schemas/${eventSubjectDefinitions[subject].schema}` };
  const schema = {
    allOf: [
      { $ref: `#/components/schemas/${eventSchemaNameFromSubject(subject)}` },
      { type: 'object', properties: { type: { type: 'string', const: type } } },
    ],
  };
  return {
    operationId: `webhook.${type}`,
    tags: [webhookDeliveriesTag.name],
    summary: `Deliver events of type ${type}`,
    description: 'Each event is sent to webhook endpoints at least once. The order of events is not guaranteed.',
    security: [],
    parameters: Object.keys(webhookHeaderOpenApiParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
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

/** Returns an example event with the example of its subject and the status that the event type implies. */
function exampleDelivery(type: EventType, subject: string, payload: JsonObject, { schemas }: OpenApiComponents): JsonObject {
  const example = findOrGenerateSchemaExample(payload, schemas);
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
