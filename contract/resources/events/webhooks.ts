import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import {
  maxWebhookAttempts,
  maxWebhookSecretOverlapSeconds,
  webhookDeliveryStatuses,
  webhookDisabledReasons,
  webhookProblemTypes,
} from './webhook-limits-states-and-problems.ts';
import { webhookDeliveryDetailsSchema, webhookDeliverySchema } from './webhook-delivery-schemas.ts';
import { eventRetentionDays, eventTypes, eventTypeWildcards } from './events.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthenticatedOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  ifMatchFailureCodes,
  problemCodesOfAuthenticatedPosts,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  declareRouteMetadata,
  idempotencyHeadersSchema,
  ifMatchHeadersSchema,
  ifNoneMatchHeadersSchema,
} from '../../protocol/route-metadata.ts';
import { secretShownOnceSchema, secretRotationBodySchema } from '../../schema/secret-shown-once.ts';
import { timestampSchema, multilineTextSchema, lengthLimitedTextSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

const fails = declareProblemResponses({ ...commonProblemTypes, ...webhookProblemTypes });
const { limit, cursor } = paginationParameters;

const subscribedTypes = z
  .array(z.enum(['*', ...eventTypes, ...eventTypeWildcards]))
  .min(1)
  .max(eventTypes.length + eventTypeWildcards.length + 1);
const address = lengthLimitedTextSchema(2000, 1);
const descriptions = {
  url: 'URL that receives the events. The URL must be an https URL on the public internet; in development, http on the loopback interface is also accepted.',
  events:
    'Event types that are sent to the endpoint. `order.*` matches every type that begins with `order.`, and `*` matches every type. Both wildcards include types that are added later.',
  description: 'Description of the endpoint.',
};

const fields = {
  id: idSchema,
  url: z.string().describe(descriptions.url),
  events: z.array(z.string()).describe(descriptions.events),
  description: z.string().nullable().describe(descriptions.description),
  status: z.enum(['enabled', 'disabled']),
  disabled_reason: extensibleEnumSchema(webhookDisabledReasons)
    .nullable()
    .describe(
      "Why the endpoint is disabled. `gone`: the endpoint responded with 410. `grant_revoked`: the endpoint's access to events was revoked. `failing`: every delivery has failed for 5 days.",
    ),
  client_id: z.string().describe('Client ID of the application that created the endpoint.'),
  user_id: idSchema.nullable().describe('User for whom the endpoint was created; `null` if an application created it on its own behalf.'),
  scopes: z
    .array(z.string())
    .describe('Scopes of the token that created or last updated the endpoint. The scopes determine the events that the endpoint receives.'),
  failing_since: timestampSchema
    .nullable()
    .describe('Start of the period in which every delivery has failed; `null` if the last delivery succeeded.'),
  version: z.number().int().min(1).describe('Version number, incremented on every change.'),
  created_at: timestampSchema,
  updated_at: timestampSchema,
};

const signingSecret = "The signing secret (Standard Webhooks). Pass the secret to the SDK's `verifyWebhook` function.";
const secret = secretShownOnceSchema(signingSecret, 'If the first response was lost, rotate the secret of the endpoint.');
const rotatedSecret = secretShownOnceSchema(
  signingSecret,
  'If the first response was lost, rotate the secret again with a new `Idempotency-Key`. Rotating the secret again while the previous secret is still valid requires `overlap_seconds: 0`.',
);

export const webhookEndpointSchema = withSchemaName('WebhookEndpoint', z.object(fields));
export const createdWebhookEndpointResponseSchema = withSchemaName('WebhookEndpointWithSecret', z.object({ ...fields, secret }));

const webhookSecretRotation = withSchemaName(
  'WebhookSecretRotation',
  z.object({ secret: rotatedSecret, previous_secret_expires_at: timestampSchema }),
);

export const webhookEndpointCreateSchema = withSchemaName(
  'WebhookEndpointCreate',
  z
    .object({
      url: address.describe(descriptions.url),
      events: subscribedTypes.describe(descriptions.events),
      description: multilineTextSchema(500).nullable().optional().describe(descriptions.description),
    })
    .strict(),
);

export const webhookEndpointUpdateSchema = withSchemaName(
  'WebhookEndpointUpdate',
  z
    .object({
      url: address.describe(descriptions.url),
      events: subscribedTypes.describe(descriptions.events),
      description: multilineTextSchema(500).nullable().describe(descriptions.description),
      status: z.enum(['enabled', 'disabled']),
    })
    .partial()
    .strict(),
);

const endpointPath = z.object({ webhook_endpoint_id: pathIdSchema('ID of the webhook endpoint.') });
const eventId = idSchema.describe('ID of an event.');

export const webhookRoutes = defineResource('Webhooks', 'Delivery of events to a URL that you register.', {
  list: {
    method: 'GET',
    path: '/webhook-endpoints',
    query: z.object({ limit, cursor }).strict(),
    summary: 'List webhook endpoints',
    description:
      "Returns the webhook endpoints of the caller, newest first. An application sees only the endpoints that it created; a first-party application sees all of the user's endpoints.",
    responses: {
      200: listPageSchema('WebhookEndpointPage', webhookEndpointSchema),
      ...fails(...problemCodesOfAuthenticatedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'webhooks.list', access: ['webhooks.read'] }),
  },
  create: {
    method: 'POST',
    path: '/webhook-endpoints',
    headers: idempotencyHeadersSchema,
    body: webhookEndpointCreateSchema,
    summary: 'Create a webhook endpoint',
    description: `Registers a URL to receive the events that the token can read. An endpoint that an application creates on its own behalf receives the events of all users who have given the application access, until they revoke this access. Events are delivered at least once, in no guaranteed order, and signed as specified by Standard Webhooks. A failed delivery is retried, with up to ${maxWebhookAttempts} attempts within 76 hours. The signing secret is shown only once.`,
    responses: { 201: createdWebhookEndpointResponseSchema, ...fails(...problemCodesOfAuthenticatedPosts, 'too_many_webhook_endpoints') },
    metadata: declareRouteMetadata({ operationId: 'webhooks.create', access: ['webhooks.write'], idempotent: true, secret: 'secret' }),
  },
  get: {
    method: 'GET',
    path: '/webhook-endpoints/:webhook_endpoint_id',
    pathParams: endpointPath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a webhook endpoint',
    description: 'Returns the endpoint without its secret. The secret is returned only on creation and rotation.',
    responses: { 200: webhookEndpointSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthenticatedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'webhooks.get', access: ['webhooks.read'] }),
  },
  update: {
    method: 'PATCH',
    path: '/webhook-endpoints/:webhook_endpoint_id',
    pathParams: endpointPath,
    headers: ifMatchHeadersSchema,
    body: webhookEndpointUpdateSchema,
    summary: 'Update a webhook endpoint',
    description:
      'Omitted fields keep their values. After the update, the endpoint receives the events that the token used for this request can read. Deliveries to a disabled endpoint are skipped; you can redeliver them after you have enabled the endpoint.',
    responses: {
      200: webhookEndpointSchema,
      ...fails(...problemCodesOfAuthenticatedOperations, ...bodyProblemCodes, ...ifMatchFailureCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'webhooks.update', access: ['webhooks.write'] }),
  },
  delete: {
    method: 'DELETE',
    path: '/webhook-endpoints/:webhook_endpoint_id',
    pathParams: endpointPath,
    headers: ifMatchHeadersSchema,
    summary: 'Delete a webhook endpoint',
    description: 'Deletes the endpoint and its deliveries. Once the response has been returned, nothing more is sent to the endpoint.',
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthenticatedOperations, ...ifMatchFailureCodes, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'webhooks.delete', access: ['webhooks.write'] }),
  },
  rotateSecret: {
    method: 'POST',
    path: '/webhook-endpoints/:webhook_endpoint_id/secret-rotations',
    pathParams: endpointPath,
    headers: idempotencyHeadersSchema,
    body: withSchemaName(
      'WebhookSecretRotationCreate',
      secretRotationBodySchema(
        maxWebhookSecretOverlapSeconds,
        'How long deliveries are also signed with the previous secret, in seconds (default: 1 day). `0` invalidates all other secrets immediately.',
      ),
    ),
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'Creates a new signing secret. Deliveries are signed with both secrets until the previous secret expires. The new secret is shown only once.',
    responses: {
      201: webhookSecretRotation,
      ...fails(...problemCodesOfAuthenticatedPosts, 'not_found', 'secret_still_overlaps'),
    },
    metadata: declareRouteMetadata({
      operationId: 'webhooks.rotateSecret',
      access: ['webhooks.write'],
      idempotent: true,
      secret: 'secret',
    }),
  },
  deliveries: {
    method: 'GET',
    path: '/webhook-endpoints/:webhook_endpoint_id/deliveries',
    pathParams: endpointPath,
    query: z.object({ limit, cursor, status: commaSeparatedEnumSchema(webhookDeliveryStatuses).optional() }).strict(),
    summary: 'List the deliveries to a webhook endpoint',
    description: `Returns the past and pending deliveries to the endpoint, newest first. A delivery is stored for as long as its event: ${eventRetentionDays} days.`,
    responses: {
      200: listPageSchema('WebhookDeliveryPage', webhookDeliverySchema),
      ...fails(...problemCodesOfAuthenticatedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'webhooks.deliveries', access: ['webhooks.read'] }),
  },
  getDelivery: {
    method: 'GET',
    path: '/webhook-endpoints/:webhook_endpoint_id/deliveries/:webhook_delivery_id',
    pathParams: endpointPath.extend({ webhook_delivery_id: pathIdSchema('ID of the delivery.') }),
    query: z.object({}).strict(),
    summary: 'Get a delivery to a webhook endpoint',
    description:
      'Returns the delivery with the request and the response of each attempt. The request body is the event. Callers with access to the event can get it with `GET /events/{event_id}`.',
    responses: { 200: webhookDeliveryDetailsSchema, ...fails(...problemCodesOfAuthenticatedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'webhooks.getDelivery', access: ['webhooks.read'] }),
  },
  redeliver: {
    method: 'POST',
    path: '/webhook-endpoints/:webhook_endpoint_id/redeliveries',
    pathParams: endpointPath,
    headers: idempotencyHeadersSchema,
    body: withSchemaName(
      'RedeliveryCreate',
      z
        .object({
          event_id: eventId.optional().describe('ID of the event to redeliver, even if it was delivered successfully.'),
          from_event_id: eventId.optional().describe('First event of a range whose failed and skipped deliveries are retried.'),
          to_event_id: eventId.optional().describe('Last event of the range (default: the newest event).'),
          include_succeeded: z
            .boolean()
            .optional()
            .describe('Whether to also redeliver events in the range that were delivered successfully (default: false).'),
        })
        .strict(),
    ),
    summary: 'Redeliver events',
    description: 'Redelivers one event or a range of events. The events keep their IDs, and each delivery gets a new series of attempts.',
    responses: {
      202: withSchemaName('Redelivery', z.object({ deliveries: z.number().int().min(0).describe('Number of scheduled deliveries.') })),
      ...fails(...problemCodesOfAuthenticatedPosts, 'not_found', 'webhook_endpoint_disabled'),
    },
    metadata: declareRouteMetadata({ operationId: 'webhooks.redeliver', access: ['webhooks.write'], idempotent: true }),
  },
  test: {
    method: 'POST',
    path: '/webhook-endpoints/:webhook_endpoint_id/test-events',
    pathParams: endpointPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Send a test event',
    description: 'Sends a `webhook_endpoint.test` event to this endpoint only, even if the endpoint does not subscribe to this event type.',
    responses: {
      202: withSchemaName('TestEvent', z.object({ type: z.literal('webhook_endpoint.test'), webhook_endpoint_id: idSchema })),
      ...fails(...problemCodesOfAuthenticatedPosts, 'not_found', 'webhook_endpoint_disabled'),
    },
    metadata: declareRouteMetadata({ operationId: 'webhooks.test', access: ['webhooks.write'], idempotent: true }),
  },
});
export type WebhookEndpoint = z.output<typeof webhookEndpointSchema>;
export type WebhookEndpointWithSecret = z.output<typeof createdWebhookEndpointResponseSchema>;
export type WebhookSecretRotation = z.output<typeof webhookSecretRotation>;
export type WebhookEndpointCreate = z.output<typeof webhookEndpointCreateSchema>;
export type WebhookEndpointUpdate = z.output<typeof webhookEndpointUpdateSchema>;
