import { defineEntity, p } from '@mikro-orm/core';
import { webhookDeliveryStatuses, webhookDisabledReasons } from '@mandate/contract';
import { ApiKey } from '../../api-keys/api-key.entity.ts';
import { Application } from '../../applications/application.entity.ts';
import { Event } from '../../events/event.entity.ts';
import { User } from '../../users/user.entity.ts';

/** What lets an endpoint see events: an application on its own account, a person in an application of the shop, a person's grant to somebody else's, a key. */
export const authorities = ['application', 'person', 'grant', 'api_key'] as const;
export type Authority = (typeof authorities)[number];

/** Where events are sent. */
export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    authority: p.enum(authorities),
    clientId: p.text(),
    user: () => p.manyToOne(User).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    application: () => p.manyToOne(Application).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    apiKey: () => p.manyToOne(ApiKey).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    /** What the token that registered it could see. */
    scopes: p.array(),
    url: p.text().check('length(url) <= 2000'),
    events: p.array(),
    description: p.text().nullable(),
    status: p.enum(['enabled', 'disabled']).default('enabled'),
    disabledReason: p.enum(webhookDisabledReasons).nullable(),
    sealedSecret: p.text(),
    previousSealedSecret: p.text().nullable(),
    previousSecretUntil: p.datetime(3).nullable(),
    /** Since when nothing has arrived. */
    failingSince: p.datetime(3).nullable(),
    /** It asked for peace until then. */
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

/** One event for one endpoint. The row is the queue as well: whoever has set `next_attempt_at` ahead works on it until then. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    endpoint: () => p.manyToOne(WebhookEndpoint).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    event: () => p.manyToOne(Event).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    /** Place of the event in the order of all. */
    seq: p.bigint('number'),
    status: p.enum(webhookDeliveryStatuses).default('pending'),
    /** Counts the leases; whoever holds an older one changes nothing any more. */
    attempts: p.integer().default(0),
    /** How many tries of the present row of them are spent. */
    tries: p.integer().default(0),
    nextAttemptAt: p.datetime(3),
    /** The last attempts, as the API shows them. */
    log: p.json<unknown[]>().defaultRaw(`'[]'`),
    createdAt: p.datetime(3).defaultRaw('now()'),
    finishedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'webhook_deliveries_event_endpoint', properties: ['event', 'endpoint'] }],
  indexes: [
    { name: 'webhook_deliveries_due', properties: ['endpoint', 'nextAttemptAt'], where: `status = 'pending'` },
    { name: 'webhook_deliveries_endpoint_seq', properties: ['endpoint', 'seq'] },
  ],
});
