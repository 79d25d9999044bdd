import { defineEntity, p } from '@mikro-orm/core';
import {
  type WebhookDelivery as WebhookDeliveryBody,
  type WebhookExchange,
  webhookDeliveryStatuses,
  webhookDisabledReasons,
} from '@mandate/contract';
import { ApiKey } from '../../api-keys/api-key.entity.ts';
import { Application } from '../../applications/application.entity.ts';
import { Event } from '../../events/event-and-sequence-counter.entity.ts';
import { User } from '../../users/user.entity.ts';

/**
 * Types of authorization for an endpoint's access: an application that acts on its own behalf, a user in a first-party application, a
 * user's grant to a third-party application, or an API key.
 */
export const endpointAccessBases = ['application', 'person', 'grant', 'api_key'] as const;
export type EndpointAccessBasis = (typeof endpointAccessBases)[number];

/** An attempt to send a delivery. Attempts that earlier releases recorded have neither a request nor a response. */
type StoredAttempt = WebhookDeliveryBody['attempts'][number] & Partial<WebhookExchange>;

/** A URL to which events are sent. */
export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    authority: p.enum(endpointAccessBases),
    clientId: p.text(),
    user: () => p.manyToOne(User).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    application: () => p.manyToOne(Application).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    apiKey: () => p.manyToOne(ApiKey).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    /** Scopes of the token that registered the endpoint. */
    scopes: p.array(),
    /** Whether the token that registered the endpoint could access only the orders that its application placed. */
    ownOrdersOnly: p.boolean().default(false),
    url: p.text().check('length(url) <= 2000'),
    events: p.array(),
    description: p.text().nullable(),
    status: p.enum(['enabled', 'disabled']).default('enabled'),
    disabledReason: p.enum(webhookDisabledReasons).nullable(),
    sealedSecret: p.text(),
    previousSealedSecret: p.text().nullable(),
    previousSecretUntil: p.datetime(3).nullable(),
    /** Time of the first failure since the last successful delivery. */
    failingSince: p.datetime(3).nullable(),
    /** Until this time, no deliveries are sent, because the endpoint was overloaded. */
    pausedUntil: p.datetime(3).nullable(),
    version: p.integer().default(1),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  checks: [
    { name: 'webhook_endpoints_authority_person', expression: `(authority = 'application') = (user_id is null)` },
    { name: 'webhook_endpoints_disabled', expression: `(status = 'disabled') = (disabled_reason is not null)` },
  ],
  indexes: [
    { name: 'webhook_endpoints_user', properties: ['user'], where: 'user_id is not null' },
    { name: 'webhook_endpoints_application', properties: ['application'], where: 'application_id is not null' },
    { name: 'webhook_endpoints_api_key', properties: ['apiKey'], where: 'api_key_id is not null' },
  ],
});

/**
 * The delivery of one event to one endpoint. The table is also the delivery queue. A process leases a row by postponing `next_attempt_at`.
 */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    endpoint: () => p.manyToOne(WebhookEndpoint).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    event: () => p.manyToOne(Event).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    /** Sequence number of the event. */
    seq: p.bigint('number'),
    status: p.enum(webhookDeliveryStatuses).default('pending'),
    /** Number of leases so far. This number is the fencing token, so the holder of an older lease can no longer change the delivery. */
    attempts: p.integer().default(0),
    /** Number of attempts in the current retry schedule. */
    tries: p.integer().default(0),
    nextAttemptAt: p.datetime(3),
    /** The most recent attempts, in their API representation. */
    log: p.json<readonly StoredAttempt[]>().defaultRaw(`'[]'`),
    createdAt: p.datetime(3).defaultRaw('now()'),
    finishedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'webhook_deliveries_event_endpoint', properties: ['event', 'endpoint'] }],
  indexes: [
    { name: 'webhook_deliveries_due', properties: ['endpoint', 'nextAttemptAt'], where: `status = 'pending'` },
    { name: 'webhook_deliveries_endpoint_seq', properties: ['endpoint', 'seq'] },
  ],
});
