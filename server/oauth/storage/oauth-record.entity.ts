import { defineEntity, p } from '@mikro-orm/core';

/** What the authorization server remembers: codes, tokens, grants, sessions. Read and written by postgres-adapter.ts; an entity so that the table has one home. */
export const OauthRecord = defineEntity({
  name: 'OauthRecord',
  tableName: 'oauth_records',
  properties: {
    model: p.text().primary(),
    /** A hash, where the identifier is a secret. */
    id: p.text().primary(),
    /** JSON as text: `jsonb` refuses the NUL that a `state` may hold, and nothing asks for its parts. */
    payload: p.text(),
    grantId: p.text().nullable(),
    userCode: p.text().nullable(),
    uid: p.text().nullable(),
    accountId: p.text().nullable(),
    clientId: p.text().nullable(),
    expiresAt: p.datetime(3).nullable(),
    consumedAt: p.datetime(3).nullable(),
    /** Of a device code: when the device may ask again, and how many seconds it has to wait (RFC 8628 section 3.5). */
    pollAfter: p.datetime(3).nullable(),
    pollInterval: p.integer().nullable(),
  },
  uniques: [{ name: 'oauth_records_user_code', properties: ['userCode'], where: 'user_code is not null' }],
  indexes: [
    { name: 'oauth_records_grant', properties: ['grantId'], where: 'grant_id is not null' },
    { name: 'oauth_records_uid', properties: ['uid'], where: 'uid is not null' },
    { name: 'oauth_records_account', properties: ['accountId'], where: 'account_id is not null' },
    { name: 'oauth_records_expiry', properties: ['expiresAt'] },
  ],
});
