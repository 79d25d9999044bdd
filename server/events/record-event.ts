import type { EventType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

type Subject = { readonly id: number; readonly version?: number };

const insertEvent = prepareStatement(
  'insert_event',
  `insert into events (type, user_id, subject_type, subject_id, subject_version, data) values ($1, $2, $3, $4, $5, $6::jsonb)`,
);

/**
 * Records an event in the same transaction as the change, so that either both or neither are committed.
 * @param subject the subject's API representation immediately after the change
 * @param userId the subject's owner; `null` if the subject has none, such as a product
 */
export async function recordEvent(em: EntityManager, type: EventType, subject: Subject, userId: number | null): Promise<void> {
  const [subjectType] = type.split('.');
  await insertEvent(em, [type, userId, subjectType, subject.id, subject.version ?? null, JSON.stringify(subject)]);
}

const insertEvents = prepareStatement(
  'insert_events',
  `insert into events (type, user_id, subject_type, subject_id, subject_version, data)
   select $1, $2, $3, subject_id, subject_version, data::jsonb
     from unnest($4::bigint[], $5::int[], $6::text[]) with ordinality as e (subject_id, subject_version, data, n) order by n`,
);

/** Records an event of one type for each subject, in one statement. */
export async function recordEvents(em: EntityManager, type: EventType, subjects: readonly Subject[], userId: number | null): Promise<void> {
  const [subjectType] = type.split('.');
  const versions = subjects.map(({ version }) => version ?? null);
  const data = subjects.map((subject) => JSON.stringify(subject));
  await insertEvents(em, [type, userId, subjectType, subjects.map(({ id }) => id), versions, data]);
}
