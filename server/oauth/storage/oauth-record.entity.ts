import { defineEntity, p } from '@mikro-orm/core';

/** Authorization server state: codes, tokens, grants and sessions. postgres-adapter.ts reads and writes the rows for oidc-provider. */
export const OauthRecord = defineEntity({
  name: 'OauthRecord',
  tableName: 'oauth_records',
  properties: {
    model: p.text().primary(),
    /** Identifier, or its hash if the identifier is a secret. */
    id: p.text().primary(),
    /**
     * JSON, stored as text, because `jsonb` rejects the NUL character that a `state` parameter may contain. No query accesses fields of the
     * JSON.
     */
    payload: p.text(),
    grantId: p.text().nullable(),
    userCode: p.text().nullable(),
    uid: p.text().nullable(),
    accountId: p.text().nullable(),
    clientId: p.text().nullable(),
    expiresAt: p.datetime(3).nullable(),
    consumedAt: p.datetime(3).nullable(),
    /** Earliest time of the next poll for a device code; `pollInterval` is the poll interval in seconds (RFC 8628 section 3.5). */
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
