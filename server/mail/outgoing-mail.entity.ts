import { defineEntity, p } from '@mikro-orm/core';

/** A message that has to leave. Encrypted, because it may carry a link that opens an account; gone once it is sent. */
export const OutgoingMail = defineEntity({
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
