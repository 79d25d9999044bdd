import type { EventType } from '@mandate/contract';
import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';

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

const insertEvents = statement(
  'insert_events',
  `insert into events (type, user_id, subject_type, subject_id, subject_version, data)
   select $1, $2, $3, subject_id, subject_version, data::jsonb
     from unnest($4::bigint[], $5::int[], $6::text[]) with ordinality as e (subject_id, subject_version, data, n) order by n`,
);

/** Records an event of one type for each of several subjects, in one statement. */
export async function recordEvents(em: Em, type: EventType, subjects: readonly Subject[], userId: number | null): Promise<void> {
  const [subjectType] = type.split('.');
  const versions = subjects.map(({ version }) => version ?? null);
  const data = subjects.map((subject) => JSON.stringify(subject));
  await insertEvents(em, [type, userId, subjectType, subjects.map(({ id }) => id), versions, data]);
}
