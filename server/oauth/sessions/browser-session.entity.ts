import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** A signed-in browser, as listed on the account pages. `uid` identifies the session and is not a secret. */
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
    /**
     * The linked account through which the user signed in; null if the user signed in with a different method. The column has no foreign
     * key, because the link can be removed.
     */
    linkedAccountId: p.bigint('number').nullable(),
  },
  indexes: [{ name: 'browser_sessions_user', properties: ['user'] }],
});
