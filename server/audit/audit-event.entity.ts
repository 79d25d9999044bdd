import { defineEntity, p } from '@mikro-orm/core';

/**
 * A change to credentials or permissions. The database rejects updates and deletions. The table has no foreign key to `users`, so that
 * events remain after a user is deleted.
 */
export const AuditEvent = defineEntity({
  name: 'AuditEvent',
  tableName: 'audit_events',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    occurredAt: p.datetime(3),
    action: p.text(),
    outcome: p.enum(['success', 'refused']),
    /** The user who made the change. */
    actorId: p.bigint('number').columnType('bigint').nullable(),
    /** The user whose credentials or permissions were changed. */
    userId: p.bigint('number').columnType('bigint').nullable(),
    clientId: p.text().nullable(),
    subject: p.text().nullable(),
    ip: p.text().nullable(),
    userAgent: p.text().nullable().check('length(user_agent) <= 300'),
    details: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
  },
  triggers: [
    {
      name: 'only_added',
      timing: 'before',
      events: ['update', 'delete'],
      forEach: 'statement',
      body: `raise exception 'audit_events is only added to' using errcode = 'restrict_violation';`,
    },
  ],
  indexes: [
    { name: 'audit_events_occurred', properties: ['occurredAt', 'id'] },
    { name: 'audit_events_user', properties: ['userId', 'occurredAt', 'id'] },
    { name: 'audit_events_actor', properties: ['actorId', 'occurredAt', 'id'] },
    { name: 'audit_events_client', properties: ['clientId', 'occurredAt', 'id'] },
  ],
});
