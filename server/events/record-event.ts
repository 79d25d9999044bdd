import type { EventType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { emitEventSignalAfterCommit } from './event-signals.ts';
import { Event } from './event-and-sequence-counter.entity.ts';

type Subject = { readonly id: number; readonly version?: number };

/**
 * Records an event in the same transaction as the change, so that either both or neither is committed.
 * @param subject the subject's API representation immediately after the change
 * @param userId the subject's owner; `null` if the subject, such as a product, has no owner
 */
export const recordEvent = (em: EntityManager, type: EventType, subject: Subject, userId: number | null): Promise<void> =>
  recordEvents(em, [{ type, subject }], userId);

type TypeAndSubject = { readonly type: EventType; readonly subject: Subject };

/** Records several events whose subjects have the same owner, in one statement. */
export async function recordEvents(em: EntityManager, events: readonly TypeAndSubject[], userId: number | null): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ type, subject: data }) => {
    const [subjectType = ''] = type.split('.');
    return { type, userId, subjectType, subjectId: data.id, subjectVersion: data.version ?? null, data };
  });
  await em.insertMany(Event, rows);
  await emitEventSignalAfterCommit(em, 'written');
}
