import type { EventType } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';

type Subject = { readonly id: number; readonly version?: number };

const insertEvent = statement(
  'insert_event',
  `insert into events (type, user_id, subject_type, subject_id, subject_version, data) values ($1, $2, $3, $4, $5, $6::jsonb)`,
);

/**
 * Writes down what happened, in the transaction of the change: both are there, or neither.
 * @param subject as the API shows it, right after the change
 * @param userId whose it is; `null` for what belongs to the shop
 */
export async function recordEvent(em: Em, type: EventType, subject: Subject, userId: number | null): Promise<void> {
  const [subjectType] = type.split('.');
  await insertEvent(em, [type, userId, subjectType, subject.id, subject.version ?? null, JSON.stringify(subject)]);
}
