import type { EventType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

type Subject = { readonly id: number; readonly version?: number };

const insertEvent = prepareStatement(
  'insert_event',
  `insert into events (type, user_id, subject_type, subject_id, subject_version, data) values ($1, $2, $3, $4, $5, $6::jsonb)`,
);

/**
 * Records an event in the transaction of the change, so that both are committed or neither.
 * @param subject its API representation, immediately after the change
 * @param userId the owner of the subject; `null` if it has none, like a product
 */
export async function recordEvent(em: EntityManager, type: EventType, subject: Subject, userId: number | null): Promise<void> {
  const [subjectType] = type.split('.');
  await insertEvent(em, [type, userId, subjectType, subject.id, subject.version ?? null, JSON.stringify(subject)]);
}
