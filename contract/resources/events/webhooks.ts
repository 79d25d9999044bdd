import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { eventDays, eventTypes, eventWildcards } from './events.ts';
import { id, pathId } from '../../schema/ids.ts';
import { openEnum } from '../../schema/open-enum.ts';
import { commaList, page, pageQuery } from '../../schema/pagination.ts';
import {
  commonProblems,
  failuresOf,
  tokenGuarded,
  withBody,
  withCursor,
  withIdempotencyKey,
  withIfMatch,
} from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders, ifMatchHeaders, ifNoneMatchHeaders } from '../../protocol/route-metadata.ts';
import { shownOnce } from '../../schema/secret-field.ts';
import { instant, text } from '../../schema/text.ts';

const c = initContract();

export const webhookProblems = {
  too_many_webhook_endpoints: { status: 409, title: 'There are too many webhook endpoints' },
  webhook_endpoint_disabled: { status: 409, title: 'The webhook endpoint is disabled' },
  secret_still_overlaps: { status: 409, title: 'The secret before is still in use' },
} as const;

const fails = failuresOf({ ...commonProblems, ...webhookProblems });

/** How many endpoints one owner can have. */
export const webhookEndpointsMax = 20;
/** Longest time that a secret is used besides the one that follows it. */
export const webhookOverlapSecondsMax = 7 * 24 * 60 * 60;
/** How often a delivery is tried, the last time about 75 hours after the first. */
export const webhookTriesMax = 10;
/** After so many days of failures alone an endpoint is disabled. */
export const webhookFailingDaysMax = 5;
export const webhookDisabledReasons = ['manual', 'failing', 'gone', 'grant_revoked'] as const;
export const webhookDeliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;

const wanted = z
  .array(z.enum(['*', ...eventTypes, ...eventWildcards]))
  .min(1)
  .max(eventTypes.length + eventWildcards.length + 1);
const address = z.string().min(1).max(2000);
const descriptions = {
  url: 'Where events are sent: an https address that everybody can reach. In development http on the loopback interface is accepted as well.',
  events:
    'The event types it receives. `order.*` stands for every type that begins with `order.`, `*` for every type, both including types that are added later.',
  description: 'What it is for.',
};

const fields = {
  id,
  url: z.string().describe(descriptions.url),
  events: z.array(z.string()).describe(descriptions.events),
  description: z.string().nullable().describe(descriptions.description),
  status: z.enum(['enabled', 'disabled']),
  disabled_reason: openEnum(webhookDisabledReasons)
    .nullable()
    .describe('`gone`: it answered 410. `grant_revoked`: what let it see events has ended. `failing`: nothing but failures for 5 days.'),
  client_id: z.string().describe('The application that registered it.'),
  user_id: id.nullable().describe('The person it was registered for; `null`: an application on its own account.'),
  scopes: z.array(z.string()).describe('What the token that registered it, or changed it last, could see.'),
  failing_since: instant.nullable().describe('Since when every delivery has failed; `null` when the last one arrived.'),
  version: z.number().int().min(1).describe('Counts the changes.'),
  created_at: instant,
  updated_at: instant,
};

const signingSecret = 'The secret of the signatures (Standard Webhooks), for `verifyWebhook` of the SDK.';
const secret = shownOnce(signingSecret, 'If the first response was lost, rotate the secret of the endpoint.');
const rotatedSecret = shownOnce(
  signingSecret,
  'If the first response was lost, rotate the secret again with a new `Idempotency-Key`; while the previous secret is valid, with `overlap_seconds: 0`.',
);

export const webhookEndpoint = component('WebhookEndpoint', z.object(fields));
export const newWebhookEndpoint = component('NewWebhookEndpoint', z.object({ ...fields, secret }));

const webhookSecretRotation = component('WebhookSecretRotation', z.object({ secret: rotatedSecret, previous_secret_expires_at: instant }));

export const webhookEndpointCreate = component(
  'WebhookEndpointCreate',
  z
    .object({
      url: address.describe(descriptions.url),
      events: wanted.describe(descriptions.events),
      description: text(500).nullable().optional().describe(descriptions.description),
    })
    .strict(),
);

export const webhookEndpointUpdate = component(
  'WebhookEndpointUpdate',
  z
    .object({
      url: address.describe(descriptions.url),
      events: wanted.describe(descriptions.events),
      description: text(500).nullable().describe(descriptions.description),
      status: z.enum(['enabled', 'disabled']),
    })
    .partial()
    .strict(),
);

export const webhookDelivery = component(
  'WebhookDelivery',
  z.object({
    id,
    event_id: id,
    event_type: z.string(),
    status: z
      .enum(webhookDeliveryStatuses)
      .describe('`failed`: every try is spent. `skipped`: the endpoint was disabled, or could not see the event any more.'),
    attempts: z
      .array(
        component(
          'WebhookAttempt',
          z.object({
            at: instant,
            milliseconds: z.number().int().min(0).describe('How long it took.'),
            status_code: z.number().int().nullable().describe('What the endpoint answered; `null` when it did not.'),
            error: z
              .string()
              .nullable()
              .describe('Why it failed: `timeout`, `connection_failed`, `address_not_allowed`, `status_code`. More may be added.'),
          }),
        ),
      )
      .max(webhookTriesMax)
      .describe('The last ones, oldest first.'),
    next_attempt_at: instant.nullable(),
    created_at: instant,
    finished_at: instant.nullable(),
  }),
);

const endpointPath = z.object({ webhook_endpoint_id: pathId('Identifier of the webhook endpoint.') });
const eventId = id.describe('Identifier of an event.');

export const webhooks = c.router({
  list: {
    method: 'GET',
    path: '/webhook-endpoints',
    query: z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor }).strict(),
    summary: 'List webhook endpoints',
    description:
      'Your own, newest first: those that the application of the token registered, and with an application of the shop all of a person’s.',
    responses: { 200: page('WebhookEndpointPage', webhookEndpoint), ...fails(...tokenGuarded, ...withCursor) },
    metadata: describedBy({ operationId: 'webhooks.list', access: ['webhooks.read'] }),
  },
  create: {
    method: 'POST',
    path: '/webhook-endpoints',
    headers: idempotencyHeaders,
    body: webhookEndpointCreate,
    summary: 'Create a webhook endpoint',
    description: `It gets the events that the token could read, and those of an application on its own account the events of every person who allows it to see them, for as long as they do. At least once, in no certain order, signed as Standard Webhooks says; a failed delivery is tried ${webhookTriesMax} times within 76 hours. The secret is shown once.`,
    responses: { 201: newWebhookEndpoint, ...fails(...tokenGuarded, ...withBody, ...withIdempotencyKey, 'too_many_webhook_endpoints') },
    metadata: describedBy({ operationId: 'webhooks.create', access: ['webhooks.write'], idempotent: true, secret: 'secret' }),
  },
  get: {
    method: 'GET',
    path: '/webhook-endpoints/:webhook_endpoint_id',
    pathParams: endpointPath,
    headers: ifNoneMatchHeaders,
    summary: 'Get a webhook endpoint',
    responses: { 200: webhookEndpoint, 304: c.noBody(), ...fails(...tokenGuarded, 'not_found') },
    metadata: describedBy({ operationId: 'webhooks.get', access: ['webhooks.read'] }),
  },
  update: {
    method: 'PATCH',
    path: '/webhook-endpoints/:webhook_endpoint_id',
    pathParams: endpointPath,
    headers: ifMatchHeaders,
    body: webhookEndpointUpdate,
    summary: 'Update a webhook endpoint',
    description:
      'What is absent stays. Afterwards it sees what the token of the change can see. While it is disabled its deliveries are skipped; redeliver them once it is enabled again.',
    responses: { 200: webhookEndpoint, ...fails(...tokenGuarded, ...withBody, ...withIfMatch, 'not_found') },
    metadata: describedBy({ operationId: 'webhooks.update', access: ['webhooks.write'] }),
  },
  delete: {
    method: 'DELETE',
    path: '/webhook-endpoints/:webhook_endpoint_id',
    pathParams: endpointPath,
    headers: ifMatchHeaders,
    summary: 'Delete a webhook endpoint',
    description: 'With its deliveries. Nothing is sent to it after the answer.',
    responses: { 204: c.noBody(), ...fails(...tokenGuarded, ...withIfMatch, 'not_found') },
    metadata: describedBy({ operationId: 'webhooks.delete', access: ['webhooks.write'] }),
  },
  rotateSecret: {
    method: 'POST',
    path: '/webhook-endpoints/:webhook_endpoint_id/secret-rotations',
    pathParams: endpointPath,
    headers: idempotencyHeaders,
    body: component(
      'WebhookSecretRotationCreate',
      z
        .object({
          overlap_seconds: z
            .number()
            .int()
            .min(0)
            .max(webhookOverlapSecondsMax)
            .optional()
            .describe(
              'For how long deliveries are signed with the secret before as well; a day when left out. 0 ends every other secret at once.',
            ),
        })
        .strict(),
    ),
    summary: 'Replace the secret of a webhook endpoint',
    description: 'Deliveries carry both signatures until the overlap ends. The secret is shown once.',
    responses: {
      201: webhookSecretRotation,
      ...fails(...tokenGuarded, ...withBody, ...withIdempotencyKey, 'not_found', 'secret_still_overlaps'),
    },
    metadata: describedBy({ operationId: 'webhooks.rotateSecret', access: ['webhooks.write'], idempotent: true, secret: 'secret' }),
  },
  deliveries: {
    method: 'GET',
    path: '/webhook-endpoints/:webhook_endpoint_id/deliveries',
    pathParams: endpointPath,
    query: z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor, status: commaList(webhookDeliveryStatuses).optional() }).strict(),
    summary: 'List deliveries',
    description: `What was sent to the endpoint, or will be, newest first. Kept as long as their events: ${eventDays} days.`,
    responses: { 200: page('WebhookDeliveryPage', webhookDelivery), ...fails(...tokenGuarded, ...withCursor, 'not_found') },
    metadata: describedBy({ operationId: 'webhooks.deliveries', access: ['webhooks.read'] }),
  },
  redeliver: {
    method: 'POST',
    path: '/webhook-endpoints/:webhook_endpoint_id/redeliveries',
    pathParams: endpointPath,
    headers: idempotencyHeaders,
    body: component(
      'RedeliveryCreate',
      z
        .object({
          event_id: eventId.optional().describe('Sends this one again, whatever became of it.'),
          from_event_id: eventId.optional().describe('Sends what failed or was skipped, from this event on.'),
          to_event_id: eventId.optional().describe('Up to this event; without it, up to the newest.'),
          include_succeeded: z.boolean().optional().describe('Of a range, also what has arrived already.'),
        })
        .strict(),
    ),
    summary: 'Deliver events again',
    description: 'One event, or a range of them, with the same ids as before and a fresh row of tries.',
    responses: {
      202: component('Redelivery', z.object({ deliveries: z.number().int().min(0).describe('How many are sent again.') })),
      ...fails(...tokenGuarded, ...withBody, ...withIdempotencyKey, 'not_found', 'webhook_endpoint_disabled'),
    },
    metadata: describedBy({ operationId: 'webhooks.redeliver', access: ['webhooks.write'], idempotent: true }),
  },
  test: {
    method: 'POST',
    path: '/webhook-endpoints/:webhook_endpoint_id/test-events',
    pathParams: endpointPath,
    headers: idempotencyHeaders,
    body: c.noBody(),
    summary: 'Send a test event',
    description: 'An event of the type `webhook_endpoint.test`, to this endpoint alone, whatever types it wants.',
    responses: {
      202: component('TestEvent', z.object({ type: z.literal('webhook_endpoint.test'), webhook_endpoint_id: id })),
      ...fails(...tokenGuarded, ...withBody, ...withIdempotencyKey, 'not_found', 'webhook_endpoint_disabled'),
    },
    metadata: describedBy({ operationId: 'webhooks.test', access: ['webhooks.write'], idempotent: true }),
  },
});
export type WebhookEndpoint = z.output<typeof webhookEndpoint>;
export type NewWebhookEndpoint = z.output<typeof newWebhookEndpoint>;
export type WebhookSecretRotation = z.output<typeof webhookSecretRotation>;
export type WebhookEndpointCreate = z.output<typeof webhookEndpointCreate>;
export type WebhookEndpointUpdate = z.output<typeof webhookEndpointUpdate>;
export type WebhookDelivery = z.output<typeof webhookDelivery>;
export type WebhookDeliveryStatus = WebhookDelivery['status'];
