import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** A grant as the user sees it: one application on one device. */
export const ConnectedAppEntity = defineEntity({
  name: 'Connection',
  tableName: 'connections',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    grantId: p.text().unique(),
    user: () => p.manyToOne(User).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    clientId: p.text(),
    /** Label for the browser in which the user consented, derived from the User-Agent. */
    device: p.text().nullable().check('length(device) <= 100'),
    /** API scopes of the most recent token that the application received. */
    scopes: p.array().defaultRaw(`'{}'`),
    /** Scopes granted without consent, because an administrator preapproved them for the application. */
    preapprovedScopes: p.array().defaultRaw(`'{}'`),
    createdAt: p.datetime(3),
    /** When the application most recently received a token; null before the first token. */
    lastUsedAt: p.datetime(3).nullable(),
    /**
     * The linked account through which the user had signed in when the grant was created; null if the user signed in with a different
     * method.
     */
    linkedAccountId: p.bigint('number').nullable(),
  },
  indexes: [{ name: 'connections_user', properties: ['user', 'id'] }],
});
