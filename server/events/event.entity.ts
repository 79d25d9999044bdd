import { defineEntity, p } from '@mikro-orm/core';

/** What happened, written in the transaction of the change itself. */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    /** Place in the public order of events, given after the commit: ids are drawn before it, and may commit in another order. */
    seq: p.bigint('number').nullable(),
    type: p.text(),
    apiVersion: p.text().default('v1'),
    /** Whose it is; `null` for what belongs to the shop. */
    userId: p.bigint('number').nullable(),
    subjectType: p.text(),
    subjectId: p.bigint('number'),
    subjectVersion: p.integer().nullable(),
    /** The subject as the API shows it, right after the change. */
    data: p.json<unknown>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
  uniques: [{ name: 'events_seq', properties: ['seq'] }],
  indexes: [
    { name: 'events_without_seq', properties: ['id'], where: 'seq is null' },
    { name: 'events_user_seq', properties: ['userId', 'seq'] },
    { name: 'events_subject', properties: ['subjectType', 'subjectId', 'id'] },
  ],
});

/** One row: how far the public order of events has come, and up to where they are no longer kept. Whoever holds it gives out the places. */
export const EventSequence = defineEntity({
  name: 'EventSequence',
  tableName: 'event_sequence',
  properties: {
    id: p.integer().primary().autoincrement(false).check('id = 1'),
    lastSeq: p.bigint('number').default(0),
    sweptSeq: p.bigint('number').default(0),
  },
});
