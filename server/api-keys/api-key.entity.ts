import { defineEntity, p } from '@mikro-orm/core';
import type { Scope } from '@mandate/contract';
import { User } from '../users/user.entity.ts';

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    user: () => p.manyToOne(User).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    name: p.text().check('length(name) >= 1 and length(name) <= 100'),
    /** First characters of the key, which help users recognize it. */
    prefix: p.text(),
    /** SHA-256 hash of the complete key, which is random and shown only once. */
    secretHash: p.text().unique(),
    scopes: p.array<Scope>(),
    /**
     * Client ID of the application that created the key; null for keys created before client IDs were recorded. The column is not a foreign
     * key, because the application can be deleted.
     */
    createdByClientId: p.text().nullable(),
    /** Scopes of the key that were preapproved for the application; the user did not consent to them. */
    preapprovedScopes: p.array().defaultRaw(`'{}'`),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'api_keys_user', properties: ['user', 'id'] }],
});
