import { defineEntity, p } from '@mikro-orm/core';

/**
 * A queued message. The message is encrypted, because it may contain a link that grants access to an account. The message is deleted after
 * it has been sent.
 */
export const QueuedMail = defineEntity({
  name: 'OutgoingMail',
  tableName: 'outgoing_mails',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    sealed: p.text(),
    attempts: p.integer().default(0),
    dueAt: p.datetime(3),
    createdAt: p.datetime(3),
  },
  indexes: [{ name: 'outgoing_mails_due', properties: ['dueAt'] }],
});
