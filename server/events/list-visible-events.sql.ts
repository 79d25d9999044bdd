import { type RawBuilder, sql } from 'kysely';
import type { EventType, EventTypeWildcard } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { eventColumnsSql, type EventRow } from './event-from-row.ts';
import { buildVisibleEventConditionsSql } from './build-visible-event-conditions.sql.ts';

export type EventFilters = {
  readonly type?: readonly (EventType | EventTypeWildcard)[] | undefined;
  readonly subject_type?: string | undefined;
  readonly subject_id?: number | undefined;
};

export type EventListResult = {
  readonly events: EventRow[];
  /** `lastSeq` is the last sequence number that was assigned. `sweptSeq` is the sequence number of the last event that was deleted. */
  readonly lastSeq: number;
  readonly sweptSeq: number;
};

type Row = { last_seq: number; swept_seq: number } & { [Name in keyof EventRow]: EventRow[Name] | null };

// Written in SQL because each visibility condition scans a different index, and MikroORM does not support unions.
/**
 * Returns up to `limit + 1` events after a sequence number, oldest first. The same query returns the state of the sequence.
 * @param until the last sequence number to return (default: no limit)
 */
export async function listVisibleEventsAndSequenceState(
  em: EntityManager,
  principal: Principal,
  after: number,
  filters: EventFilters,
  limit: number,
  until?: number,
): Promise<EventListResult> {
  const upTo = until === undefined ? sql`` : sql` and v.seq <= ${until}`;
  const conditions = buildVisibleEventConditionsSql(principal).map(
    (visible) => sql`(select ${sql.raw(eventColumnsSql)} from events v
      where v.seq > ${after}${upTo} and ${visible} and ${filterCondition(filters)} order by v.seq limit ${limit + 1})`,
  );
  const query = sql<Row>`
    select s.last_seq, s.swept_seq, ${sql.raw(eventColumnsSql)} from event_sequence s
    left join (${sql.join(conditions, sql` union all `)}) v on true order by v.seq limit ${limit + 1}`;
  const { rows } = await query.execute(em.getKysely());
  const [first] = rows;
  if (!first) throw new Error('event_sequence is empty');
  return { events: rows.filter(isEvent), lastSeq: first.last_seq, sweptSeq: first.swept_seq };
}

/** Returns an event, if the principal may see it. */
export async function findVisibleEvent(em: EntityManager, principal: Principal, seq: number): Promise<EventRow | undefined> {
  const { events } = await listVisibleEventsAndSequenceState(em, principal, seq - 1, {}, 0, seq);
  return events[0];
}

const isEvent = (row: Row): row is Row & EventRow => row.seq !== null;

function filterCondition({ type, subject_type: subjectType, subject_id: subjectId }: EventFilters): RawBuilder<unknown> {
  const conditions = [
    ...(type === undefined ? [] : [sql`array[v.type, v.subject_type || '.*'] && ${type}::text[]`]),
    ...(subjectType === undefined ? [] : [sql`v.subject_type = ${subjectType}`]),
    ...(subjectId === undefined ? [] : [sql`v.subject_id = ${subjectId}`]),
  ];
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
