import { defineEntity, p } from '@mikro-orm/core';

/** An event. Each event is written in the same transaction as the change that it describes. */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    /** Public sequence number, assigned after the commit. Row IDs are assigned before the commit, possibly in a different order. */
    seq: p.bigint('number').nullable(),
    type: p.text(),
    apiVersion: p.text().default('v1'),
    /** The subject's owner; `null` if the subject, such as a product, has no owner. */
    userId: p.bigint('number').nullable(),
    subjectType: p.text(),
    subjectId: p.bigint('number'),
    subjectVersion: p.integer().nullable(),
    /** API representation of the subject immediately after the change. */
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

/** A single row with the last assigned and the last deleted sequence number. The process that locks this row assigns sequence numbers. */
export const EventSequenceCounter = defineEntity({
  name: 'EventSequence',
  tableName: 'event_sequence',
  properties: {
    id: p.integer().primary().autoincrement(false).check('id = 1'),
    lastSeq: p.bigint('number').default(0),
    sweptSeq: p.bigint('number').default(0),
  },
});
