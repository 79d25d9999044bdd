import { defineEntity, p } from '@mikro-orm/core';
import { applicationGrantTypes, applicationRegistrations } from '@mandate/contract';

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
export const grantTypes = applicationGrantTypes;
export type GrantType = (typeof grantTypes)[number];
export type ApplicationRegistration = (typeof applicationRegistrations)[number];

/** Registrations that nobody on the shop's side approved: public clients, no administrative scopes, consent at every sign-in. */
export const selfRegistrations = ['open_registration', 'metadata_document'] as const satisfies readonly ApplicationRegistration[];

export const isSelfRegistered = ({ registration }: { readonly registration: ApplicationRegistration }): boolean =>
  selfRegistrations.some((name) => name === registration);

const schema = defineEntity({
  name: 'Application',
  tableName: 'applications',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    /** Begins with a letter: the `sub` of its own tokens must never be taken for a user's number. Or the URL of a client ID metadata document. */
    clientId: p.text().unique().check(`length(client_id) <= 500 and client_id ~ '^([a-z][a-z0-9_-]{1,63}|https://[!-~]+)$'`),
    name: p.text().check('length(name) >= 1 and length(name) <= 100'),
    type: p.enum(['public', 'confidential']),
    /** SHA-256 of its secret, if it has one; the secret itself is shown once and not kept. */
    secretHashes: p.array().defaultRaw(`'{}'`),
    /** The secret before this one, which works until then: time to bring the new one to every place that uses it. */
    previousSecretHash: p.text().nullable(),
    previousSecretUntil: p.datetime(3).nullable(),
    redirectUris: p.array().defaultRaw(`'{}'`),
    postLogoutRedirectUris: p.array().defaultRaw(`'{}'`),
    logoUri: p.text().nullable(),
    /** The most it may ever be granted; an application without scopes gets none. */
    scopes: p.array().defaultRaw(`'{}'`),
    /** What an administrator allowed in the name of everybody: people are not asked about it. */
    preapprovedScopes: p.array().defaultRaw(`'{}'`),
    grantTypes: p.array().defaultRaw(`'{}'`),
    status: p.enum(['active', 'disabled']).default('active'),
    /** Made by the shop itself: people are told so. It is asked about all the same. */
    firstParty: p.boolean().default(false),
    /** How the application was registered. */
    registration: p.enum(applicationRegistrations).default('administrator'),
    /** Until when its client ID metadata document does not have to be fetched again; null without a document. */
    metadataExpiresAt: p.datetime(3).nullable(),
    /** When a user last consented, kept for self-registered applications only: unused ones are removed. */
    lastConsentAt: p.datetime(3).nullable(),
    /** In place of what holds for everybody. */
    rateLimitPerMinute: p.integer().nullable().check('rate_limit_per_minute >= 1'),
    quotaPerMonth: p.integer().nullable().check('quota_per_month >= 1'),
    /** Instead of the server's default. */
    refreshGraceSeconds: p.integer().nullable().check('refresh_grace_seconds >= 0 and refresh_grace_seconds <= 300'),
    version: p.integer().version(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p
      .datetime(3)
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});

export class Application extends schema.class {
  /** Its tokens are refused from the next request on. */
  disable(): void {
    this.status = 'disabled';
  }

  enable(): void {
    this.status = 'active';
  }

  /** The secret so far goes on working until then. */
  rotateSecret(hash: string, previousUntil: Date): void {
    this.previousSecretHash = this.secretHashes[0] ?? null;
    this.previousSecretUntil = previousUntil;
    this.secretHashes = [hash];
  }
}
schema.setClass(Application);
