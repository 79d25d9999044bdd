import { defineEntity, p } from '@mikro-orm/core';
import { Application } from '../../applications/application.entity.ts';

/**
 * A pending notification that informs an application about the end of a session. The logout token is signed when it is sent, so the table
 * contains no token. The row is deleted when the application has acknowledged the token.
 */
export const LogoutNotification = defineEntity({
  name: 'LogoutNotification',
  tableName: 'logout_notifications',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    application: () => p.manyToOne(Application).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    /** ID of the user, as in the `sub` claim. */
    accountId: p.text(),
    /** ID of the session at the application, as in the `sid` claim. */
    sid: p.text(),
    attempts: p.integer().default(0),
    dueAt: p.datetime(3),
    createdAt: p.datetime(3),
  },
  indexes: [
    { name: 'logout_notifications_due', properties: ['dueAt'] },
    { name: 'logout_notifications_application', properties: ['application'] },
  ],
});
