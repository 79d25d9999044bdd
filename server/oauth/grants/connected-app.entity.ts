import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** What people are told of a grant: one application on one device. */
export const Connection = defineEntity({
  name: 'Connection',
  tableName: 'connections',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    grantId: p.text().unique(),
    user: () => p.manyToOne(User).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    clientId: p.text(),
    /** What the browser said it was in which the person agreed. */
    device: p.text().nullable().check('length(device) <= 100'),
    /** What it may do at the API, as the token it got last says. */
    scopes: p.array().defaultRaw(`'{}'`),
    /** The scopes that the user was not asked about, because the application was preapproved for them. */
    preapprovedScopes: p.array().defaultRaw(`'{}'`),
    createdAt: p.datetime(3),
    /** When it last got a token; null until it has one. */
    lastUsedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'connections_user', properties: ['user', 'id'] }],
});

/** What people are told of a browser they are signed in with. `uid` is the session's, and no secret. */
export const BrowserSession = defineEntity({
  name: 'BrowserSession',
  tableName: 'browser_sessions',
  properties: {
    uid: p.text().primary(),
    user: () => p.manyToOne(User).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    device: p.text().nullable().check('length(device) <= 100'),
    ip: p.text().nullable(),
    startedAt: p.datetime(3),
    lastUsedAt: p.datetime(3),
  },
  indexes: [{ name: 'browser_sessions_user', properties: ['user'] }],
});
